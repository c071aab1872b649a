/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_device.h"

#include <stdio.h>
#include <string.h>

#include "raw/device_records.h"
#include "raw/host_records.h"

enum { LOAD_TICKS = 210, CAPTURE_TICKS = 310 }; /* from one operator of a graph to the next */

static size_t operator_number(const char *type)
{
    size_t i = 0;
    while (i + 1 < sim_n_operators && strcmp(sim_operators[i].type, type) != 0)
        i++;
    return i;
}

static void fusion_put(struct sim_device *d, uint64_t time, const char *name, uint64_t hash, unsigned n)
{
    struct sim_process *p = d->of;
    struct fused f = { hash, { 0 }, n, 4096 * (n + 1), 2048 * (n + 1), 65536, 512 };
    for (unsigned i = 0; i < n; i++) {
        char text[96];
        snprintf(text, sizeof text, "%s_origin_%u", name, i);
        f.from[i] = host_name(p, text);
    }
    record_fusion(host_record(p, HOST_FUSION_ONCE, d->main.id, time), &f);
}

static void static_memory_put(struct sim_device *d, uint64_t time, uint64_t hash, uint32_t graph, unsigned i)
{
    const uint64_t end = i + 2 < GRAPH_OPERATORS ? i + 2 : GRAPH_OPERATORS;
    record_graph_memory(host_record(d->of, HOST_STATIC_MEMORY_ONCE, d->main.id, time),
                        &(struct graph_memory){ hash, 1024 * (i + 1), i, end, 16 << 20, graph });
}

static void graph_head(struct sim_device *d, uint64_t begin, uint64_t end, uint32_t graph)
{
    struct sim_process *p = d->of;
    char text[64];
    snprintf(text, sizeof text, "ge_graph_llama_%u", d->graph_model);
    record_graph(host_record(p, HOST_GRAPH_ONCE, d->main.id, begin + 30), host_name(p, text), graph, d->graph_model);
    if (p->chip->group != ON_950) { /* which has no logical streams */
        uint8_t *rec = host_record(p, HOST_LOGIC_ONCE, d->main.id, end - 50);
        layout_put(&logic_stream_layout, LOGIC_COUNT, rec, 1);
        host_put32(rec + LOGIC_FIRST, d->stream[STREAM_GRAPH].id);
    }
    host_event(p, HOST_CALL_ONCE, LEVEL_MODEL, TYPE_MODEL_LOAD, d->main.id, 0, begin, d->graph_model);
    host_event(p, HOST_CALL_ONCE, LEVEL_MODEL, TYPE_MODEL_LOAD, d->main.id, 0, end, d->graph_model);
}

/* Everything about a loaded graph is recorded once, while it is loaded. */
void graph_load(struct sim_device *d)
{
    static const char *const types[GRAPH_OPERATORS] = { "MatMulV2",      "Mul",  "Transpose",
                                                        "BatchMatMulV2", "Cast", "ZerosLike" };
    struct sim_process *p = d->of;
    const uint64_t begin = d->main.now + 200, end = begin + 100 + GRAPH_OPERATORS * LOAD_TICKS + 50;
    const uint32_t graph = 10 + d->graph_model, thread = d->main.id;
    graph_head(d, begin, end, graph);
    for (unsigned i = 0; i < GRAPH_OPERATORS; i++) {
        const size_t which = operator_number(types[i]);
        const struct sim_operator *op = &sim_operators[which];
        const uint64_t at = begin + 100 + i * LOAD_TICKS;
        char name[80], kernel[80];
        snprintf(name, sizeof name, "graph%u/layer_%u/%s", d->graph_model, i, types[i]);
        snprintf(kernel, sizeof kernel, "te_graph%u_%u", d->graph_model, i);
        const enum task_kind kind = sim_kind_on(p->chip, op->kind);
        const struct sim_launch l = { kind, kind == TASK_CUBE ? 20 : 40, host_name(p, kernel) };
        const uint64_t hash = host_name(p, name);
        host_call(p, HOST_CALL_ONCE, LEVEL_NODE, TYPE_LAUNCH, thread, at, at + 180, hash);
        host_call(p, HOST_CALL_ONCE, LEVEL_RUNTIME, TYPE_CALL_KERNEL, thread, at + 20, at + 120, 0);
        host_track(d, HOST_TRACK_ONCE, thread, at + 70, STREAM_GRAPH, (uint16_t)i, &l);
        node_records(d, true, thread, at + 150,
                     &(struct node){ hash, p->operator_name[which].type, sim_task_kinds[kind].node, l.blocks, 0 }, op);
        static_memory_put(d, at + 150, hash, graph, i);
        if (!p->o->level0 && (i == 2 || i == 5))
            fusion_put(d, at + 200, name, hash, i == 2 ? 3 : 2);
        d->graph[i] = (struct graph_task){ kind, l.blocks, op->us_min, op->us_max };
    }
    d->main.now = end + 100;
}

