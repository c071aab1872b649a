/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyse/device/device_analysis.h"
#include "analyse/flow/flows.h"
#include "base/text/stamp.h"
#include "export/export.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/scope.h"
#include "raw/enums.h"

/* Rounds of operators that compute and communicate alternately, on the tracks of their streams. */

/* The name of the time from each stamp of a round to the next one. */
static const char *const part_name[TURN_KINDS][TURN_MOST_STAMPS - 1] = {
    [TURNS_COMPUTE] = { "WaitCompute", "Compute" },
    [TURNS_COMM] = { "StartServer", "TaskWaitRequest", "TaskOrchestration", "TaskLaunch", "TaskExecute", "Finalize" },
};

struct rounds_part {
    int64_t begin_ns;
    double dur_ns;
};

/* The time from stamp k of round i to the next stamp. False: it began before the collection, or lies outside of the
 * window. */
static bool part_of(const struct trace *t, const struct device *d, const struct turns *turns, size_t i, size_t k,
                    struct rounds_part *out)
{
    const uint64_t from = turns->stamp[k][i], to = turns->stamp[k + 1][i];
    out->begin_ns = source_device_ns(&d->source, from);
    out->dur_ns = to > from ? ticks_to_ns_exact(d->source.device_clock.tick, to - from) : 0;
    return out->begin_ns >= d->source.begin_ns &&
           trace_wants(t, out->begin_ns, stamp_add(out->begin_ns, (int64_t)out->dur_ns));
}

/* The first function marks the tracks that have slices, so that they can be named; the second one writes the slices.
 * `row_of_stream`: see stream_rows(); `is_needed` has an element for each of the 65536 tracks. */
static void rounds_mark_rows(const struct trace *t, const struct device *d, const uint32_t *row_of_stream,
                             bool *is_needed)
{
    struct rounds_part part;
    for (int kind = 0; kind < TURN_KINDS; kind++) {
        const struct turns *turns = &d->aicpu_comm.turns[kind];
        for (size_t i = 0; i < turns->n; i++)
            for (size_t k = 0; k + 1 < turns->n_stamps; k++)
                is_needed[row_of_stream[turns->stream[i]] & UINT16_MAX] |= part_of(t, d, turns, i, k, &part);
    }
}

static void rounds_write(struct trace *t, const struct device *d, uint32_t pid, const uint32_t *row_of_stream)
{
    for (int kind = 0; kind < TURN_KINDS; kind++) {
        const struct turns *turns = &d->aicpu_comm.turns[kind];
        for (size_t i = 0; i < turns->n; i++)
            for (size_t k = 0; k + 1 < turns->n_stamps; k++) {
                struct rounds_part part;
                char name[32];
                if (!part_of(t, d, turns, i, k, &part))
                    continue;
                const int len = snprintf(name, sizeof name, "%s %u", part_name[kind][k], (unsigned)turns->number[i]);
                trace_slice(t, name, (size_t)len, pid, row_of_stream[turns->stream[i]], part.begin_ns, part.dur_ns);
                trace_args(t);
                trace_arg_uint(t, "Physic Stream Id", turns->stream[i]);
                trace_arg_uint(t, "Task Id", turns->task[i]);
                trace_end(t);
            }
    }
}

struct hardware {
    const struct export *x;
    struct trace *t;
    const struct device *d;
    uint32_t pid, host_pid;
    const uint32_t *row_of_stream;
    const name_id
        *launched; /* by row of tasks: the range of the framework that launched it; NULL: ranges are not shown */
};

static uint32_t hardware_row_of(const struct hardware *h, size_t task)
{
    return h->d->gpu.n > 0 ? task_stream_id(h->d, task) : h->row_of_stream[h->d->tasks.stream[task]];
}

static void write_flow(const struct hardware *h, size_t row)
{
    const struct profile *p = h->x->profile;
    const struct tasks *t = &h->d->tasks;
    const enum flow_kind flow = flow_to_task(h->x, h->d, row);
    char text[FLOW_ID_BYTES];
    if (flow == FLOW_NONE)
        return;
    const uint32_t host = t->host[row];
    const char *id = flow == FLOW_OF_TASK ? flow_task_id(h->d, row, text)
                                          : flow_call_id(h->x, p->host.tasks.connection[host] - 1, text);
    if (flow == FLOW_OF_TASK)
        trace_flow_id(h->t, 's', "HostToDevice", id, h->host_pid, p->host.tasks.thread[host],
                      source_host_ns(&p->host.source, p->host.tasks.time[host]));
    trace_flow_id(h->t, 'f', "HostToDevice", id, h->pid, hardware_row_of(h, row), t->begin_ns[row]);
}

