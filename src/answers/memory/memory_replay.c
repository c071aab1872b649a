/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/memory/memory_replay.h"

/* Pairs allocations and releases by address. open: the event that allocated what is at an address now, + 1. */
static uint32_t *replay_pair(struct memory_replay *r, struct arena *mem)
{
    const struct snapshot_events *e = &r->s->event;
    uint32_t *open = arena_take(mem, r->s->address.key.n + 1, sizeof *open);
    r->pair = arena_take(mem, r->n + 1, sizeof *r->pair);
    if (!open || !r->pair)
        return NULL;
    for (uint32_t i = r->first; i < r->first + r->n; i++) {
        uint32_t *at = &open[e->address[i]];
        r->pair[i - r->first] = SNAPSHOT_NONE;
        if (e->action[i] == SNAPSHOT_ALLOC) {
            if (*at > 0) /* its release is missing: it was before this */
                r->pair[*at - 1 - r->first] = i;
            *at = i + 1;
        } else if (e->action[i] == SNAPSHOT_FREE && *at > 0) {
            r->pair[i - r->first] = *at - 1;
            r->pair[*at - 1 - r->first] = i;
            *at = 0;
        }
    }
    return open;
}

/* What is there at the end; blocks that the trace does not allocate were there all the time. */
static bool replay_end(struct memory_replay *r, const uint32_t *open, struct arena *mem)
{
    const struct memory_snapshot *s = r->s;
    for (size_t k = 0; k < s->segment.n; k++) {
        const struct snapshot_segment *g = &s->segment.at[k];
        if (g->device != r->device)
            continue;
        r->end_reserved += g->bytes;
        for (uint32_t i = g->first_block; i < g->first_block + g->n_blocks; i++) {
            const struct snapshot_block *b = &s->block.at[i];
            if (!b->is_allocated)
                continue;
            r->end_bytes += b->requested_bytes;
            r->end_allocated += b->bytes;
            const uint32_t address = keys_find(&s->address, b->address);
            uint32_t *old = address == KEYS_NONE || !open[address] ? list_add(&r->old, mem) : NULL;
            if (old)
                *old = i;
        }
    }
    return !arena_failed(mem);
}

/* From the end back to the beginning, and then forward to the peak. */
static void replay_sum(struct memory_replay *r)
{
    const struct snapshot_events *e = &r->s->event;
    uint64_t bytes = r->end_bytes, reserved = r->end_reserved;
    for (uint32_t i = r->first; i < r->first + r->n; i++) {
        const uint64_t v = e->bytes[i];
        switch ((enum snapshot_action)e->action[i]) {
        case SNAPSHOT_ALLOC: bytes -= r->pair[i - r->first] == SNAPSHOT_NONE ? v : 0; break;
        case SNAPSHOT_FREE: bytes += r->pair[i - r->first] == SNAPSHOT_NONE ? v : 0; break;
        case SNAPSHOT_SEGMENT_ALLOC: reserved -= v; break;
        case SNAPSHOT_SEGMENT_FREE: reserved += v; break;
        default: break;
        }
    }
    r->begin_bytes = bytes = (int64_t)bytes < 0 ? 0 : bytes;
    r->begin_reserved = reserved = (int64_t)reserved < 0 ? 0 : reserved;
    r->peak_bytes = bytes;
    r->peak_reserved = reserved;
    r->peak = r->first;
    for (uint32_t i = r->first; i < r->first + r->n; i++) {
        const uint64_t v = e->bytes[i];
        switch ((enum snapshot_action)e->action[i]) {
        case SNAPSHOT_ALLOC: bytes += v; break;
        case SNAPSHOT_FREE: bytes -= v < bytes ? v : bytes; break;
        case SNAPSHOT_SEGMENT_ALLOC: reserved += v; break;
        case SNAPSHOT_SEGMENT_FREE: reserved -= v < reserved ? v : reserved; break;
        default: break;
        }
        if (bytes > r->peak_bytes) {
            r->peak_bytes = bytes;
            r->peak_reserved = reserved;
            r->peak = i + 1;
        }
    }
}

bool memory_replay(struct memory_replay *r, const struct memory_snapshot *s, uint32_t device, struct arena *mem)
{
    const struct snapshot_range trace = device < s->trace.n ? s->trace.at[device] : (struct snapshot_range){ 0, 0 };
    *r = (struct memory_replay){ .s = s, .device = device, .first = trace.first, .n = trace.n };
    uint32_t *open = replay_pair(r, mem);
    if (!open || !replay_end(r, open, mem))
        return false;
    arena_drop(mem, open);
    replay_sum(r);
    return true;
}
