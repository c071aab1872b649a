/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rows/view_timeline.h"

#include <stdlib.h>

#include "base/memory/ascending.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"

static int64_t slice_end(const struct chrome_slices *s, size_t i)
{
    return stamp_add(s->begin_ns[i], s->dur_ns[i]);
}

/* Ascending numbers as keys that sort without a sign. */
static uint64_t view_timeline_key_of(int64_t v)
{
    return (uint64_t)v ^ UINT64_C(1) << 63;
}

/* What determines the order of tracks: the sort index of the file, then the id if it is a number, then the order in the
 * file. */
struct shown_as {
    bool has_sort_index;
    int64_t sort_index;
    struct chrome_id id;
};

static bool order_shown(uint32_t *order, const struct shown_as *as, size_t n, struct arena *mem)
{
    uint64_t *key = arena_take(mem, n, sizeof *key);
    if (!key)
        return n == 0;
    order_fill(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = as[i].id.is_number ? view_timeline_key_of(as[i].id.number) : UINT64_MAX;
    if (!order_by_u64(order, n, key))
        return false;
    for (size_t i = 0; i < n; i++)
        key[i] = view_timeline_key_of(as[i].has_sort_index ? as[i].sort_index : INT64_MAX);
    return order_by_u64(order, n, key);
}

/* The position of the first row of each process; `process` is that of each row. */
static uint32_t *first_of(const struct view_timeline *v, const uint32_t *process, size_t n)
{
    uint32_t *first = arena_take(v->mem, v->trace->processes.n + 1, sizeof *first);
    for (size_t i = 0; first && i < n; i++)
        first[process[i] + 1]++;
    for (size_t i = 0; first && i < v->trace->processes.n; i++)
        first[i + 1] += first[i];
    return first;
}

static bool tracks_group(struct view_timeline *v)
{
    const struct chrome_trace *t = v->trace;
    uint32_t *process = arena_take(v->mem, t->tracks.n, sizeof *process);
    for (size_t i = 0; process && i < t->tracks.n; i++)
        process[i] = t->tracks.at[i].process;
    if (t->tracks.n && (!process || !order_by_u32(v->track_order, t->tracks.n, process)))
        return false;
    return (v->first_track = first_of(v, process, t->tracks.n)) != NULL;
}

static bool rows_order(struct view_timeline *v)
{
    const struct chrome_trace *t = v->trace;
    const size_t n = t->processes.n > t->tracks.n ? t->processes.n : t->tracks.n;
    struct shown_as *as = arena_take(v->mem, n, sizeof *as);
    v->process_order = arena_take(v->mem, t->processes.n, sizeof *v->process_order);
    v->track_order = arena_take(v->mem, t->tracks.n, sizeof *v->track_order);
    if (n && (!as || (t->processes.n && !v->process_order) || (t->tracks.n && !v->track_order)))
        return false;
    for (size_t i = 0; i < t->processes.n; i++)
        as[i] = (struct shown_as){ t->processes.at[i].has_sort_index, t->processes.at[i].sort_index,
                                   t->processes.at[i].id };
    if (!order_shown(v->process_order, as, t->processes.n, v->mem))
        return false;
    for (size_t i = 0; i < t->tracks.n; i++)
        as[i] = (struct shown_as){ t->tracks.at[i].has_sort_index, t->tracks.at[i].sort_index, t->tracks.at[i].id };
    return order_shown(v->track_order, as, t->tracks.n, v->mem) && tracks_group(v);
}

/* Finds the range of the timeline, and the range that is shown first: if a few slices are far away from all others, it
 * does not include them, because one damaged time would make everything else too small to be seen. */
static void range_find(struct view_timeline *v)
{
    enum { LOOKS = 4096, FAR = 10 };
    static const size_t beyond = LOOKS / 200;
    const struct chrome_slices *s = &v->trace->slices;
    int64_t begin[LOOKS];
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        v->begin_ns = i == 0 || s->begin_ns[i] < v->begin_ns ? s->begin_ns[i] : v->begin_ns;
        v->end_ns = i == 0 || slice_end(s, i) > v->end_ns ? slice_end(s, i) : v->end_ns;
    }
    for (size_t i = 0; i < v->trace->counters.n && s->n == 0; i++) {
        const int64_t ns = v->trace->counters.at[i].ns;
        v->begin_ns = i == 0 || ns < v->begin_ns ? ns : v->begin_ns;
        v->end_ns = i == 0 || ns > v->end_ns ? ns : v->end_ns;
    }
    const bool has_none = s->n == 0 && v->trace->counters.n == 0;
    int64_t begin_ns = v->begin_ns, end_ns = v->end_ns;
    for (size_t i = 0; i < v->trace->instants.n; i++) {
        const int64_t ns = v->trace->instants.at[i].ns;
        begin_ns = (has_none && i == 0) || ns < begin_ns ? ns : begin_ns;
        end_ns = (has_none && i == 0) || ns > end_ns ? ns : end_ns;
    }
    v->shown_begin_ns = has_none ? begin_ns : v->begin_ns;
    v->shown_end_ns = has_none ? end_ns : v->end_ns;
    v->begin_ns = begin_ns;
    v->end_ns = end_ns;
    for (size_t step = s->n > LOOKS ? s->n / LOOKS : 1, i = 0; i < s->n && n < LOOKS; i += step)
        begin[n++] = s->begin_ns[i];
    if (n < LOOKS / 2)
        return;
    qsort(begin, n, sizeof *begin, compare_i64s);
    const int64_t low = begin[beyond], high = begin[n - 1 - beyond];
    if ((v->end_ns - v->begin_ns) / FAR > high - low) {
        v->shown_begin_ns = low;
        v->shown_end_ns = high;
    }
}

