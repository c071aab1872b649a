/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rows/view_input.h"

#include <string.h>

#include "base/text/stamp.h"
#include "view/answers/operator_times.h"

static bool is_work(enum topic topic)
{
    return topic == TOPIC_KERNEL || topic == TOPIC_COLLECTIVE;
}

/* By its first slices: a stream of a GPU may begin with annotations. */
static bool is_device(const struct view_input *in, const struct chrome_track *track)
{
    enum { LOOKS = 64 };
    const struct chrome_trace *t = in->timeline.trace;
    for (size_t i = track->first; i < track->first + track->n_slices && i < track->first + LOOKS; i++)
        if (is_work(slice_topic(in, i)) || !strcmp(names_text(t->names, t->slices.category[i]), "gpu_user_annotation"))
            return true;
    return false;
}

enum device_tracks_place { PLACE_DEVICE, PLACE_HOST, PLACE_COUNTERS, PLACES };

static enum device_tracks_place place_of(const struct view_input *in, uint32_t process)
{
    const struct view_timeline *t = &in->timeline;
    enum device_tracks_place place = PLACE_COUNTERS;
    for (size_t i = t->first_track[process]; i < t->first_track[process + 1]; i++) {
        const uint32_t row = t->track_order[i];
        const struct chrome_track *track = &t->trace->tracks.at[row];
        if (t->is_device[row] || (track->n_slices && slice_topic(in, track->first) == TOPIC_OVERLAP))
            return PLACE_DEVICE;
        if (track->n_slices || t->instants.row_of_track[row])
            place = PLACE_HOST;
    }
    return place;
}

bool device_tracks_first(struct view_input *in)
{
    struct view_timeline *t = &in->timeline;
    const size_t n = t->trace->processes.n;
    uint32_t *order = arena_take(in->mem, n, sizeof *order);
    uint8_t *place = arena_take(in->mem, n, sizeof *place);
    t->is_device = arena_take(in->mem, t->trace->tracks.n, sizeof *t->is_device);
    if ((n && (!order || !place)) || (t->trace->tracks.n && !t->is_device))
        return false;
    for (size_t i = 0; i < t->trace->tracks.n; i++)
        t->is_device[i] = is_device(in, &t->trace->tracks.at[i]);
    for (uint32_t i = 0; i < n; i++)
        place[i] = (uint8_t)place_of(in, i);
    size_t n_ordered = 0;
    for (size_t from = 0, end; from < n; from = end) {
        const struct view_rank *rank = view_rank_of(in, t->process_order[from]);
        for (end = from + 1; end < n && view_rank_of(in, t->process_order[end]) == rank;)
            end++;
        for (enum device_tracks_place p = 0; p < PLACES; p++)
            for (size_t i = from; i < end; i++)
                if (place[t->process_order[i]] == p)
                    order[n_ordered++] = t->process_order[i];
    }
    t->process_order = order;
    return true;
}

int64_t device_track_busy_ns(const struct view_input *in, uint32_t track, int64_t begin_ns, int64_t end_ns)
{
    const struct view_timeline *t = &in->timeline;
    const struct chrome_slices *s = &t->trace->slices;
    int64_t busy_ns = 0;
    for (size_t level = t->levels.first_level[track]; level < t->levels.first_level[track + 1]; level++) {
        size_t at, end;
        level_range(&t->levels, level, begin_ns, end_ns, &at, &end);
        for (; at < end; at++) {
            const uint32_t slice = t->levels.slice[at];
            const int64_t to_ns = stamp_add(s->begin_ns[slice], s->dur_ns[slice]);
            const int64_t low_ns = s->begin_ns[slice] > begin_ns ? s->begin_ns[slice] : begin_ns;
            const int64_t high_ns = to_ns < end_ns ? to_ns : end_ns;
            if (high_ns > low_ns && is_work(slice_topic(in, slice)))
                busy_ns = stamp_add(busy_ns, high_ns - low_ns);
        }
    }
    return busy_ns;
}
