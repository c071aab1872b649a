/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/memory/memory_together.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_LEAST = 20 << 20, KEPT_MOST = 64, SERIES_LEAST = 3, TENTH = 10, TWENTIETH = 20 };

static bool series_is_line(const struct memory_kept *a, const struct snapshot_frame *f)
{
    return a->file ? f && a->line == f->line && strcmp(a->file, f->file) == 0 && strcmp(a->function, f->function) == 0
                   : !f;
}

/* Rows are by line and purpose. */
static bool series_keep(struct memory_moment *m, const struct snapshot_frame *f, uint64_t bytes, struct arena *mem)
{
    for (size_t i = 0; i < m->kept.n; i++)
        if (series_is_line(&m->kept.at[i], f)) {
            m->kept.at[i].bytes += bytes;
            return true;
        }
    struct memory_kept *new = m->kept.n < KEPT_MOST ? list_add(&m->kept, mem) : NULL;
    if (!new)
        return m->kept.n == KEPT_MOST;
    *new = (struct memory_kept){ f ? arena_text(mem, f->file, strlen(f->file)) : NULL,
                                 f ? arena_text(mem, f->function, strlen(f->function)) : NULL, f ? f->line : 0, bytes };
    return !f || (new->file &&new->function);
}

static bool segments_keep(struct memory_moment *m, const struct memory_snapshot *s, struct arena *mem)
{
    for (size_t i = 0; i < s->segment.n; i++) {
        if (s->segment.at[i].device != m->device)
            continue;
        uint64_t *new = list_add(&m->segments, mem);
        if (!new)
            return false;
        *new = s->segment.at[i].address;
    }
    return true;
}

/* Addresses of another process are others: the system chooses them at random. */
static bool have_segment_in_common(const struct memory_moment *a, const struct memory_moment *b)
{
    struct keys of_a = { 0 };
    struct arena *work = arena_new();
    bool has = false;
    for (size_t i = 0; work && i < a->segments.n; i++)
        keys_add(&of_a, a->segments.at[i], work);
    for (size_t i = 0; work && i < b->segments.n && !has; i++)
        has = keys_find(&of_a, b->segments.at[i]) != KEYS_NONE;
    arena_free(work);
    return has;
}

bool memory_together_add(struct memory_together *x, const struct memory_judged *j, int64_t rank, struct arena *mem)
{
    const struct memory_replay *r = &j->replay;
    struct arena *work = arena_new();
    struct memory_use end;
    struct memory_moment *m = list_add(&x->at, mem);
    bool done = m && work && memory_use_before(&end, r, &j->steps, r->first + r->n, USE_BY_LINE, work);
    if (m)
        *m = (struct memory_moment){ .path = r->s->path,
                                     .rank = rank,
                                     .device = r->device,
                                     .time_us = r->n > 0 ? r->s->event.time_us[r->first + r->n - 1] : 0,
                                     .end_bytes = r->end_bytes,
                                     .peak_bytes = r->peak_bytes,
                                     .peak_reserved = r->peak_reserved };
    for (int c = 0; m && c < MEMORY_PURPOSES; c++)
        m->of[c] = j->peak.of[c];
    done = done && segments_keep(m, r->s, mem);
    for (size_t i = 0; done && i < end.row.n; i++) {
        const frame_id place = end.row.at[i].place;
        done = series_keep(m, place == SNAPSHOT_NONE ? NULL : &r->s->frame.at[place], end.row.at[i].bytes, mem);
    }
    arena_free(work);
    return done;
}

static int by_rank_then_time(const void *a, const void *b)
{
    const struct memory_moment *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->time_us > y->time_us) - (x->time_us < y->time_us);
}

static int by_bytes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The lower one of two. */
static uint64_t series_median(uint64_t *v, size_t n)
{
    qsort(v, n, sizeof *v, by_bytes);
    return v[(n - 1) / 2];
}

/* A rank that has a tenth more than the median, and a segment at least. */
static void ranks_judge(struct memory_together *x, uint64_t *work)
{
    const size_t n = x->at.n;
    uint64_t more = 0;
    for (size_t i = 0; i < n; i++) {
        work[i] = x->at.at[i].peak_bytes;
        x->most = x->at.at[i].peak_bytes > x->at.at[x->most].peak_bytes ? i : x->most;
    }
    x->median = series_median(work, n);
    const struct memory_moment *most = &x->at.at[x->most];
    const uint64_t above = most->peak_bytes - x->median;
    x->kind = above >= BYTES_LEAST && above >= x->median / TENTH ? SERIES_UNEVEN : SERIES_EVEN;
    for (int c = 0; c < MEMORY_PURPOSES; c++) {
        for (size_t i = 0; i < n; i++)
            work[i] = x->at.at[i].of[c];
        const uint64_t median = series_median(work, n);
        if (most->of[c] > median && most->of[c] - median > more) {
            more = most->of[c] - median;
            x->purpose = (enum memory_purpose)c;
            x->purpose_median = median;
        }
    }
}

/* More is in use at the end of each snapshot than of the one before it; in all a twentieth, and a segment at least. */
static void times_judge(struct memory_together *x)
{
    const struct memory_moment *first = &x->at.at[0], *last = &x->at.at[x->at.n - 1];
    bool grows = x->at.n >= SERIES_LEAST && last->end_bytes > first->end_bytes &&
                 last->end_bytes - first->end_bytes >= BYTES_LEAST &&
                 last->end_bytes - first->end_bytes >= first->end_bytes / TWENTIETH;
    for (size_t i = 1; i < x->at.n; i++)
        grows = grows && x->at.at[i].end_bytes > x->at.at[i - 1].end_bytes;
    x->kind = grows ? SERIES_GROWS : SERIES_STEADY;
    for (size_t i = 0; grows && i < last->kept.n; i++) {
        const struct memory_kept *now = &last->kept.at[i];
        uint64_t before = 0;
        for (size_t k = 0; k < first->kept.n; k++) {
            const struct memory_kept *then = &first->kept.at[k];
            const struct snapshot_frame f = { .file = then->file, .function = then->function, .line = then->line };
            if (series_is_line(now, then->file ? &f : NULL))
                before = then->bytes;
        }
        if (now->bytes > before && now->bytes - before > x->grown.bytes) {
            x->grown = *now;
            x->grown.bytes = now->bytes - before;
        }
    }
}

bool memory_together_judge(struct memory_together *x, struct arena *mem)
{
    const size_t n = x->at.n;
    bool are_ranks = true, is_process = true;
    x->kind = SERIES_NONE;
    if (n < 2)
        return true;
    uint64_t *work = arena_take(mem, n, sizeof *work);
    if (!work)
        return false;
    qsort(x->at.at, n, sizeof *x->at.at, by_rank_then_time);
    for (size_t i = 0; i < n; i++) {
        const struct memory_moment *m = &x->at.at[i], *before = i > 0 ? m - 1 : NULL;
        are_ranks &= m->rank >= 0 && (!before || before->rank != m->rank);
        is_process &= m->time_us > 0 && (!before || (before->time_us < m->time_us && before->rank == m->rank &&
                                                     before->device == m->device && have_segment_in_common(before, m)));
    }
    if (are_ranks)
        ranks_judge(x, work);
    else if (is_process)
        times_judge(x);
    return true;
}