static bool counters_build(struct view_timeline *v)
{
    const struct chrome_trace *t = v->trace;
    const size_t n = t->counters.n;
    uint32_t *order = arena_take(v->mem, n, sizeof *order), *word = arena_take(v->mem, n, sizeof *word);
    uint64_t *key = arena_take(v->mem, n, sizeof *key);
    v->counter_ns = arena_take(v->mem, n, sizeof *v->counter_ns);
    v->counter_value = arena_take(v->mem, n, sizeof *v->counter_value);
    if (n && (!order || !word || !key || !v->counter_ns || !v->counter_value))
        return false;
    order_fill(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = view_timeline_key_of(t->counters.at[i].ns);
    bool sorts = order_by_u64(order, n, key);
    for (size_t i = 0; i < n; i++)
        word[i] = t->counters.at[i].series;
    sorts = sorts && order_by_u32(order, n, word);
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)t->tracks.at[t->counters.at[i].track].process << 32 | t->counters.at[i].name;
    if (!sorts || !order_by_u64(order, n, key))
        return false;
    LIST(struct view_counter) made = { 0 };
    for (size_t i = 0; i < n; i++) {
        const struct chrome_counter *c = &t->counters.at[order[i]];
        const uint32_t process = t->tracks.at[c->track].process;
        struct view_counter *last = made.n ? &made.at[made.n - 1] : NULL;
        if (!last || last->process != process || last->name != c->name || last->series != c->series) {
            last = list_add(&made, v->mem);
            if (!last)
                return false;
            *last = (struct view_counter){ .process = process, .name = c->name, .series = c->series, .first = i };
        }
        last->n++;
        v->counter_ns[i] = c->ns;
        v->counter_value[i] = c->value;
    }
    v->counter = made.at;
    v->n_counters = made.n;
    for (size_t i = 0; i < made.n; i++)
        word[i] = made.at[i].process;
    return (v->first_counter = first_of(v, word, made.n)) != NULL;
}

static bool flows_build(struct view_timeline *v)
{
    if (!chrome_flows_bind(&v->flows, v->trace, v->mem))
        return false;
    v->flow_by_to = arena_take(v->mem, v->flows.n, sizeof *v->flow_by_to);
    if (v->flows.n == 0)
        return true;
    if (!v->flow_by_to)
        return false;
    order_fill(v->flow_by_to, v->flows.n);
    return order_by_u32(v->flow_by_to, v->flows.n, v->flows.to);
}

bool view_timeline_build(struct view_timeline *v, const struct chrome_trace *trace, struct arena *mem)
{
    *v = (struct view_timeline){ .trace = trace, .mem = mem };
    size_t *first = arena_take(mem, trace->tracks.n + 1, sizeof *first);
    if (!first)
        return false;
    for (size_t i = 0; i < trace->tracks.n; i++)
        first[i + 1] = first[i] + trace->tracks.at[i].n_slices; /* slices are in the order of their tracks */
    range_find(v);
    return levels_build(&v->levels, trace->slices.begin_ns, trace->slices.dur_ns, first, trace->tracks.n, mem) &&
           view_instants_build(&v->instants, trace, mem) && rows_order(v) && counters_build(v) && flows_build(v);
}

size_t view_position(const struct view_timeline *v, uint32_t slice, size_t *level)
{
    const struct levels *l = &v->levels;
    *level = l->first_level[v->trace->slices.track[slice]] + l->depth[slice];
    const size_t low = l->level[*level].first, high = low + l->level[*level].n;
    return SEARCH_FIRST_NOT(at, low, high, l->slice[at] < slice); /* rows ascend on a level, as begins do */
}

struct view_event view_event(const struct view_timeline *v, uint32_t number)
{
    const struct chrome_slices *s = &v->trace->slices;
    struct view_event e = { 0 };
    if (number < s->n) {
        e = (struct view_event){ .begin_ns = s->begin_ns[number],
                                 .dur_ns = s->dur_ns[number],
                                 .name = s->name[number],
                                 .category = s->category[number],
                                 .track = s->track[number],
                                 .args = chrome_slice_args(v->trace, number) };
        e.position = view_position(v, number, &e.level) - v->levels.level[e.level].first;
        e.n_level = v->levels.level[e.level].n;
        return e;
    }
    const struct chrome_instant *i = view_instant(&v->instants, number - s->n);
    const uint32_t row = v->instants.row_of_track[i->track] - 1;
    e = (struct view_event){ .begin_ns = i->ns,
                             .name = i->name,
                             .category = i->category,
                             .track = i->track,
                             .level = v->levels.n + row,
                             .position = number - s->n - v->instants.rows.at[row].first,
                             .n_level = v->instants.rows.at[row].n,
                             .args = view_event_args(v, number),
                             .scope = i->scope ? i->scope : ' ' };
    return e;
}

