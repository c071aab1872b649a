/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "load/prof/records.h"
#include "raw/cuda_records.h"
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

static const char family[] = "ascope_cuda.data";

/* Ids of streams have 32 bits, but tables of tasks have only 16: there a stream is identified by its rank among the ids
 * of this GPU. */
static bool streams_find(struct gpu_tasks *g, struct arena *mem, struct arena *scratch)
{
    struct keys ids = { 0 };
    uint32_t *const place = arena_take(scratch, g->n, sizeof *place);
    g->track = arena_take(mem, g->n, sizeof *g->track);
    for (size_t i = 0; place && i < g->n; i++)
        place[i] = i > 0 && g->stream[i] == g->stream[i - 1] ? place[i - 1] : keys_add(&ids, g->stream[i], scratch);
    const size_t n = ids.key.n;
    uint32_t *const order = arena_take(scratch, n, sizeof *order), *const rank = arena_take(scratch, n, sizeof *rank);
    g->stream_id = arena_take(mem, n, sizeof *g->stream_id);
    if (arena_failed(scratch) || arena_failed(mem))
        return false;
    order_fill(order, n);
    if (!order_by_u64(order, n, ids.key.at))
        return false;
    g->n_streams = n <= UINT16_MAX ? n : UINT16_MAX + 1;
    for (size_t i = 0; i < n; i++) {
        rank[order[i]] = (uint32_t)(i < g->n_streams ? i : g->n_streams - 1);
        g->stream_id[i] = (uint32_t)ids.key.at[order[i]];
    }
    for (size_t i = 0; i < g->n; i++)
        g->track[i] = (uint16_t)rank[place[i]];
    return true;
}

bool cuda_load(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct gpu_tasks *g = &d->gpu;
    struct records r;
    if (!records_load(s, s->mem, family, &cuda_task_layout, false, &r, e))
        return false;
    *g = (struct gpu_tasks){ .n = r.n,
                             .kind = r.column[CUDA_KIND],
                             .copy_kind = r.column[CUDA_COPY_KIND],
                             .from = r.column[CUDA_FROM],
                             .to = r.column[CUDA_TO],
                             .correlation = r.column[CUDA_CORRELATION],
                             .stream = r.column[CUDA_STREAM],
                             .context = r.column[CUDA_CONTEXT],
                             .graph = r.column[CUDA_GRAPH],
                             .peer = r.column[CUDA_PEER],
                             .begin = r.column[CUDA_BEGIN],
                             .end = r.column[CUDA_END],
                             .name = r.column[CUDA_NAME],
                             .bytes = r.column[CUDA_BYTES],
                             .graph_node = r.column[CUDA_GRAPH_NODE],
                             .registers = r.column[CUDA_REGISTERS],
                             .static_shared = r.column[CUDA_STATIC_SHARED],
                             .dynamic_shared = r.column[CUDA_DYNAMIC_SHARED],
                             .local = r.column[CUDA_LOCAL] };
    for (unsigned i = 0; i < GPU_DIMENSIONS; i++) {
        g->grid[i] = r.column[CUDA_GRID_X + i];
        g->block[i] = r.column[CUDA_BLOCK_X + i];
    }
    for (size_t i = 0; i < g->n; i++)
        if (!gpu_task_is_whole(g, i))
            record_lost(s, family, LOSS_BAD_VALUE, NULL);
    struct arena *const scratch = arena_new();
    const bool done = scratch && streams_find(g, s->mem, scratch);
    arena_free(scratch);
    return done || error_no_memory(e, s->path);
}
