/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/unit_trace_load.h"

#include <string.h>

#include "base/files/bytes.h"
#include "load/prof/text.h"
#include "raw/family.h"
#include "raw/instr.h"

/* A trace while it is read. */
struct unit_trace_load_reading {
    struct unit_track *to;
    bool only_counts; /* the events, to make room for them */
    struct bytes in;
    double ticks_per_cycle;
    uint64_t stamp, cycles; /* the last time stamp, and what has passed since */
    uint16_t block;
    bool has_time;
    uint32_t busy;
    double since[INSTR_UNITS];
};

static double now_of(const struct unit_trace_load_reading *r)
{
    return (double)r->stamp + (double)r->cycles * r->ticks_per_cycle;
}

static void event_add(struct unit_trace_load_reading *r, unsigned unit, double begin, int16_t check_point)
{
    struct unit_track *t = r->to;
    if (r->only_counts) {
        t->n++;
        return;
    }
    t->unit[t->n] = (uint8_t)unit;
    t->block[t->n] = r->block;
    t->check_point[t->n] = check_point;
    t->begin[t->n] = begin;
    t->end[t->n++] = now_of(r);
}

static void state_set(struct unit_trace_load_reading *r, uint32_t busy)
{
    for (unsigned unit = 0; unit < INSTR_UNITS; unit++) {
        const bool is_busy = busy >> unit & 1, was_busy = r->busy >> unit & 1;
        if (is_busy && !was_busy)
            r->since[unit] = now_of(r);
        else if (!is_busy && was_busy)
            event_add(r, unit, r->since[unit], -1);
    }
    r->busy = busy;
}

/* The rest of a time stamp, whose first item was taken. False: the trace ends in it. */
static bool stamp_take(struct unit_trace_load_reading *r, const uint8_t *item)
{
    uint64_t stamp = 0;
    uint16_t block = 0;
    for (unsigned i = 0; i < INSTR_STAMPS; i++) {
        if (i > 0 && !(item = bytes_take(&r->in, instr_layout.size)))
            return false;
        stamp |= layout_get(&instr_layout, INSTR_LOW, item) << 16 * i;
        if (i < 2)
            block |= (uint16_t)((layout_get(&instr_layout, INSTR_HIGH, item) & UINT8_MAX) << 8 * i);
    }
    r->stamp = stamp;
    r->cycles = 0;
    r->block = block;
    r->has_time = true;
    return true;
}

static void trace_lost(const struct unit_trace_load_reading *r, struct source *s, const struct stream *stream,
                       enum loss why, uint64_t at)
{
    if (!r->only_counts)
        stream_lost(s, stream, why, at);
}

static void trace_read(struct unit_trace_load_reading *r, struct source *s, const struct stream *stream)
{
    for (const uint8_t *item; (item = bytes_take(&r->in, instr_layout.size));) {
        const unsigned high = (unsigned)layout_get(&instr_layout, INSTR_HIGH, item), code = high >> INSTR_CODE_SHIFT;
        if (le32(item) == INSTR_END || le32(item) == INSTR_FILLER)
            continue;
        if (code == INSTR_STAMP) {
            if (!stamp_take(r, item)) {
                trace_lost(r, s, stream, LOSS_CUT_SHORT, r->in.at);
                return;
            }
            continue;
        }
        if ((code != INSTR_STATE && code >= INSTR_UNITS) || !r->has_time) {
            trace_lost(r, s, stream, LOSS_OTHER_KIND, r->in.at - instr_layout.size);
            continue;
        }
        r->cycles += layout_get(&instr_layout, INSTR_LOW, item);
        if (code == INSTR_STATE)
            state_set(r, high & ((1u << INSTR_UNITS) - 1));
        else
            event_add(r, code, now_of(r), (int16_t)(high & INSTR_CHECK_POINT));
    }
    if (r->in.at != r->in.size)
        trace_lost(r, s, stream, LOSS_CUT_SHORT, r->in.at);
}

static bool track_load(struct source *s, const struct stream *stream, struct unit_track *t, struct error *e)
{
    const struct ticks tick = s->device_clock.tick;
    const double tick_mhz = 1e3 * (double)tick.den / (double)tick.num;
    struct unit_trace_load_reading r = { .to = t, .ticks_per_cycle = s->aic_mhz > 0 ? tick_mhz / s->aic_mhz : 0 };
    if (!stream_text(s, stream, &r.in, e))
        return false;
    struct unit_trace_load_reading counting = r;
    counting.only_counts = true;
    trace_read(&counting, s, stream);
    t->unit = arena_take(s->mem, t->n, sizeof *t->unit);
    t->block = arena_take(s->mem, t->n, sizeof *t->block);
    t->check_point = arena_take(s->mem, t->n, sizeof *t->check_point);
    t->begin = arena_take(s->mem, t->n, sizeof *t->begin);
    t->end = arena_take(s->mem, t->n, sizeof *t->end);
    if (!t->unit || !t->block || !t->check_point || !t->begin || !t->end)
        return error_no_memory(e, s->path);
    t->n = 0;
    trace_read(&r, s, stream);
    return true;
}

/* Families are sorted by name, so that cores of a group are in order; groups of more than one digit are not. */
static void tracks_sort(struct unit_trace *u)
{
    for (size_t i = 1; i < u->n_tracks; i++) { /* few cores are traced */
        const struct unit_track t = u->track[i];
        size_t at = i;
        for (; at > 0 && u->track[at - 1].group > t.group; at--)
            u->track[at] = u->track[at - 1];
        u->track[at] = t;
    }
}

bool unit_trace_load(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct unit_trace *u = &d->units;
    u->track = arena_take(s->mem, s->n_streams, sizeof *u->track);
    if (!u->track)
        return error_no_memory(e, s->path);
    for (size_t i = 0; i < s->n_streams; i++) {
        struct unit_track *t = &u->track[u->n_tracks];
        if (!family_is_read(s->stream[i].family, s->chip, false) ||
            !instr_family(s->stream[i].family, &t->group, &t->core))
            continue;
        if (!track_load(s, &s->stream[i], t, e))
            return false;
        u->n_tracks++;
    }
    tracks_sort(u);
    return true;
}
