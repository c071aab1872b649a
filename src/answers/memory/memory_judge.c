/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/memory/memory_judge.h"

enum { DEVICES_MOST = 1 << 12 };

uint32_t memory_judge_devices(const struct memory_snapshot *s)
{
    uint32_t n = s->trace.n < DEVICES_MOST ? (uint32_t)s->trace.n : DEVICES_MOST;
    for (size_t i = 0; i < s->segment.n; i++)
        if (s->segment.at[i].device >= n && s->segment.at[i].device < DEVICES_MOST)
            n = s->segment.at[i].device + 1;
    return n;
}

bool memory_judge_has(const struct memory_snapshot *s, uint32_t device)
{
    for (size_t i = 0; i < s->segment.n; i++)
        if (s->segment.at[i].device == device)
            return true;
    return device < s->trace.n && s->trace.at[device].n > 0;
}

/* A growth that would double the memory within a million steps. Less is true as well, and is in the table. */
static bool judge_leak(const struct memory_judged *j)
{
    static const double most_steps = 1e6;
    return j->growth.at.n > 0 && j->growth.step_block_bytes * most_steps >= (double)j->replay.peak_bytes;
}

/* A tenth of all that is reserved is lost in holes and in blocks larger than what was asked for, and three segments (and a tenth of the bytes) that were reserved after the
 * first steps although the holes had room: what an allocator usually has is reserved in the first steps. If nothing was
 * reserved since, the holes are as they always were: then a quarter that is used at no time. */
static bool judge_fragments(const struct memory_judged *j)
{
    enum { SEGMENTS_LEAST = 3, TENTH = 10, QUARTER = 4, BYTES_LEAST = 20 << 20 /* a segment: less is no loss */ };
    const struct memory_holes *h = &j->holes;
    const struct memory_replay *r = &j->replay;
    const uint64_t lost = h->holes + h->allocated - h->requested;
    if (r->s->is_recording)
        return false;
    if (h->n_avoidable > 0)
        return lost >= BYTES_LEAST && lost >= h->reserved / TENTH && h->n_avoidable >= SEGMENTS_LEAST &&
               h->avoidable >= h->reserved / TENTH;
    const uint64_t kept = h->reserved - h->free_segments, most = r->peak_bytes < kept ? r->peak_bytes : kept;
    return kept - most >= BYTES_LEAST && kept - most >= h->reserved / QUARTER;
}

/* What is kept among much that is released makes holes; a line that keeps what it allocates just grows. */
static bool judge_is_leak_first(const struct memory_judged *j)
{
    const struct memory_growth *g = j->growth.at.at;
    return g->bytes >= g->allocated_bytes / 2;
}

/* What would have left room for the request. */
static void judge_remedies(struct memory_oom *o)
{
    const uint64_t activations = o->use.of[PURPOSE_ACTIVATION], state = o->use.of[PURPOSE_OPTIMIZER_STATE];
    o->is_limit = o->device_free >= o->asked;
    o->missing = o->is_limit ? 0 : o->asked - o->device_free;
    if (o->missing == 0)
        return;
    if (o->missing < activations)
        o->smaller_batch = (double)o->missing / (double)activations;
    if (o->missing < state) /* n ranks leave state / n of it */
        o->shards = (state + (state - o->missing) - 1) / (state - o->missing);
}

static bool judge_oom(struct memory_judged *j, struct arena *mem)
{
    const struct memory_replay *r = &j->replay;
    const struct snapshot_events *e = &r->s->event;
    struct memory_oom *o = &j->oom;
    for (uint32_t i = r->first; i < r->first + r->n; i++)
        if (e->action[i] == SNAPSHOT_OOM) {
            o->event = i;
            o->n++;
        }
    if (o->n == 0)
        return true;
    o->asked = e->bytes[o->event];
    o->device_free = r->s->address.key.at[e->address[o->event]];
    o->reserved = r->begin_reserved;
    for (uint32_t i = r->first; i < o->event; i++)
        o->reserved += e->action[i] == SNAPSHOT_SEGMENT_ALLOC  ? e->bytes[i]
                       : e->action[i] == SNAPSHOT_SEGMENT_FREE ? -e->bytes[i]
                                                               : 0;
    const struct memory_pool pool = memory_pool_before(r, o->event, o->asked, e->stream[o->event]);
    o->pool_free = (int64_t)(pool.reserved - pool.used) > 0 ? pool.reserved - pool.used : 0;
    o->largest_hole = o->event + 1 == r->first + r->n ? j->holes.largest_hole : 0;
    if (!memory_use_before(&o->use, r, &j->steps, o->event, USE_BY_LINE, mem))
        return false;
    o->used = o->use.bytes;
    judge_remedies(o);
    uint64_t grown = 0;
    for (size_t i = 0; i < j->growth.at.n; i++)
        grown += j->growth.at.at[i].bytes;
    o->cause = grown >= o->asked ? OOM_LEAK : o->pool_free >= o->asked ? OOM_FRAGMENTS : OOM_NEED;
    return true;
}

bool memory_judge(struct memory_judged *j, const struct memory_snapshot *s, uint32_t device, struct arena *mem)
{
    *j = (struct memory_judged){ 0 };
    if (!memory_replay(&j->replay, s, device, mem) || !memory_steps_find(&j->steps, &j->replay, mem) ||
        !memory_use_before(&j->peak, &j->replay, &j->steps, j->replay.peak, USE_BY_LINE, mem) ||
        !memory_growth_find(&j->growth, &j->replay, &j->steps, mem) ||
        !memory_holes_find(&j->holes, &j->replay, &j->steps, mem) || !judge_oom(j, mem))
        return false;
    j->has[MEMORY_OOM] = j->oom.n > 0;
    j->has[MEMORY_FRAGMENTED] = judge_fragments(j);
    j->has[MEMORY_LEAK] = judge_leak(j);
    for (int v = MEMORY_VERDICTS - 1; v > MEMORY_FINE; v--)
        if (j->has[v])
            j->verdict = (enum memory_verdict)v;
    if (j->verdict == MEMORY_FRAGMENTED && j->has[MEMORY_LEAK] && judge_is_leak_first(j))
        j->verdict = MEMORY_LEAK;
    return true;
}
