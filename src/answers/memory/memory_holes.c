/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/memory/memory_holes.h"

#include <stdlib.h>

/* Of the allocator: small requests share segments of 2 MiB. */
enum { SMALL_MOST = 1 << 20, SMALL_SEGMENT = 2 << 20, FIRST_STEPS = 2, FIRST_PART = 4 };

/* A pool for each stream and both sizes. */
struct pools {
    struct memory_pool at[SNAPSHOT_STREAMS][2];
};

static struct memory_pool *pool_of(struct pools *p, const struct snapshot_events *e, uint32_t i)
{
    const bool is_segment = e->action[i] == SNAPSHOT_SEGMENT_ALLOC || e->action[i] == SNAPSHOT_SEGMENT_FREE;
    return &p->at[e->stream[i]][e->bytes[i] <= (is_segment ? SMALL_SEGMENT : SMALL_MOST)];
}

static void pool_step(struct pools *p, const struct snapshot_events *e, uint32_t i, bool is_back)
{
    struct memory_pool *pool = pool_of(p, e, i);
    const uint64_t used = memory_block_bytes(e->bytes[i]);
    switch ((enum snapshot_action)e->action[i]) {
    case SNAPSHOT_ALLOC: pool->used += is_back ? -used : used; break;
    case SNAPSHOT_FREE: pool->used -= is_back ? -used : used; break;
    case SNAPSHOT_SEGMENT_ALLOC: pool->reserved += is_back ? -e->bytes[i] : e->bytes[i]; break;
    case SNAPSHOT_SEGMENT_FREE: pool->reserved -= is_back ? -e->bytes[i] : e->bytes[i]; break;
    default: break;
    }
}

/* From what the segments have at the end, back to the beginning of the trace. */
static void pools_begin(struct pools *p, const struct memory_replay *r)
{
    const struct memory_snapshot *s = r->s;
    *p = (struct pools){ 0 };
    for (size_t k = 0; k < s->segment.n; k++) {
        const struct snapshot_segment *g = &s->segment.at[k];
        struct memory_pool *pool = &p->at[g->stream][g->is_small];
        if (g->device != r->device)
            continue;
        pool->reserved += g->bytes;
        for (uint32_t i = g->first_block; i < g->first_block + g->n_blocks; i++)
            if (s->block.at[i].is_allocated)
                pool->used += memory_block_bytes(s->block.at[i].requested_bytes);
    }
    for (uint32_t i = r->first + r->n; i-- > r->first;)
        pool_step(p, &s->event, i, true);
}

static uint64_t pool_free(const struct memory_pool *p)
{
    return (int64_t)(p->reserved - p->used) > 0 ? p->reserved - p->used : 0;
}

struct memory_pool memory_pool_before(const struct memory_replay *r, uint32_t event, uint64_t bytes, uint8_t stream)
{
    struct pools p;
    pools_begin(&p, r);
    for (uint32_t i = r->first; i < event; i++)
        pool_step(&p, &r->s->event, i, false);
    return p.at[stream][bytes <= SMALL_MOST];
}

/* A segment is reserved for the allocation that follows it. At first all are: the sizes of a program are new then. */
static void holes_reserved(struct memory_holes *h, const struct memory_replay *r, const struct memory_steps *t)
{
    const struct snapshot_events *e = &r->s->event;
    struct pools p;
    pools_begin(&p, r);
    const uint32_t begin = t->n > FIRST_STEPS ? t->end[FIRST_STEPS - 1] : r->first + r->n / FIRST_PART;
    for (uint32_t i = r->first; i < r->first + r->n; i++) {
        if (e->action[i] == SNAPSHOT_SEGMENT_ALLOC && i >= begin) {
            const bool has_next = i + 1 < r->first + r->n && e->action[i + 1] == SNAPSHOT_ALLOC;
            const struct memory_pool *pool = pool_of(&p, e, i);
            h->n_reserved++;
            if (has_next && pool_free(pool) >= memory_block_bytes(e->bytes[i + 1])) {
                h->n_avoidable++;
                h->avoidable += e->bytes[i];
            }
        }
        pool_step(&p, e, i, false);
    }
}

static int pin_order(const void *a, const void *b)
{
    const struct memory_pin *x = a, *y = b;
    if (x->hole_bytes != y->hole_bytes)
        return x->hole_bytes < y->hole_bytes ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool holes_pin(struct memory_holes *h, struct keys *places, const struct memory_snapshot *s,
                      const struct snapshot_segment *g, uint64_t holes, uint32_t n_used, struct arena *mem)
{
    for (uint32_t i = g->first_block; i < g->first_block + g->n_blocks; i++) {
        const struct snapshot_block *b = &s->block.at[i];
        if (!b->is_allocated && !b->is_awaiting_free)
            continue;
        const frame_id place = s->stack.at[b->stack].place;
        const uint32_t k = keys_add(places, place, mem);
        if (k == KEYS_NO_MEMORY || (k == h->pin.n && !list_add(&h->pin, mem)))
            return false;
        struct memory_pin *pin = &h->pin.at[k];
        pin->place = place;
        pin->bytes += b->bytes;
        pin->n++;
        pin->hole_share += (double)holes / n_used;
    }
    return true;
}

static bool holes_of_segment(struct memory_holes *h, struct keys *places, const struct memory_snapshot *s,
                             const struct snapshot_segment *g, struct arena *mem)
{
    uint64_t used = 0;
    uint32_t n_used = 0;
    for (uint32_t i = g->first_block; i < g->first_block + g->n_blocks; i++) {
        const struct snapshot_block *b = &s->block.at[i];
        if (!b->is_allocated && !b->is_awaiting_free)
            continue;
        used += b->bytes;
        n_used++;
        h->requested += b->requested_bytes;
    }
    const uint64_t holes = used < g->bytes ? g->bytes - used : 0;
    h->reserved += g->bytes;
    h->allocated += used;
    if (n_used == 0) {
        h->free_segments += g->bytes;
        return true;
    }
    h->holes += holes;
    for (uint32_t i = g->first_block; i < g->first_block + g->n_blocks; i++) {
        const struct snapshot_block *b = &s->block.at[i];
        if (b->is_allocated || b->is_awaiting_free)
            continue;
        h->n_holes++;
        h->largest_hole = b->bytes > h->largest_hole ? b->bytes : h->largest_hole;
    }
    return holes == 0 || holes_pin(h, places, s, g, holes, n_used, mem);
}

bool memory_holes_find(struct memory_holes *h, const struct memory_replay *r, const struct memory_steps *t,
                       struct arena *mem)
{
    struct keys places = { 0 };
    *h = (struct memory_holes){ 0 };
    for (size_t k = 0; k < r->s->segment.n; k++)
        if (r->s->segment.at[k].device == r->device && !holes_of_segment(h, &places, r->s, &r->s->segment.at[k], mem))
            return false;
    for (size_t i = 0; i < h->pin.n; i++)
        h->pin.at[i].hole_bytes = h->pin.at[i].hole_share < 1e18 ? (uint64_t)h->pin.at[i].hole_share : 0;
    if (h->pin.n > 0)
        qsort(h->pin.at, h->pin.n, sizeof *h->pin.at, pin_order);
    holes_reserved(h, r, t);
    return !arena_failed(mem);
}
