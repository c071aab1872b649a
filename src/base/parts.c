#include "base/parts.h"

#include <errno.h>
#include <pthread.h>

#include "base/pool.h"

/* What a part may hold back: more than most parts are, so that nobody waits for his turn in the middle of one. */
enum { PART_MOST = 4 << 20, SPARES_MOST = 64 };

struct parts {
    struct out *to;
    void (*write)(void *context, size_t i, struct out *o);
    void *context;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t turn;
    size_t next;                   /* the part whose turn it is: only its thread touches `to` */
    struct out spare[SPARES_MOST]; /* buffers of parts that are done: the next ones write into memory that is there */
    size_t n_spares;
};

struct part {
    struct parts *all;
    size_t i;
};

static bool is_turn(const struct part *p, bool waits)
{
    pthread_mutex_lock(&p->all->lock);
    while (waits && p->all->next != p->i)
        pthread_cond_wait(&p->all->turn, &p->all->lock);
    const bool mine = p->all->next == p->i;
    pthread_mutex_unlock(&p->all->lock);
    return mine;
}

static void hand_on(struct out *o)
{
    const struct part *p = o->full_context;
    if (is_turn(p, o->n >= PART_MOST)) {
        out_through(p->all->to, o->buf, o->n);
        o->n = 0;
    }
}

static bool buffer_take(struct parts *all, struct out *o)
{
    struct error unused = { 0 };
    pthread_mutex_lock(&all->lock);
    const bool has_spare = all->n_spares > 0;
    if (has_spare)
        *o = all->spare[--all->n_spares];
    pthread_mutex_unlock(&all->lock);
    return has_spare || out_open_memory(o, &unused);
}

static void write_part(void *context, size_t i)
{
    struct part p = { context, i };
    struct out o;
    const bool has_buffer = buffer_take(p.all, &o);
    if (has_buffer) {
        o.full = hand_on;
        o.full_context = &p;
        p.all->write(p.all->context, i, &o);
    }
    is_turn(&p, true);
    if (has_buffer)
        out_through(p.all->to, o.buf, o.n);
    if ((!has_buffer || o.failed_errno) && !p.all->to->failed_errno)
        p.all->to->failed_errno = has_buffer ? o.failed_errno : ENOMEM;
    pthread_mutex_lock(&p.all->lock);
    p.all->next++;
    const bool is_kept = has_buffer && p.all->n_spares < SPARES_MOST;
    if (is_kept) {
        o.n = 0;
        p.all->spare[p.all->n_spares++] = o;
    }
    pthread_cond_broadcast(&p.all->turn);
    pthread_mutex_unlock(&p.all->lock);
    if (has_buffer && !is_kept)
        out_discard(&o);
}

void parts_write(struct out *to, size_t n, unsigned n_threads, void (*write)(void *context, size_t i, struct out *o),
                 void *context)
{
    struct parts p = { .to = to, .write = write, .context = context };
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.turn, NULL);
    pool_run(n, n_threads, write_part, &p);
    while (p.n_spares > 0)
        out_discard(&p.spare[--p.n_spares]);
    pthread_cond_destroy(&p.turn);
    pthread_mutex_destroy(&p.lock);
}
