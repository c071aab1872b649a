#include "base/progress.h"

#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 24, REDRAW_MS = 100, PATIENCE_MS = 1000 }; /* shorter than a second, a bar is only a flicker */

static void draw(const struct progress *p, unsigned ms)
{
    char bar[BAR_CELLS + 1];
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = (double)(i + 1) <= p->done * BAR_CELLS ? '=' : ' ';
    bar[BAR_CELLS] = 0;
    fprintf(p->to, "\r\033[K%-9s [%s] %3.0f %% %4u s", p->what, bar, p->done * 100, ms / 1000);
    fflush(p->to);
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
        if (!p->is_ending && ms >= PATIENCE_MS)
            draw(p, ms);
    }
    if (ms >= PATIENCE_MS)
        fputs("\r\033[K", p->to);
    pthread_mutex_unlock(&p->lock);
    fflush(p->to);
    return NULL;
}

void progress_begin(struct progress *p, FILE *to, bool wanted)
{
    *p = (struct progress){ .to = to };
    if (!wanted || !isatty(fileno(to)))
        return;
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->ended, &steady);
    pthread_condattr_destroy(&steady);
    p->is_on = pthread_create(&p->thread, NULL, draw_until_ended, p) == 0;
}

void progress_show(void *progress, const char *what, double done)
{
    struct progress *p = progress;
    if (!p->is_on)
        return;
    pthread_mutex_lock(&p->lock);
    snprintf(p->what, sizeof p->what, "%s", what);
    p->done = done < 0 ? 0 : done > 1 ? 1 : done;
    pthread_mutex_unlock(&p->lock);
}

void progress_end(struct progress *p)
{
    if (!p->is_on)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_ending = true;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->lock);
}
