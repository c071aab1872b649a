/* SPDX-License-Identifier: Apache-2.0 */
/* view_timeline.h - registry: a trace, prepared for the viewer: tracks in the order in which they are shown, their levels, flows
 * as pairs of slices, counters as series.
 *
 * Built once when an input is loaded; afterwards several threads read it.
 */
#ifndef ASCOPE_VIEW_ROWS_VIEW_TIMELINE_H
#define ASCOPE_VIEW_ROWS_VIEW_TIMELINE_H

#include "analyse/flow/flows.h"
#include "profile/chrome_trace.h"
#include "view/rows/levels.h"

/* view_timeline.c: instants, sorted by track and time, for the same views as slices.
 *
 * Pages use one numbering: the numbers of instants follow those of slices, and the rows of instants follow the levels. */

/* The instants of one track. */
struct instant_row {
    uint32_t track;
    size_t first, n; /* positions in `order` */
};

struct view_instants {
    const struct chrome_trace *trace; /* lent */
    LIST(struct instant_row) rows;
    size_t n;
    uint32_t *order;        /* instants of the trace, by track, then time */
    uint32_t *row_of_track; /* its row + 1; 0: it has none */
};

/* False only without memory. There are no instants if slices and instants together exceed 2^32. */
bool view_instants_build(struct view_instants *v, const struct chrome_trace *trace, struct arena *mem);

static inline const struct chrome_instant *view_instant(const struct view_instants *v, size_t position)
{
    return &v->trace->instants.at[v->order[position]];
}

/* The positions of those of a row that are in a range: *first … *end - 1. */
void instants_range(const struct view_instants *v, size_t row, int64_t begin_ns, int64_t end_ns, size_t *first,
                    size_t *end);

/* As level_view(): those that are closer than least_ns to the first of them are one block. Its `slice` is a
 * position. */
size_t instants_view(const struct view_instants *v, size_t row, int64_t begin_ns, int64_t end_ns, int64_t least_ns,
                     struct block *out, size_t cap);

/* A series of a counter, by time. */
struct view_counter {
    uint32_t process;
    name_id name, series;
    size_t first, n; /* positions in counter_ns and counter_value */
};

struct view_timeline {
    const struct chrome_trace *trace;
    struct levels levels;
    struct view_instants instants;
    int64_t begin_ns, end_ns; /* of everything */
    int64_t shown_begin_ns,
        shown_end_ns;        /* the range that is shown first, without a few events far away from the others */
    uint32_t *process_order; /* as shown */
    bool *is_device;         /* by track, see device_tracks.c */
    uint32_t *track_order, *first_track; /* tracks by process, as shown; first position of each process, and the end */
    size_t n_counters;
    struct view_counter *counter; /* by process */
    uint32_t *first_counter;      /* as first_track */
    int64_t *counter_ns;
    double *counter_value;
    struct chrome_flow_pairs flows;
    uint32_t *flow_by_to; /* the order of the same by target */
    struct arena *mem;
};

/* False only without memory. The trace must exist as long as the timeline. */
bool view_timeline_build(struct view_timeline *v, const struct chrome_trace *trace, struct arena *mem);

/* The position of a slice in levels.slice, and its level. */
size_t view_position(const struct view_timeline *v, uint32_t slice, size_t *level);

/* A slice or an instant, by the number that pages use. */
struct view_event {
    int64_t begin_ns, dur_ns;
    name_id name, category;
    uint32_t track;
    size_t level;    /* or behind the levels, the row of instants */
    size_t position; /* among those of its level */
    size_t n_level;
    struct json_span args;
    char scope; /* of an instant; ' ': not given; 0: it is a slice */
};
static inline size_t view_n_events(const struct view_timeline *v)
{
    return v->trace->slices.n + v->instants.n;
}
static inline size_t view_n_levels(const struct view_timeline *v)
{
    return v->levels.n + v->instants.rows.n;
}
struct view_event view_event(const struct view_timeline *v, uint32_t number);
name_id view_event_name(const struct view_timeline *v, uint32_t number);
struct json_span view_event_args(const struct view_timeline *v, uint32_t number);
/* The events of a level that lie in a range at least in part, by their positions on it; and the event at a position. */
void view_range(const struct view_timeline *v, size_t level, int64_t begin_ns, int64_t end_ns, size_t *first,
                size_t *end);
uint32_t view_event_at(const struct view_timeline *v, size_t level, size_t position);

#endif