static void capture_put(struct sim_device *d, uint64_t time, bool is_end)
{
    const struct layout *l = &capture_stream_layout;
    uint8_t *rec = host_record(d->of, HOST_CAPTURE_ONCE, d->main.id, time);
    record_fill(l, rec, { CAPTURE_STATUS, is_end },
                { CAPTURE_MODEL_STREAM, is_end ? UINT16_MAX : d->stream[STREAM_CAPTURED].id },
                { CAPTURE_ORIGINAL_STREAM, is_end ? UINT16_MAX : d->stream[STREAM_MAIN].id },
                { CAPTURE_MODEL, d->captured_model }, { CAPTURE_DEVICE, (uint64_t)d->id });
}

static bool can_capture(const struct sim_process *p)
{
    return p->chip->group & (ON_A2 | ON_310P | ON_MDC);
}

/* Operators that are launched while a stream is captured do not run: the graph runs them later. */
void graph_capture(struct sim_device *d)
{
    static const char *const types[CAPTURED_OPERATORS] = { "MatMulV3", "Add", "Cast", "Transpose" };
    struct sim_process *p = d->of;
    const uint32_t thread = d->main.id;
    if (!can_capture(p))
        return;
    capture_put(d, d->main.now + 10, false);
    for (unsigned i = 0; i < CAPTURED_OPERATORS; i++) {
        const size_t which = operator_number(types[i]);
        const struct sim_operator *op = &sim_operators[which];
        const enum task_kind kind = sim_kind_on(p->chip, op->kind);
        const struct sim_launch l = { kind, kind == TASK_CUBE ? 16 : 32, p->operator_name[which].kernel };
        const uint64_t at = d->main.now + 50 + i * CAPTURE_TICKS, name = p->operator_name[which].name;
        host_track(d, HOST_TRACK, thread, at + 140, STREAM_CAPTURED, (uint16_t)i, &l);
        d->captured[i] = (struct graph_task){ kind, l.blocks, op->us_min, op->us_max };
        if (p->o->late) {
            captured_record(d, at + 140, (uint16_t)i, which, &l);
            continue;
        }
        host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_OPERATOR + 2 * (uint32_t)which + 1, thread, at, at + 280, 0);
        host_call(p, HOST_CALL, LEVEL_NODE, TYPE_LAUNCH, thread, at + 60, at + 250, name);
        host_call(p, HOST_CALL, LEVEL_RUNTIME, TYPE_CALL_LAUNCH, thread, at + 90, at + 200, 0);
        node_records(d, false, thread, at + 220,
                     &(struct node){ name, p->operator_name[which].type, sim_task_kinds[kind].node, l.blocks, 0 }, op);
    }
    d->main.now += 50 + CAPTURED_OPERATORS * CAPTURE_TICKS;
}

