/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/host_sampler.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collect/machine_samples.h"
#include "collect/message.h"
#include "collect/numa_samples.h"
#include "collect/process_samples.h"
#include "collect/roce_samples.h"

enum { SHARE_OF_CPU = 5 };

static const struct host_source *const sources[] = { &process_source, &machine_source, &numa_source, &roce_source };
enum { SOURCES = sizeof sources / sizeof *sources };

struct host_sampler {
    struct {
        const struct host_source *is;
        void *of;
        uint64_t period_ns, due_ns;
    } source[SOURCES];
    size_t n;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, begun;
    bool has_begun; /* the first samples are taken */
    bool ends;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* When to look next. A look that is late moves those that follow. */
static uint64_t look(struct host_sampler *h, bool is_last)
{
    const uint64_t begin = now_ns();
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < h->n; i++) {
        if (is_last || begin >= h->source[i].due_ns) {
            h->source[i].is->look(h->source[i].of, is_last);
            h->source[i].due_ns = begin + h->source[i].period_ns;
        }
        next = h->source[i].due_ns < next ? h->source[i].due_ns : next;
    }
    const uint64_t pause = (now_ns() - begin) * SHARE_OF_CPU;
    return begin + pause > next ? begin + pause : next;
}

static void *sampler_main(void *of)
{
    struct host_sampler *const h = of;
    pthread_setname_np(pthread_self(), "ascope-host");
    pthread_mutex_lock(&h->lock);
    do {
        pthread_mutex_unlock(&h->lock);
        const uint64_t next = look(h, false);
        const struct timespec until = { .tv_sec = (time_t)(next / 1000000000), .tv_nsec = (long)(next % 1000000000) };
        pthread_mutex_lock(&h->lock);
        if (!h->has_begun)
            pthread_cond_broadcast(&h->begun);
        h->has_begun = true;
        while (!h->ends && now_ns() < next)
            pthread_cond_timedwait(&h->wake, &h->lock, &until);
    } while (!h->ends);
    pthread_mutex_unlock(&h->lock);
    look(h, true); /* how it was at the stop: short recordings have two samples, too */
    return NULL;
}

static void sampler_free(struct host_sampler *h)
{
    for (size_t i = 0; i < h->n; i++)
        h->source[i].is->stop(h->source[i].of);
    pthread_cond_destroy(&h->wake);
    pthread_cond_destroy(&h->begun);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static bool sources_start(struct host_sampler *h, const struct host_target *of, const struct ascope_options *o)
{
    for (size_t i = 0; i < SOURCES; i++) {
        const uint64_t period_ns = sources[i]->period_ns(o);
        if (period_ns == 0)
            continue;
        void *const source = sources[i]->start(of, o);
        if (!source)
            return false;
        h->source[h->n].is = sources[i];
        h->source[h->n].of = source;
        h->source[h->n++].period_ns = period_ns;
    }
    return true;
}

static bool thread_start(struct host_sampler *h, struct error *e)
{
    sigset_t all, was; /* the program's signals are for its own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    const int why = pthread_create(&h->thread, NULL, sampler_main, h);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    if (why != 0)
        return error_set(e, FAULT_LIMIT, "cannot create the host sampler thread: %s", strerror(why));
    pthread_mutex_lock(&h->lock); /* how it was at the start, also where the thread has to wait for a processor */
    while (!h->has_begun)
        pthread_cond_wait(&h->begun, &h->lock);
    pthread_mutex_unlock(&h->lock);
    return true;
}

struct host_sampler *host_sampler_start(const struct host_target *of, const struct ascope_options *o, struct error *e)
{
    struct host_sampler *h = calloc(1, sizeof *h);
    if (!h) {
        error_no_memory(e, "the host sampler");
        return NULL;
    }
    pthread_condattr_t monotonic; /* the wall clock may jump */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&h->begun, NULL);
    if (o->interconnection_hz && !of->has_device)
        message(ASCOPE_WARNING,
                "sys_interconnection: no device, and the kernel counts no PCIe traffic; nothing is recorded");
    if (!sources_start(h, of, o))
        error_no_memory(e, "the host sampler");
    else if (h->n > 0 && thread_start(h, e))
        return h;
    sampler_free(h);
    return NULL;
}

void host_sampler_stop(struct host_sampler *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->ends = true;
    pthread_cond_signal(&h->wake);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    sampler_free(h);
}
