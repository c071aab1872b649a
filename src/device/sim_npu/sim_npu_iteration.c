/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_npu_parts.h"

#include <string.h>

#include "raw/device_records.h"
#include "raw/host_records.h"
#include "raw/name_hash.h"

void npu_points_choose(const struct ascope_options *o)
{
    npu.point[0] = o->fp_point ? name_hash(o->fp_point) : 0;
    npu.point[1] = o->bp_point ? name_hash(o->bp_point) : 0;
    npu.fused_point[0] = npu.fused_point[1] = 0;
}

void npu_points_fuse(const struct ascope_sim_node *nodes, uint32_t n)
{
    for (uint32_t i = 0; (npu.point[0] || npu.point[1]) && i < n; i++)
        for (uint32_t k = 0; k < nodes[i].n_from; k++) {
            const uint64_t from = name_hash(nodes[i].from[k]);
            for (int p = 0; p < 2; p++)
                if (from == npu.point[p])
                    npu.fused_point[p] = name_hash(nodes[i].name);
        }
}

uint8_t npu_points_of(const char *type, const char *name)
{
    static const char *const get_next[] = { "GetNext", "DynamicGetNext", "DynamicGetNextV2", "IteratorV2" };
    static const uint8_t bit[] = { NPU_POINT_FP, NPU_POINT_BP };
    uint8_t points = 0;
    for (size_t i = 0; i < sizeof get_next / sizeof *get_next; i++)
        if (strcmp(type, get_next[i]) == 0)
            points = NPU_POINT_GET_NEXT;
    if (npu.point[0] == 0 && npu.point[1] == 0)
        return points;
    const uint64_t hash = name_hash(name);
    for (int p = 0; p < 2; p++)
        if (npu.point[p] != 0 && (hash == npu.point[p] || hash == npu.fused_point[p]))
            points |= bit[p];
    return points;
}

static void stamp_put(struct npu_device *d, uint16_t stream, uint16_t task, uint64_t tick, unsigned tag)
{
    const struct npu_iteration *const it = &d->iteration;
    uint8_t rec[64];
    record_stamp(rec, &ts_step_layout, &(struct stamp){ tick, it->index, it->model, task, stream, (uint16_t)tag });
    npu_device_put(d, STREAM_TS_TRACK, rec, ts_step_layout.size);
}

/* Stamps of all-reduces or GetNext operators that have ended: even tags before them, odd tags after them. */
static void stamps_put(struct npu_device *d, const struct npu_stamped *s, uint32_t n, unsigned tag)
{
    for (uint32_t i = 0; i < n; i++)
        if (s[i].n_left == 0) {
            stamp_put(d, s[i].stream, s[i].task, s[i].begin, tag + 2 * i);
            stamp_put(d, s[i].stream, s[i].task, s[i].end, tag + 2 * i + 1);
        }
}

/* The AI CPU's record of the data queue: an iteration begins with taking out the next batch. */
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
    struct npu_device *const d = s->of;
    stamp_put(d, s->id, t->id, it->begin, STEP_TAG_MODEL_BEGIN);
    stamps_put(d, it->get_next, it->n_get_nexts, STEP_TAG_GET_NEXT);
    if (fp != 0)
        stamp_put(d, s->id, t->id, fp, STEP_TAG_FP);
    stamp_put(d, s->id, t->id, bp, STEP_TAG_BP);
    stamps_put(d, it->reduce, it->n_reduces, STEP_TAG_REDUCE);
    stamp_put(d, s->id, t->id, t->begin, STEP_TAG_ITERATION_END);
    stamp_put(d, s->id, t->id, t->begin + 3, STEP_TAG_MODEL_END);
}

/* Stamps are made by tasks directly before and after an operator: they are one tick away from its times. */
static void kernel_note(struct npu_iteration *it, const struct ascope_sim_stream *s, const struct npu_task *t)
{
    if ((t->points & NPU_POINT_GET_NEXT) && it->n_get_nexts < NPU_STAMPED_MOST)
        it->get_next[it->n_get_nexts++] =
            (struct npu_stamped){ .begin = t->begin - 1, .end = t->end + 1, .stream = s->id, .task = t->id };
    else if (it->first == 0 && !(t->points & NPU_POINT_GET_NEXT))
        it->first = t->begin - 1;
    it->last = t->end + 1;
    if (t->points & NPU_POINT_FP && it->named_fp == 0)
        it->named_fp = t->begin - 1;
    if (t->points & NPU_POINT_BP)
        it->named_bp = t->end + 1;
}

/* Notes a task of an all-reduce. The first one to end is the first that began; the all-reduce ends with its last
 * task. */
static void reduce_note(struct npu_iteration *it, const struct ascope_sim_stream *s, const struct npu_task *t)
{
    uint32_t i = it->n_reduces;
    while (i > 0 && it->reduce[i - 1].number != t->reduce)
        i--;
    if (i == 0 && it->n_reduces < NPU_STAMPED_MOST) {
        it->before_exchange = it->last;
        it->reduce[it->n_reduces] = (struct npu_stamped){
            .begin = t->begin - 1, .number = t->reduce, .n_left = t->n_reduce, .stream = s->id, .task = t->id
        };
        i = ++it->n_reduces;
    }
    struct npu_stamped *const r = i > 0 ? &it->reduce[i - 1] : NULL;
    if (r && r->n_left > 0) {
        r->n_left--;
        r->end = t->end + 1 > r->end ? t->end + 1 : r->end;
    }
}

void npu_iteration_task(struct ascope_sim_stream *s, const struct npu_task *t)
{
    struct npu_iteration *const it = &s->of->iteration;
    if (t->iteration == NPU_ITERATION_BEGINS) {
        *it = (struct npu_iteration){
            .is_open = true, .index = ++s->of->n_iterations, .model = t->model, .begin = t->begin
        };
        if (t->what & NPU_AICPU)
            dequeue_put(s->of, t->begin);
    }
    if (!(t->what & NPU_STEPS) || t->iteration == NPU_ITERATION_BEGINS)
        return;
    if (t->iteration == NPU_ITERATION_ENDS && it->is_open)
        iteration_end(s, t);
    else if (it->is_open && (t->work.kind <= TASK_MIX_VECTOR || t->work.kind == TASK_AICPU))
        kernel_note(it, s, t);
    else if (it->is_open && t->reduce != 0)
        reduce_note(it, s, t);
}

static void sim_npu_iteration_mark(struct ascope_sim_stream *s, uint32_t model, enum npu_iteration_task of)
{
    const uint64_t what = npu_what(NPU_STEPS) | npu_what(NPU_AICPU);
    struct npu_task t = { .work = { .kind = TASK_TRACE }, .iteration = (uint8_t)of, .model = model };
    if (what && (s = npu_stream_of(s)))
        npu_issue(s, &t, what, 0, &(struct npu_times){ 0 }, 0);
}

void ascope_sim_iteration_begin(struct ascope_sim_stream *s, uint32_t model)
{
    npu_lock();
    npu.n_open++;
    npu_unlock();
    sim_npu_iteration_mark(s, model, NPU_ITERATION_BEGINS);
}

void ascope_sim_iteration_end(struct ascope_sim_stream *s, uint32_t model)
{
    npu_lock();
    npu.n_open -= npu.n_open > 0;
    npu_unlock();
    sim_npu_iteration_mark(s, model, NPU_ITERATION_ENDS);
}
