#include "base/progress.h"

#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 24 };
static const int64_t PATIENCE_NS = 1000000000; /* shorter than this, a bar is only a flicker */
static const int64_t REDRAW_NS = 100000000;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void progress_begin(struct progress *p, FILE *to, bool wanted)
{
    *p = (struct progress){ .to = to, .is_on = wanted && isatty(fileno(to)), .begin_ns = now_ns() };
    pthread_mutex_init(&p->lock, NULL);
}

static void draw(struct progress *p, const char *what, double done, int64_t now)
{
    char bar[BAR_CELLS + 1];
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = (double)(i + 1) <= done * BAR_CELLS ? '=' : ' ';
    bar[BAR_CELLS] = 0;
    fprintf(p->to, "\r\033[K%-9.40s [%s] %3.0f %% %4lld s", what, bar, done * 100,
            (long long)((now - p->begin_ns) / 1000000000));
    fflush(p->to);
    p->drawn_ns = now;
    p->is_shown = true;
}

void progress_show(void *progress, const char *what, double done)
{
    struct progress *p = progress;
    if (!p->is_on)
        return;
    const int64_t now = now_ns();
    pthread_mutex_lock(&p->lock);
    if (now - p->begin_ns >= PATIENCE_NS && now - p->drawn_ns >= REDRAW_NS)
        draw(p, what, done < 0 ? 0 : done > 1 ? 1 : done, now);
    pthread_mutex_unlock(&p->lock);
}

void progress_end(struct progress *p)
{
    if (p->is_shown) {
        fputs("\r\033[K", p->to);
        fflush(p->to);
    }
    pthread_mutex_destroy(&p->lock);
}
