/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/host_sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/kept.h"
#include "base/process/background.h"
#include "collect/session/message.h"

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
    const struct host_target *target; /* these two until it has begun */
    const struct ascope_options *options;
    bool is_short; /* of memory */
    struct background background;
};

/* Samples the sources that are due, and returns when to sample next. A late sample delays those that follow. */
static uint64_t host_sampler_look(struct host_sampler *h, bool is_last)
{
    const uint64_t begin = steady_ns();
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < h->n; i++) {
        if (is_last || begin >= h->source[i].due_ns) {
            h->source[i].is->look(h->source[i].of, is_last);
            h->source[i].due_ns = begin + h->source[i].period_ns;
        }
        next = h->source[i].due_ns < next ? h->source[i].due_ns : next;
    }
    const uint64_t pause = (steady_ns() - begin) * SHARE_OF_CPU;
    return begin + pause > next ? begin + pause : next;
}

static bool sources_start(struct host_sampler *h)
{
    for (size_t i = 0; i < SOURCES; i++) {
        const uint64_t period_ns = sources[i]->period_ns(h->options);
        if (period_ns == 0)
            continue;
        void *const source = sources[i]->start(h->target, h->options);
        if (!source)
            return false;
        h->source[h->n].is = sources[i];
        h->source[h->n].of = source;
        h->source[h->n++].period_ns = period_ns;
    }
    return true;
}

static bool is_asked_for(const struct ascope_options *o)
{
    bool is = false;
    for (size_t i = 0; i < SOURCES; i++)
        is |= sources[i]->period_ns(o) > 0;
    return is;
}

/* Everything is opened and closed here, so that the program cannot close it. */
static void *sampler_main(void *of)
{
    struct host_sampler *const h = of;
    if (descriptors_apart())
        messages_hold();
    h->is_short = !sources_start(h);
    uint64_t next = h->is_short ? 0 : host_sampler_look(h, false);
    background_begun(&h->background);
    while (!h->is_short && background_pause(&h->background, next))
        next = host_sampler_look(h, false);
    if (!h->is_short)
        host_sampler_look(h, true); /* at the stop: short recordings have two samples, too */
    for (size_t i = 0; i < h->n; i++)
        h->source[i].is->stop(h->source[i].of);
    return NULL;
}

static bool host_sampler_thread_start(struct host_sampler *h, struct error *e)
{
    const int why = background_start(&h->background, "ascope-host", sampler_main, h);
    return why == 0 || error_set(e, FAULT_LIMIT, "cannot create the host sampler thread: %s", strerror(why));
}

struct host_sampler *host_sampler_start(const struct host_target *of, const struct ascope_options *o, struct error *e)
{
    struct host_sampler *h = calloc(1, sizeof *h);
    if (!h) {
        error_no_memory(e, "the host sampler");
        return NULL;
    }
    if (o->interconnection_hz && !of->has_device)
        message(ASCOPE_WARNING,
                "sys_interconnection: no device, and the kernel counts no PCIe traffic; nothing is recorded");
    h->target = of;
    h->options = o;
    if (is_asked_for(o) && host_sampler_thread_start(h, e)) {
        messages_pass();
        if (!h->is_short)
            return h;
        background_stop(&h->background);
        error_no_memory(e, "the host sampler");
    }
    free(h);
    return NULL;
}

void host_sampler_stop(struct host_sampler *h)
{
    if (!h)
        return;
    background_stop(&h->background);
    messages_pass();
    free(h);
}