/* Without unique task ids our batches only count how often an id was used: the one that the host recorded is shown
 * then. */
static uint16_t batch_of(const struct hardware *h, size_t row, uint32_t host)
{
    const struct host_tasks *ht = &h->x->profile->host.tasks;
    if (h->x->profile->has_unique_ids)
        return h->d->tasks.batch[row];
    return host != NO_ROW && ht->recorded_batch ? ht->recorded_batch[host] : 0;
}

static void gpu_dimensions(struct trace *t, const char *key, uint32_t *const of[GPU_DIMENSIONS], uint32_t row)
{
    trace_key(t, key, strlen(key));
    char *p = lit_put(out_reserve(t->out, OUT_RESERVE), "\"");
    for (size_t i = 0; i < GPU_DIMENSIONS; i++) {
        p += digits_put(p, of[i][row]);
        *p++ = i + 1 < GPU_DIMENSIONS ? ',' : '"';
    }
    out_put(t->out, p);
}

/* The keys are those of PyTorch's own profiler. */
static void gpu_args(const struct hardware *h, size_t row)
{
    const struct gpu_tasks *g = &h->d->gpu;
    const uint32_t i = h->d->tasks.task[row];
    const uint64_t ns = g->end[i] - g->begin[i];
    struct trace *t = h->t;
    trace_arg_uint(t, "device", h->d->source.device);
    const bool is_npu = h->x->profile->chip->group == ON_MSPTI;
    if (!is_npu)
        trace_arg_uint(t, "context", g->context[i]);
    trace_arg_uint(t, "stream", g->stream[i]);
    trace_arg_uint(t, "correlation", g->correlation[i]);
    if (is_npu && gpu_task_is_kernel(g, i)) {
        const uint32_t op = h->d->tasks.op[row];
        trace_arg_name(t, "Task Type", op == NO_ROW ? NAME_NA : h->x->profile->host.ops.task_type[op]);
        return;
    }
    if (g->graph[i] != 0) {
        trace_arg_uint(t, "graph id", g->graph[i]);
        trace_arg_uint(t, "graph node id", g->graph_node[i]);
        const struct graph_capture *const c = &h->x->profile->captured;
        const uint32_t op = g->captured ? g->captured[i] : NO_ROW;
        if (op != NO_ROW) {
            trace_arg_name(t, "operator", c->name[op]);
            trace_arg_name(t, "module", c->modules[op]);
            trace_arg_name(t, "Input Dims", c->shapes[op]);
            trace_arg_name(t, "Call stack", c->stack[op]);
        }
    }
    if (gpu_task_is_kernel(g, i)) {
        trace_arg_uint(t, "registers per thread", g->registers[i]);
        trace_arg_uint(t, "shared memory", (uint64_t)g->static_shared[i] + g->dynamic_shared[i]);
        gpu_dimensions(t, "grid", g->grid, i);
        gpu_dimensions(t, "block", g->block, i);
        const double occupancy = gpu_occupancy_percent(&h->d->source.gpu, g, i);
        if (occupancy >= 0)
            trace_arg_real(t, "theoretical occupancy %", occupancy);
        return;
    }
    trace_arg_uint(t, "bytes", g->bytes[i]);
    trace_arg_real(t, "memory bandwidth (GB/s)", ns > 0 ? (double)g->bytes[i] / (double)ns : 0);
    if (g->kind[i] == CUDA_IS_PEER_COPY)
        trace_arg_uint(t, "toDevice", g->peer[i]);
}