static struct sim_span task_run(struct sim_device *d, enum sim_stream s, unsigned i, const struct graph_task *t,
                                uint64_t time, uint64_t not_before)
{
    const struct sim_launch l = { t->kind, t->blocks, 0 };
    const uint64_t us = dice_between(&d->dice, t->us_min, t->us_max);
    return stream_run(d, s, (uint16_t)i, &l, time, device_us(d, us), not_before);
}

/* A graph runs when the task that stands for it on the main stream has run. */
static struct sim_span execute_task(struct sim_device *d, uint64_t time)
{
    const struct sim_launch l = { TASK_MODEL, 0, 0 };
    const uint16_t task = stream_issue(d, STREAM_MAIN, d->main.id, time - 5);
    host_track(d, HOST_TRACK, d->main.id, time, STREAM_MAIN, task, &l);
    return stream_run(d, STREAM_MAIN, task, &l, time, dice_between(&d->dice, 20, 60), 0);
}

static void loaded_run(struct sim_device *d, uint32_t step)
{
    struct sim_process *p = d->of;
    const uint64_t at = d->main.now + 20;
    const uint32_t thread = d->main.id, index = step + 1, model = d->graph_model;
    const struct sim_span begin = execute_task(d, at + 150);
    host_event(p, HOST_CALL, LEVEL_MODEL, TYPE_MODEL_EXECUTE, thread, index, at + 40, model);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, TYPE_CALL_MODEL, thread, at + 90, at + 260, 0);
    host_event(p, HOST_CALL, LEVEL_MODEL, TYPE_MODEL_EXECUTE, thread, index, at + 320, model);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_MODEL_EXECUTE, thread, at, at + 360, 0);
    d->main.now = at + 360;

    struct sim_span first = { 0 }, last = { 0 };
    for (unsigned i = 0; i < GRAPH_OPERATORS; i++) {
        last = task_run(d, STREAM_GRAPH, i, &d->graph[i], at + 150, begin.end + 90);
        if (i == 0)
            first = last;
    }
    const struct {
        uint64_t tick;
        uint16_t tag;
    } stamp[] = {
        { first.begin - 80, STEP_TAG_MODEL_BEGIN },
        { first.begin - 70, STEP_TAG_GET_NEXT },
        { first.begin - 40, STEP_TAG_GET_NEXT + 1 },
        { first.begin - 2, STEP_TAG_FP },
        { last.end + 2, STEP_TAG_BP },
        { last.end + 3, STEP_TAG_REDUCE },
        { last.end + 13, STEP_TAG_REDUCE + 1 },
        { last.end + 400, STEP_TAG_ITERATION_END },
        { last.end + 403, STEP_TAG_MODEL_END },
    };
    d->stream[STREAM_MAIN].free_at = last.end + 404; /* the main stream waits for the end of the graph */
    for (size_t i = 0; i < sizeof stamp / sizeof *stamp; i++)
        device_stamp(d, stamp[i].tick, index, model, STREAM_GRAPH, 0, stamp[i].tag);
}

static void captured_run(struct sim_device *d)
{
    struct sim_process *p = d->of;
    const uint64_t at = d->main.now + 30;
    const struct sim_span begin = execute_task(d, at + 80);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, TYPE_CALL_MODEL, d->main.id, at + 30, at + 150, 0);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_GRAPH_EXECUTE, d->main.id, at, at + 190, 0);
    d->main.now = at + 190;
    for (unsigned i = 0; i < CAPTURED_OPERATORS; i++)
        task_run(d, STREAM_CAPTURED, i, &d->captured[i], at + 80, begin.end + 20);
}

void graphs_run(struct sim_device *d, uint32_t step)
{
    if (d->main.now < d->now)
        d->main.now = d->now;
    loaded_run(d, step);
    if (can_capture(d->of))
        captured_run(d);
    d->now = d->main.now;
}

void graphs_end(struct sim_device *d)
{
    if (can_capture(d->of))
        capture_put(d, d->main.now + 50, true);
}