name_id view_event_name(const struct view_timeline *v, uint32_t number)
{
    const size_t n = v->trace->slices.n;
    return number < n ? v->trace->slices.name[number] : view_instant(&v->instants, number - n)->name;
}

struct json_span view_event_args(const struct view_timeline *v, uint32_t number)
{
    const size_t n = v->trace->slices.n;
    if (number < n)
        return chrome_slice_args(v->trace, number);
    const struct chrome_instant *i = view_instant(&v->instants, number - n);
    return (struct json_span){ i->args_len ? v->trace->text + i->args_at : NULL, i->args_len };
}

void view_range(const struct view_timeline *v, size_t level, int64_t begin_ns, int64_t end_ns, size_t *first,
                size_t *end)
{
    const bool is_level = level < v->levels.n;
    const size_t row = is_level ? 0 : level - v->levels.n;
    if (is_level)
        level_range(&v->levels, level, begin_ns, end_ns, first, end);
    else
        instants_range(&v->instants, row, begin_ns, end_ns, first, end);
    const size_t base = is_level ? v->levels.level[level].first : v->instants.rows.at[row].first;
    *first -= base;
    *end -= base;
}

uint32_t view_event_at(const struct view_timeline *v, size_t level, size_t position)
{
    if (level < v->levels.n)
        return v->levels.slice[v->levels.level[level].first + position];
    return (uint32_t)(v->trace->slices.n + v->instants.rows.at[level - v->levels.n].first + position);
}

static bool instants_sort(struct view_instants *v, struct arena *mem)
{
    const struct chrome_trace *t = v->trace;
    uint64_t *key = arena_take(mem, v->n, sizeof *key);
    uint32_t *track = arena_take(mem, v->n, sizeof *track);
    v->order = arena_take(mem, v->n, sizeof *v->order);
    if (!key || !track || !v->order)
        return false;
    order_fill(v->order, v->n);
    for (size_t i = 0; i < v->n; i++) {
        key[i] = (uint64_t)t->instants.at[i].ns ^ UINT64_C(1) << 63;
        track[i] = t->instants.at[i].track;
    }
    return order_by_u64(v->order, v->n, key) && order_by_u32(v->order, v->n, track);
}

bool view_instants_build(struct view_instants *v, const struct chrome_trace *trace, struct arena *mem)
{
    *v = (struct view_instants){ .trace = trace };
    v->row_of_track = arena_take(mem, trace->tracks.n + 1, sizeof *v->row_of_track);
    if (!v->row_of_track)
        return false;
    if (trace->instants.n == 0 || trace->instants.n > UINT32_MAX - trace->slices.n)
        return true;
    v->n = trace->instants.n;
    if (!instants_sort(v, mem))
        return false;
    for (size_t i = 0; i < v->n; i++) {
        const uint32_t track = view_instant(v, i)->track;
        if (!v->row_of_track[track]) {
            struct instant_row *new = list_add(&v->rows, mem);
            if (!new)
                return false;
            *new = (struct instant_row){ .track = track, .first = i };
            v->row_of_track[track] = (uint32_t)v->rows.n;
        }
        v->rows.at[v->rows.n - 1].n++;
    }
    return true;
}

void instants_range(const struct view_instants *v, size_t row, int64_t begin_ns, int64_t end_ns, size_t *first,
                    size_t *end)
{
    const size_t low = v->rows.at[row].first, high = low + v->rows.at[row].n;
    *first = SEARCH_FIRST_NOT(at, low, high, view_instant(v, at)->ns < begin_ns);
    *end = SEARCH_FIRST_NOT(at, *first, high, view_instant(v, at)->ns < end_ns);
}

size_t instants_view(const struct view_instants *v, size_t row, int64_t begin_ns, int64_t end_ns, int64_t least_ns,
                     struct block *out, size_t cap)
{
    size_t at, end, n = 0;
    instants_range(v, row, begin_ns, end_ns, &at, &end);
    while (at < end && n < cap) {
        const int64_t ns = view_instant(v, at)->ns, reach_ns = stamp_add(ns, least_ns);
        const size_t next = SEARCH_FIRST_NOT(to, at + 1, end, view_instant(v, to)->ns < reach_ns);
        out[n++] = (struct block){
            .begin_ns = ns, .end_ns = view_instant(v, next - 1)->ns, .slice = (uint32_t)at, .n = (uint32_t)(next - at)
        };
        at = next;
    }
    return n;
}
