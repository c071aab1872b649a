/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/background.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/files/kept.h"
#include "base/process/limited_call.h"

enum { NS_PER_S = 1000000000 };

uint64_t steady_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

struct timespec steady_time(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
}

void steady_condition(pthread_cond_t *condition)
{
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &steady);
    pthread_condattr_destroy(&steady);
}

struct beginning {
    const char *name;
    void *(*run)(void *of);
    void *of;
};

/* The thread sets its own name, so that it has it before its first sample, which may list it. */
static void *background_begin(void *at)
{
    const struct beginning b = *(struct beginning *)at;
    free(at);
    pthread_setname_np(pthread_self(), b.name);
    return b.run(b.of);
}

int background_thread(pthread_t *out, const char *name, void *(*run)(void *of), void *of)
{
    struct beginning *const b = malloc(sizeof *b);
    sigset_t all, was;
    if (!b)
        return ENOMEM;
    *b = (struct beginning){ name, run, of };
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    const int why = pthread_create(out, NULL, background_begin, b);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    if (why != 0)
        free(b);
    return why;
}

struct apart {
    void (*call)(void *of);
    void *of;
};

static void *apart_run(void *at)
{
    const struct apart *const a = at;
    descriptors_apart();
    a->call(a->of);
    return NULL;
}

void background_apart(void (*call)(void *of), void *of)
{
    pthread_t thread;
    if (background_thread(&thread, "ascope-apart", apart_run, &(struct apart){ call, of }) == 0)
        pthread_join(thread, NULL);
    else
        call(of);
}

static void background_free(struct background *b)
{
    pthread_cond_destroy(&b->wake);
    pthread_cond_destroy(&b->begun);
    pthread_mutex_destroy(&b->lock);
}

int background_start(struct background *b, const char *name, void *(*run)(void *of), void *of)
{
    b->has_begun = b->ends = false;
    pthread_mutex_init(&b->lock, NULL);
    steady_condition(&b->wake);
    steady_condition(&b->begun);
    const int why = background_thread(&b->thread, name, run, of);
    if (why != 0) {
        background_free(b);
        return why;
    }
    pthread_mutex_lock(&b->lock);
    while (!b->has_begun)
        pthread_cond_wait(&b->begun, &b->lock);
    pthread_mutex_unlock(&b->lock);
    return 0;
}

void background_begun(struct background *b)
{
    pthread_mutex_lock(&b->lock);
    b->has_begun = true;
    pthread_cond_signal(&b->begun);
    pthread_mutex_unlock(&b->lock);
}

bool background_pause(struct background *b, uint64_t until_ns)
{
    const struct timespec until = steady_time(until_ns);
    pthread_mutex_lock(&b->lock);
    while (!b->ends && steady_ns() < until_ns)
        pthread_cond_timedwait(&b->wake, &b->lock, &until);
    const bool ends = b->ends;
    pthread_mutex_unlock(&b->lock);
    return !ends;
}

void background_ask_stop(struct background *b)
{
    pthread_mutex_lock(&b->lock);
    b->ends = true;
    pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->lock);
}

void background_stop(struct background *b)
{
    background_ask_stop(b);
    pthread_join(b->thread, NULL);
    background_free(b);
}

bool background_stop_within(struct background *b, uint32_t limit_s)
{
    background_ask_stop(b);
    const bool has_ended = limited_join(b->thread, limit_s);
    if (has_ended)
        background_free(b);
    return has_ended;
}
