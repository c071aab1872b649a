/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/progress.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 24, REDRAW_MS = 100, PATIENCE_MS = 1000 }; /* shorter than a second, a bar is only a flicker */

static atomic_uint_least64_t worked;
static _Thread_local atomic_ullong *counter;

void progress_work(uint64_t units)
{
    atomic_fetch_add_explicit(&worked, units, memory_order_relaxed); /* it is only displayed */
    if (counter)
        atomic_fetch_add_explicit(counter, units, memory_order_relaxed);
}

void progress_count_in(atomic_ullong *in)
{
    counter = in;
}

atomic_ullong *progress_counter(void)
{
    return counter;
}

double progress_done(const struct progress *p)
{
    const uint64_t units = atomic_load_explicit(&worked, memory_order_relaxed) - p->before;
    const double x = p->expected > 0 ? (double)units / (double)p->expected : 0;
    /* both functions have the same slope at 0.9 */
    const double portion = x < 0.9 ? x : 1 - 0.1 * exp(-10 * (x - 0.9));
    return p->from + (p->until - p->from) * portion;
}

double progress_left_s(struct progress_left *l, double elapsed_s, double done)
{
    const double now_s = done > 0 ? elapsed_s * (1 - done) / done : 0, step_s = elapsed_s - l->elapsed_s;
    const double passed_s = l->shown_s > step_s ? l->shown_s - step_s : 0;
    if (elapsed_s < 2 || done < 0.05 || now_s > 360000)
        l->shown_s = -1;
    else if (l->shown_s < 0 || now_s < passed_s)
        l->shown_s = now_s;
    else if (done > l->done)
        l->shown_s = passed_s + (now_s - passed_s) * fmin(step_s / elapsed_s, 1);
    l->elapsed_s = elapsed_s;
    l->done = done;
    return l->shown_s;
}

const char *progress_left(char out[PROGRESS_LEFT], double left_s)
{
    if (left_s < 0)
        *out = 0;
    else if (left_s < 100)
        snprintf(out, PROGRESS_LEFT, "about %.0f s left", ceil(left_s));
    else
        snprintf(out, PROGRESS_LEFT, "about %.0f min left", ceil(left_s / 60));
    return out;
}

static void progress_draw(struct progress *p, unsigned ms)
{
    char bar[BAR_CELLS + 1], left[PROGRESS_LEFT];
    const double done = progress_done(p);
    if (p->until <= 0) {
        fprintf(p->to, "\r\033[K%-9s %4u s", p->what, ms / 1000);
        fflush(p->to);
        return;
    }
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = (double)(i + 1) <= done * BAR_CELLS ? '=' : ' ';
    bar[BAR_CELLS] = 0;
    fprintf(p->to, "\r\033[K%-9s [%s] %3.0f %% %4u s  %s", p->what, bar, floor(done * 100), ms / 1000,
            progress_left(left, progress_left_s(&p->left, ms / 1e3, done)));
    fflush(p->to);
}

static _Atomic(struct progress *) shown; /* the one that draws; at most one at a time */

void progress_hold(void)
{
    struct progress *p = atomic_load(&shown);
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    fputs(p->is_drawn ? "\r\033[K" : "", p->to);
    p->is_drawn = false;
    fflush(p->to);
}

void progress_release(void)
{
    struct progress *p = atomic_load(&shown);
    if (p)
        pthread_mutex_unlock(&p->lock);
}

void progress_clear(void)
{
    progress_hold();
    progress_release();
}

static void *draw_until_ended(void *arg)
{
    struct progress *p = arg;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    unsigned ms = 0;
    pthread_mutex_lock(&p->lock);
    while (!p->is_ending) {
        at.tv_nsec += REDRAW_MS * 1000000;
        at.tv_sec += at.tv_nsec / 1000000000;
        at.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->ended, &p->lock, &at);
        ms += REDRAW_MS;
        if (!p->is_ending && ms >= PATIENCE_MS) {
            progress_draw(p, ms);
            p->is_drawn = true;
        }
    }
    if (p->is_drawn)
        fputs("\r\033[K", p->to);
    pthread_mutex_unlock(&p->lock);
    fflush(p->to);
    return NULL;
}

void progress_begin(struct progress *p, FILE *to, bool wanted)
{
    *p = (struct progress){ .to = to, .left = { .shown_s = -1 } };
    if (!wanted || !isatty(fileno(to)))
        return;
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->ended, &steady);
    pthread_condattr_destroy(&steady);
    p->is_on = pthread_create(&p->thread, NULL, draw_until_ended, p) == 0;
    if (p->is_on)
        atomic_store(&shown, p);
}

void progress_stage(struct progress *p, const char *what, double from, double until, uint64_t expected)
{
    if (!p || !p->is_on)
        return;
    pthread_mutex_lock(&p->lock);
    snprintf(p->what, sizeof p->what, "%s", what);
    p->from = from < 0 ? 0 : from > 1 ? 1 : from;
    p->until = until < p->from ? p->from : until > 1 ? 1 : until;
    p->expected = expected;
    p->before = atomic_load_explicit(&worked, memory_order_relaxed);
    pthread_mutex_unlock(&p->lock);
}

void progress_end(struct progress *p)
{
    if (!p->is_on)
        return;
    atomic_store(&shown, NULL);
    pthread_mutex_lock(&p->lock);
    p->is_ending = true;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->lock);
}