static void write_task(const struct hardware *h, size_t row)
{
    const struct profile *p = h->x->profile;
    const struct host_tasks *ht = &p->host.tasks;
    const struct tasks *t = &h->d->tasks;
    const uint32_t host = scope_task_host(h->x, t, row), op = host == NO_ROW ? NO_ROW : t->op[row];
    const bool is_copy = host != NO_ROW && ht->type[host] == NAME_MEMCPY_ASYNC;
    const struct task_label label = task_label(p, t, row, host, h->x->is_generic);
    trace_slice_name(h->t, label.name, h->pid, hardware_row_of(h, row), t->begin_ns[row], t->dur_ns[row]);
    trace_args(h->t);
    if (h->d->source.chip->task_log == TASK_LOG_CUDA) {
        gpu_args(h, row);
        trace_end(h->t);
        write_flow(h, row);
        return;
    }
    trace_arg_uint(h->t, "Model Id", host == NO_ROW ? NO_MODEL : ht->model[host]);
    trace_arg_name(h->t, "Task Type", label.type);
    trace_arg_uint(h->t, "Physic Stream Id", t->stream[row]);
    trace_arg_uint(h->t, "Task Id", t->task[row]);
    trace_arg_uint(h->t, "Batch Id", batch_of(h, row, host));
    trace_arg_uint(h->t, "Subtask Id", t->context[row]);
    if (host != NO_ROW)
        trace_arg_uint(h->t, "connection_id", ht->connection[host]);
    else if (h->x->is_generic)
        trace_arg_int(h->t, "connection_id", -1);
    else
        trace_arg_uint(h->t, "connection_id",
                       UINT64_MAX); /* -1 without a sign, as the reference writes it in this presentation */
    if (is_copy && !h->x->is_generic && p->host.records.memcpys.n > 0) {
        const char *kind = t->copy_kind[row] == COPY_NONE ? NULL : enum_text(&memcpy_kinds, t->copy_kind[row]);
        trace_arg_uint(h->t, "size(B)", t->copy_bytes[row]);
        trace_arg_real(h->t, "bandwidth(GB/s)", t->dur_ns[row] > 0 ? (double)t->copy_bytes[row] / t->dur_ns[row] : 0);
        trace_arg_text(h->t, "operation", kind ? kind : "other");
    }
    if (op != NO_ROW && t->type[row] == NAME_KERNEL_SIMT) {
        trace_arg_name(h->t, "Grid Dim", p->host.ops.grid_dim[op]);
        trace_arg_name(h->t, "Block Dim", p->host.ops.block_dim[op]);
    }
    trace_arg_launch(h->t, h->launched, row);
    trace_end(h->t);
    write_flow(h, row);
}

static bool is_written(const struct hardware *h, size_t row)
{
    const struct tasks *t = &h->d->tasks;
    return !t->is_hidden[row] && scope_has_task(h->x, t, row);
}

static bool write_device(const struct hardware *h, struct error *e)
{
    const struct tasks *t = &h->d->tasks;
    const struct gpu_tasks *const g = &h->d->gpu;
    const size_t n_rows = g->n > 0 ? g->n_streams : UINT16_MAX + 1;
    bool *seen = arena_take(h->x->mem, UINT16_MAX + 1, sizeof *seen);
    if (!seen)
        return error_no_memory(e, "the streams of the timeline");
    trace_process_npu(h->t, h->pid, chip_words(h->d->source.chip)->hardware, h->d->source.device, PLACE_HARDWARE);
    for (size_t i = 0; i < t->n; i++)
        seen[g->n > 0 ? t->stream[i] : h->row_of_stream[t->stream[i]] & UINT16_MAX] |= is_written(h, i);
    rounds_mark_rows(h->t, h->d, h->row_of_stream, seen);
    ts_copies_mark_rows(h->x, h->d, h->row_of_stream, seen);
    for (uint32_t i = 0; i < n_rows; i++) {
        const uint32_t row = g->n > 0 ? g->stream_id[i] : i;
        char name[32];
        if (!seen[i])
            continue;
        snprintf(name, sizeof name, "Stream %" PRIu32, row);
        trace_thread(h->t, h->pid, row, name, row);
    }
    for (size_t i = 0; i < t->n; i++)
        if (is_written(h, i))
            write_task(h, i);
    rounds_write(h->t, h->d, h->pid, h->row_of_stream);
    return ts_copies_draw(h->x, h->t, h->d, h->pid, h->row_of_stream) ||
           error_no_memory(e, "the copies of the timeline");
}

bool hardware_track(const struct export *x, struct trace *t, struct error *e)
{
    const struct profile *p = x->profile;
    struct hardware h = { .x = x,
                          .t = t,
                          .host_pid = trace_pid(p->host.source.pid, PLACE_CANN, TRACE_HOST),
                          .row_of_stream = stream_rows(p, x->mem) };
    if (!h.row_of_stream)
        return error_no_memory(e, "the streams of the timeline");
    for (size_t i = 0; i < p->n_devices; i++) {
        h.d = &p->device[i];
        h.launched = x->launches ? x->launches->device[i].of_task : NULL;
        h.pid = trace_pid(h.d->source.pid, PLACE_HARDWARE, h.d->source.device);
        scope_set_window(x, t, i);
        if (h.d->tasks.n + h.d->log.copies.n > 0 && !write_device(&h, e))
            return false;
    }
    return true;
}
