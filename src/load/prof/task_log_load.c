/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include "load/prof/records.h"
#include "raw/device_records.h"
#include "raw/hwts.h"

static bool load_stars(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct records r;
    if (!records_load(s, s->mem, "stars_soc.data", &stars_layout, false, &r, e))
        return false;
    d->log.events = (struct task_events){ .n = r.n,
                                          .head = r.column[STARS_HEAD],
                                          .stream = r.column[STARS_STREAM],
                                          .task = r.column[STARS_TASK],
                                          .context = r.column[STARS_CONTEXT],
                                          .sub_type = r.column[STARS_SUB_TYPE],
                                          .tick = r.column[STARS_TICK] };
    return true;
}

static bool load_stars_short(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct records r;
    if (!records_load(s, s->mem, "stars_soc.data", &stars_short_layout, false, &r, e))
        return false;
    d->log.events = (struct task_events){
        .n = r.n,
        .head = r.column[STARS_SHORT_HEAD],
        .id = r.column[STARS_SHORT_ID],
        .tick = r.column[STARS_SHORT_TICK],
        .part = r.column[STARS_SHORT_PART],
        .acc = r.column[STARS_SHORT_ACC],
    };
    return true;
}

/* The log of the AI cores, or of vector cores that have their own, in the order of the file. The columns are converted
 * to edges in place. */
static bool load_edges(struct source *s, const char *family, struct edges *out, struct error *e)
{
    struct records r;
    if (!records_load(s, s->mem, family, &hwts_layout, true, &r, e))
        return false;
    uint16_t *task = r.column[HWTS_TASK];
    *out = (struct edges){ .n = r.n,
                           .id = r.column[HWTS_STREAM],
                           .tick = r.column[HWTS_TICK],
                           .type = r.column[HWTS_TYPE],
                           .is_end = r.column[HWTS_HEAD] };
    for (size_t i = 0; i < r.n; i++) {
        out->id[i] = edge_id(out->id[i], task[i]);
        out->is_end[i] &= HWTS_END_BIT;
    }
    arena_drop(s->mem, task);
    return true;
}

/* Reads all tasks from the scheduler's track, for chips that have no task log. */
static bool load_track(struct source *s, struct edges *out, struct error *e)
{
    struct records r;
    if (!records_load(s, s->mem, "ts_track.data", &ts_timeline_layout, true, &r, e))
        return false;
    uint16_t *type = r.column[TS_TIMELINE_TYPE], *state = r.column[TS_TIMELINE_STATE],
             *stream = r.column[TS_TIMELINE_STREAM], *task = r.column[TS_TIMELINE_TASK];
    const uint64_t *tick = r.column[TS_TIMELINE_TICK];
    if (!edges_take(out, r.n, s->mem))
        return error_no_memory(e, s->path);
    for (size_t i = 0; i < r.n; i++)
        if (state[i] == TS_TIMELINE_RUNNING || state[i] == TS_TIMELINE_COMPLETE)
            edges_add(out, edge_id(stream[i], task[i]), tick[i], (uint8_t)type[i], state[i] == TS_TIMELINE_COMPLETE);
    for (size_t f = 0; f < TS_TIMELINE_FIELDS; f++)
        arena_drop(s->mem, r.column[f]);
    return true;
}

static bool load_hwts(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    return load_edges(s, "hwts.data", &d->log.edges[EDGES_OF_CORES], e) &&
           load_edges(s, "hwts.aiv_data", &d->log.edges[EDGES_OF_VECTOR_CORES], e) &&
           (!s->chip->tracks_tasks || load_track(s, &d->log.edges[EDGES_OF_SCHEDULER], e));
}

bool task_log_load(struct device *d, struct error *e)
{
    static bool (*const load[])(struct device * d, struct error * e) = {
        [TASK_LOG_UNREAD] = NULL,    [TASK_LOG_STARS] = load_stars, [TASK_LOG_SHORT] = load_stars_short,
        [TASK_LOG_HWTS] = load_hwts, [TASK_LOG_CUDA] = cuda_load,
    };
    const enum task_log form = d->source.chip->task_log;
    return !load[form] || load[form](d, e);
}
