/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_npu_iteration.h"

#include <string.h>

#include "collect/options.h"
#include "device/sim_npu/sim_npu_host.h"
#include "device/sim_npu/sim_npu_run.h"
#include "raw/device_records.h"
#include "raw/host_records.h"
#include "raw/name_hash.h"

void npu_points_choose(const struct ascope_options *o)
{
    npu.point[0] = o->fp_point ? name_hash(o->fp_point) : 0;
    npu.point[1] = o->bp_point ? name_hash(o->bp_point) : 0;
}

uint8_t npu_points_of(const char *operator_name)
{
    if (npu.point[0] == 0 && npu.point[1] == 0)
        return 0;
    const uint64_t name = name_hash(operator_name);
    return (uint8_t)((name == npu.point[0] ? NPU_POINT_FP : 0) | (name == npu.point[1] ? NPU_POINT_BP : 0));
}

static void stamp_put(struct ascope_sim_stream *s, const struct npu_task *t, uint64_t tick, uint16_t tag)
{
    const struct npu_iteration *const it = &s->of->iteration;
    uint8_t rec[64];
    record_stamp(rec, &ts_step_layout, &(struct stamp){ tick, it->index, it->model, t->id, s->id, tag });
    npu_device_put(s->of, STREAM_TS_TRACK, rec, ts_step_layout.size);
}

/* An iteration begins with the next batch of the data queue, as the AI CPU sees it. */
static void dequeue_put(struct npu_device *d, uint64_t tick)
{
    const struct layout *l = &aicpu_dp_layout;
    uint8_t rec[256];
    layout_init(l, rec);
    layout_put(&node_basic_layout, HEAD_LEVEL, rec, LEVEL_AICPU);
    layout_put(&node_basic_layout, HEAD_DATA_LEN, rec, 112);
    memcpy(rec + DP_ACTION, "Last dequeue", 12);
    memcpy(rec + DP_SOURCE, "GetNext_op", 10);
    layout_put(l, DP_TIME, rec, d->clock.mono_ns + (tick - d->clock.tick) * NPU_NS_PER_TICK);
    layout_put(l, DP_INDEX, rec, d->n_iterations);
    npu_device_put(d, STREAM_AICPU, rec, l->size);
}

static void iteration_end(struct ascope_sim_stream *s, const struct npu_task *t)
{
    struct npu_iteration *const it = &s->of->iteration;
    const uint64_t fp = npu.point[0] ? it->named_fp : it->first;
    const uint64_t bp = npu.point[1] ? it->named_bp : it->before_exchange ? it->before_exchange : it->last;
    it->is_open = false;
    if (bp == 0)
        return;
    stamp_put(s, t, it->begin, STEP_TAG_MODEL_BEGIN);
    if (fp != 0)
        stamp_put(s, t, fp, STEP_TAG_FP);
    stamp_put(s, t, bp, STEP_TAG_BP);
    stamp_put(s, t, t->begin, STEP_TAG_ITERATION_END);
    stamp_put(s, t, t->begin + 3, STEP_TAG_MODEL_END);
}

/* Marks are tasks of their own in front of their operator and behind it: a tick away from its times. */
static void kernel_note(struct npu_iteration *it, const struct npu_task *t)
{
    if (it->first == 0)
        it->first = t->begin - 1;
    it->last = t->end + 1;
    if (t->points & NPU_POINT_FP && it->named_fp == 0)
        it->named_fp = t->begin - 1;
    if (t->points & NPU_POINT_BP)
        it->named_bp = t->end + 1;
}

void npu_iteration_task(struct ascope_sim_stream *s, const struct npu_task *t)
{
    struct npu_iteration *const it = &s->of->iteration;
    if (t->iteration == NPU_ITERATION_BEGINS) {
        *it = (struct npu_iteration){ true, ++s->of->n_iterations, t->model, t->begin, 0, 0, 0, 0, 0 };
        if (t->what & NPU_AICPU)
            dequeue_put(s->of, t->begin);
    }
    if (!(t->what & NPU_STEPS) || t->iteration == NPU_ITERATION_BEGINS)
        return;
    if (t->iteration == NPU_ITERATION_ENDS && it->is_open)
        iteration_end(s, t);
    else if (it->is_open && (t->work.kind <= TASK_MIX_VECTOR || t->work.kind == TASK_AICPU))
        kernel_note(it, t);
    else if (it->is_open && (t->work.kind == TASK_REDUCE || t->work.kind == TASK_RDMA_SEND))
        it->before_exchange = it->last;
}

static void mark(struct ascope_sim_stream *s, uint32_t model, enum npu_iteration_task of)
{
    const uint64_t what = npu_what(NPU_STEPS) | npu_what(NPU_AICPU);
    struct npu_task t = { .work = { .kind = TASK_TRACE }, .iteration = (uint8_t)of, .model = model };
    if (what && (s = npu_stream_of(s)))
        npu_issue(s, &t, what, 0, &(struct npu_times){ 0 }, 0);
}

void ascope_sim_iteration_begin(struct ascope_sim_stream *s, uint32_t model)
{
    mark(s, model, NPU_ITERATION_BEGINS);
}

void ascope_sim_iteration_end(struct ascope_sim_stream *s, uint32_t model)
{
    mark(s, model, NPU_ITERATION_ENDS);
}
