/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/parts.h"

#include "base/process/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/process/pool.h"

/* The buffer of a part: larger than most parts, so that few threads wait before their part is complete. */
enum { PART_MOST = 4 << 20, SPARES_MOST = 64, PACKED_AT_ONCE = 1 << 16 };

/* The buffers that a thread writes a part with. They are kept for later parts, which reuse their memory. */
struct desk {
    struct out text, packed;
    z_stream *deflate; /* allocated alone, because zlib keeps its address */
};

struct parts_state {
    struct out *to;
    const struct parts_job *job;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t next_changed;
    size_t next;  /* the next part: only its thread uses `to` and the two below */
    uint32_t crc; /* of the text so far */
    uint64_t n_text;
    struct desk spare[SPARES_MOST];
    size_t n_spares;
};

struct parts_part {
    struct parts_state *all;
    size_t i;
    struct desk desk;
    uint32_t crc;
    uint64_t n_text;
};

static bool is_next_part(const struct parts_part *p, bool waits)
{
    pthread_mutex_lock(&p->all->lock);
    while (waits && p->all->next != p->i)
        pthread_cond_wait(&p->all->next_changed, &p->all->lock);
    const bool is_next = p->all->next == p->i;
    pthread_mutex_unlock(&p->all->lock);
    return is_next;
}

static void hand_on(struct parts_part *p, struct out *o)
{
    if (is_next_part(p, o->n >= PART_MOST)) {
        out_through(p->all->to, o->buf, o->n);
        o->n = 0;
    }
}

/* Each part is compressed on its own. A flush ends it at a whole byte, so that parts can be concatenated. */
static void pack(struct parts_part *p, int flush)
{
    struct out *from = &p->desk.text, *to = &p->desk.packed;
    z_stream *z = p->desk.deflate;
    p->crc = (uint32_t)crc32_z(p->crc, (const Bytef *)from->buf, from->n);
    p->n_text += from->n;
    progress_work(from->n); /* compressing takes the time, not writing the result */
    z->next_in = (Bytef *)from->buf;
    z->avail_in = (uInt)from->n;
    do {
        out_room(to, PACKED_AT_ONCE);
        z->next_out = (Bytef *)to->buf + to->n;
        z->avail_out = PACKED_AT_ONCE;
        deflate(z, flush);
        to->n += PACKED_AT_ONCE - z->avail_out;
    } while (z->avail_out == 0 && !to->failed_errno);
    from->n = 0;
}

static void text_full(struct out *o)
{
    struct parts_part *p = o->full_context;
    if (p->all->job->gzips)
        pack(p, Z_NO_FLUSH);
    else
        hand_on(p, o);
}

static void packed_full(struct out *o)
{
    hand_on(o->full_context, o);
}

static bool desk_new(struct desk *d, bool gzips)
{
    enum { WITHOUT_HEADER = -15, MEMORY_LEVEL = 8 };
    struct error unused = { 0 };
    *d = (struct desk){ .text.fd = -1, .packed.fd = -1 };
    if (!out_open_memory(&d->text, &unused) || (gzips && !out_open_memory(&d->packed, &unused)))
        return false;
    if (!gzips)
        return true;
    d->deflate = calloc(1, sizeof *d->deflate);
    if (d->deflate && deflateInit2(d->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WITHOUT_HEADER, MEMORY_LEVEL,
                                   Z_DEFAULT_STRATEGY) == Z_OK)
        return true;
    free(d->deflate);
    d->deflate = NULL;
    return false;
}

static void desk_end(struct desk *d)
{
    if (d->deflate)
        deflateEnd(d->deflate);
    free(d->deflate);
    out_discard(&d->text);
    out_discard(&d->packed);
}

static bool desk_take(struct parts_part *p)
{
    struct parts_state *all = p->all;
    pthread_mutex_lock(&all->lock);
    const bool has_spare = all->n_spares > 0;
    if (has_spare)
        p->desk = all->spare[--all->n_spares];
    pthread_mutex_unlock(&all->lock);
    return has_spare || desk_new(&p->desk, all->job->gzips);
}

static int desk_trouble(const struct desk *d)
{
    return d->text.failed_errno ? d->text.failed_errno : d->packed.failed_errno;
}

static void write_part(void *context, size_t i)
{
    struct parts_part p = { .all = context, .i = i, .crc = (uint32_t)crc32_z(0, NULL, 0) };
    struct parts_state *all = p.all;
    struct out *last = all->job->gzips ? &p.desk.packed : &p.desk.text;
    const bool has_desk = desk_take(&p);
    if (has_desk) {
        p.desk.text.full = text_full;
        p.desk.packed.full = packed_full;
        p.desk.text.full_context = p.desk.packed.full_context = &p;
        all->job->write(all->job->context, i, &p.desk.text);
        if (all->job->gzips) {
            pack(&p, Z_SYNC_FLUSH);
            deflateReset(p.desk.deflate);
        }
    }
    is_next_part(&p, true);
    if (has_desk)
        out_through(all->to, last->buf, last->n);
    const int trouble = has_desk ? desk_trouble(&p.desk) : ENOMEM;
    if (trouble && !all->to->failed_errno)
        all->to->failed_errno = trouble;
    pthread_mutex_lock(&all->lock);
    all->crc = (uint32_t)crc32_combine(all->crc, p.crc, (z_off_t)p.n_text);
    all->n_text += p.n_text;
    all->next++;
    const bool is_kept = has_desk && all->n_spares < SPARES_MOST;
    if (is_kept) {
        last->n = 0;
        all->spare[all->n_spares++] = p.desk;
    }
    pthread_cond_broadcast(&all->next_changed);
    pthread_mutex_unlock(&all->lock);
    if (!is_kept)
        desk_end(&p.desk);
}

/* The header has no time and no name: the same text gives the same bytes. */
static void gzip_begin(struct out *to)
{
    static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
    out_bytes(to, head, sizeof head);
}

static void gzip_end(struct out *to, uint32_t crc, uint32_t n_text)
{
    const uint8_t tail[] = { 3,
                             0, /* an empty block that is the last */
                             (uint8_t)crc,
                             (uint8_t)(crc >> 8),
                             (uint8_t)(crc >> 16),
                             (uint8_t)(crc >> 24),
                             (uint8_t)n_text,
                             (uint8_t)(n_text >> 8),
                             (uint8_t)(n_text >> 16),
                             (uint8_t)(n_text >> 24) };
    out_bytes(to, tail, sizeof tail);
}

void parts_write(struct out *to, const struct parts_job *job)
{
    struct parts_state p = { .to = to, .job = job, .crc = (uint32_t)crc32_z(0, NULL, 0) };
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.next_changed, NULL);
    if (job->gzips)
        gzip_begin(to);
    pool_run(job->n, job->n_threads, write_part, &p);
    if (job->gzips)
        gzip_end(to, p.crc, (uint32_t)p.n_text);
    while (p.n_spares > 0)
        desk_end(&p.spare[--p.n_spares]);
    pthread_cond_destroy(&p.next_changed);
    pthread_mutex_destroy(&p.lock);
}
