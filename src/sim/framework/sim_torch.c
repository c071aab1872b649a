/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/device/sim_device.h"
#include "sim/job/generate.h"
#include "sim/job/sim_metadata.h"
#include "sim/job/sim_plan.h"

/* Profiler_info_{rank}.json and profiler_metadata.json of a simulated PyTorch process. */

enum { INFO_MOST = 4096 };

static const char *metrics_name(const char *group)
{
    static const char *const name[][2] = {
        { "PipeUtilization", "ACL_AICORE_PIPE_UTILIZATION" },
        { "ArithmeticUtilization", "ACL_AICORE_ARITHMETIC_UTILIZATION" },
        { "Memory", "ACL_AICORE_MEMORY_BANDWIDTH" },
        { "MemoryL0", "ACL_AICORE_L0B_AND_WIDTH" },
        { "MemoryUB", "ACL_AICORE_MEMORY_UB" },
        { "ResourceConflictRatio", "ACL_AICORE_RESOURCE_CONFLICT_RATIO" },
        { "L2Cache", "ACL_AICORE_L2_CACHE" },
        { "MemoryAccess", "ACL_AICORE_MEMORY_ACCESS" },
    };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(name[i][0], group) == 0)
            return name[i][1];
    return "ACL_AICORE_NONE";
}

static const char *boolean(bool is_true)
{
    return is_true ? "true" : "false";
}

static void info_json(struct sim_torch *t)
{
    const struct sim_process *p = t->base.of;
    const struct sim_options *o = p->o;
    const bool has_npu = o->kernels > 0;
    const uint64_t past_ns = (p->end - p->cnt) * NS_PER_HOST_TICK;
    char text[INFO_MOST], name[64];
    const int n = snprintf(
        text, sizeof text,
        "{\n    \"config\": {\n        \"common_config\": {\n            \"activities\": [\n"
        "                \"ProfilerActivity.CPU\"%s\n            ],\n"
        "            \"schedule\": {\n                \"wait\": 0,\n                \"active\": %u,\n"
        "                \"warmup\": 0,\n                \"repeat\": 1,\n                \"skip_first\": 0,\n"
        "                \"skip_first_wait\": 0\n            },\n"
        "            \"record_shapes\": true,\n            \"profile_memory\": true,\n            \"with_stack\": "
        "true,\n"
        "            \"with_flops\": false,\n            \"with_modules\": true\n        },\n"
        "        \"experimental_config\": {\n            \"_profiler_level\": \"%s\",\n"
        "            \"_aic_metrics\": \"%s\",\n            \"_l2_cache\": %s,\n            \"_msprof_tx\": %s,\n"
        "            \"_mstx\": %s,\n            \"_data_simplification\": false,\n            \"record_op_args\": "
        "false,\n"
        "            \"_export_type\": [\n                \"text\"\n            ],\n            \"_host_sys\": [],\n"
        "            \"_op_attr\": false,\n            \"_gc_detect_threshold\": 0.1,\n"
        "            \"_mstx_domain_include\": [],\n            \"_mstx_domain_exclude\": [],\n"
        "            \"_sys_io\": %s,\n            \"_sys_interconnection\": %s\n        }\n    },\n"
        "    \"start_info\": {\n        \"syscnt_enable\": true,\n        \"freq\": %d.0,\n        \"start_cnt\": "
        "%llu,\n"
        "        \"start_monotonic\": %llu\n    },\n"
        "    \"end_info\": {\n        \"collectionTimeEnd\": %llu,\n        \"MonotonicTimeEnd\": %llu\n    },\n"
        "    \"torch_npu_version\": \"2.6.0\",\n    \"cann_version\": \"8.3.RC1\",\n    \"rank_id\": %u,\n"
        "    \"simulated\": true\n}",
        has_npu ? ",\n                \"ProfilerActivity.NPU\"" : "", o->steps, o->level0 ? "Level0" : "Level2",
        metrics_name(o->metrics), boolean(has_npu && o->samplers), boolean(o->marks), boolean(o->marks),
        boolean(has_npu && o->samplers), boolean(has_npu && o->samplers), HOST_MHZ, (unsigned long long)p->cnt,
        (unsigned long long)p->mono_ns, (unsigned long long)(p->wall_us * 1000 + past_ns),
        (unsigned long long)(p->mono_ns + past_ns), p->index);
    snprintf(name, sizeof name, "profiler_info_%u.json", p->index);
    folder_file(&t->base.writer, FOLDER_SESSION, name, text, (size_t)n);
}

static void torch_info_write(struct sim_torch *t)
{
    info_json(t);
    front_metadata_write(&t->base);
}

enum { NO_SEQUENCE = -1 };
static const char LOADER[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

static struct torch_op *op_begin(struct sim_torch *t, const char *name, const char *inputs)
{
    struct torch_thread *th = t->at;
    th->now += dice_between(&t->base.dice, 25, 70);
    struct torch_op *op = &th->open[th->depth++];
    *op = (struct torch_op){ .inputs = inputs, .begin = th->now, .sequence = NO_SEQUENCE, .has_stack = th == &t->main };
    snprintf(op->name, sizeof op->name, "%s", name);
    return op;
}

static void op_end(struct sim_torch *t)
{
    struct torch_thread *th = t->at;
    th->now += dice_between(&t->base.dice, 15, 60);
    torch_op_write(t, th, &th->open[--th->depth]);
}

/* A range that a user or a library has named. */
static void range_begin(struct sim_torch *t, const char *name)
{
    struct torch_op *op = op_begin(t, name, NULL);
    op->scope = OP_SCOPE_USER;
    op->has_stack = false;
}

/* Writes the marks of tasks that were taken out of the queue up to a time. */
static void marks_flush(struct sim_torch *t, uint64_t until)
{
    while (t->n_waiting > 0) {
        struct torch_waiting *w = &t->waiting[t->head];
        if (!w->has_begun && w->begin <= until) {
            torch_mark_write(t, w->begin, TORCH_MARK_DEQUEUE_BEGIN, w->id, t->queue_thread, w->name);
            w->has_begun = true;
        }
        if (!w->has_begun || w->end > until)
            return;
        torch_mark_write(t, w->end, TORCH_MARK_DEQUEUE_END, w->id, t->queue_thread, w->name);
        t->head = (t->head + 1) % WAITING_MOST;
        t->n_waiting--;
    }
}

/* Puts a task into the queue. If it is full, the host waits. */
static struct front_task task_put(struct sim_torch *t, const char *name)
{
    struct torch_thread *th = t->at;
    if (t->n_waiting == WAITING_MOST && th->now < t->waiting[t->head].end)
        th->now = t->waiting[t->head].end;
    const uint64_t begin = th->now + dice_between(&t->base.dice, 20, 60),
                   end = begin + dice_between(&t->base.dice, 80, 250);
    const struct front_task task = { t->n_tasks++, end + dice_between(&t->base.dice, 30, 90), name };
    marks_flush(t, begin);
    torch_mark_write(t, begin, TORCH_MARK_ENQUEUE_BEGIN, task.id, th->id, name);
    marks_flush(t, end);
    torch_mark_write(t, end, TORCH_MARK_ENQUEUE_END, task.id, th->id, name);
    th->now = end;
    return task;
}

static void launched(struct sim_front *f, const struct front_task *task, uint64_t begin, uint64_t end)
{
    struct sim_torch *t = (struct sim_torch *)f;
    enum { WORKSPACE_EVERY = 256 };
    if (task->id % WORKSPACE_EVERY == 0)
        torch_workspace(t, begin + 1);
    if (t->n_waiting == WAITING_MOST)
        marks_flush(t, t->waiting[t->head].end);
    t->waiting[(t->head + t->n_waiting++) % WAITING_MOST] =
        (struct torch_waiting){ task->id, begin, end, task->name, false };
}

static void unit_begin(struct sim_torch *t)
{
    const uint64_t at = front_position(&t->base);
    struct dice layer = network_dice(t->base.of->o->seed, network_layer(at, t->base.step.chunk));
    struct torch_unit *u = &t->unit;
    const uint64_t input = u->output;
    *u = (struct torch_unit){ .network = &torch_networks[t->base.forward[operator_pick(&layer)]] };
    u->rows = 32u << dice_below(&layer, 6);
    u->columns = 256u * dice_between(&layer, 1, 6);
    u->type = dice_one_in(&layer, 4) ? TORCH_TYPE_BF16 : TORCH_TYPE_FLOAT;
    u->layer = (uint32_t)(at % TORCH_LAYERS);
    u->input = input;
}

/* The operator that allocates its result and puts the task into the queue. */
static struct front_task inner_run(struct sim_torch *t, const char *call, uint64_t allowed)
{
    if (allowed > 1)
        op_begin(t, "empty_tensor", NULL)->has_stack = false;
    t->unit.output = torch_allocate(t, 512ull * dice_between(&t->base.dice, 1, 8192));
    if (allowed > 1)
        op_end(t);
    return task_put(t, call);
}

/* Views, such as reshapes, which take time on the host only. */
static void views_run(struct sim_torch *t, uint64_t n)
{
    static const struct {
        const char *name, *inputs;
    } view[] = {
        { "aten::view", "xL" },       { "aten::as_strided", "xLLs" }, { "aten::expand", "xLs" },
        { "aten::unsqueeze", "xs" },  { "aten::slice", "xssss" },     { "aten::select", "xss" },
        { "aten::transpose", "xss" }, { "aten::detach", "x" },
    };
    while (n > 0) {
        const size_t which = dice_below(&t->base.dice, sizeof view / sizeof *view);
        const bool is_nested = n > 1 && dice_one_in(&t->base.dice, 2);
        if (is_nested)
            op_begin(t, "aten::reshape", "xL");
        op_begin(t, view[which].name, view[which].inputs);
        op_end(t);
        if (is_nested)
            op_end(t);
        n -= is_nested ? 2 : 1;
    }
}

static void transposes_run(struct sim_torch *t, int64_t sequence)
{
    static const char *const name[] = { "aten::t", "aten::transpose", "aten::as_strided" }, *const inputs[] = {
        "w", "wss", "wLLs"
    };
    enum { DEEP = 3 };
    for (size_t i = 0; i < DEEP; i++)
        op_begin(t, name[i], inputs[i])->sequence = sequence;
    for (size_t i = 0; i < DEEP; i++)
        op_end(t);
}

/* How many operators the next launch may have: what is left of the step's, spread over what is left to launch. */
static uint64_t ops_allowed(const struct sim_torch *t)
{
    enum { END = 8 }; /* for the copies at the end of the step */
    const uint64_t so_far = t->n_ops + t->main.depth + t->backward.depth + END,
                   left = t->base.step.kernels - t->base.step.done;
    const uint64_t allowed = t->base.step.ops > so_far && left > 0 ? (t->base.step.ops - so_far) / left : 0;
    return allowed > 0 ? allowed : 1;
}

static struct front_task forward_run(struct sim_torch *t, const char *call, uint64_t allowed)
{
    enum { OUTER = 3, ALL = 6 };
    const struct torch_network *n = t->unit.network;
    const int64_t sequence = (int64_t)(t->sequence + t->base.step.done);
    const bool has_outer = n->outer && allowed >= OUTER, has_views = has_outer && n->has_views && allowed >= ALL;
    const uint64_t n_ops = (allowed > 1 ? 2u : 1u) + (has_outer ? 1u : 0u) + (has_views ? 3u : 0u);
    torch_module_enter(t);
    if (has_outer)
        op_begin(t, n->outer, n->outer_inputs)->sequence = sequence;
    if (has_views)
        transposes_run(t, sequence);
    op_begin(t, n->inner, n->inner_inputs)->sequence = sequence;
    const struct front_task task = inner_run(t, call, allowed);
    op_end(t);
    if (has_outer)
        op_end(t);
    views_run(t, allowed - n_ops);
    torch_module_leave(t);
    return task;
}

static struct front_task backward_run(struct sim_torch *t, const char *call, uint64_t allowed)
{
    enum { NODE = 3, ALL = 4 };
    const struct torch_network *n = t->unit.network;
    const bool is_last = front_position(&t->base) == UINT64_MAX; /* beyond the first operator of the network */
    const char *const node = is_last ? "torch::autograd::AccumulateGrad" : n->backward;
    const bool has_engine = allowed >= ALL, has_node = allowed >= NODE;
    if (has_engine) {
        char name[88];
        snprintf(name, sizeof name, "autograd::engine::evaluate_function: %s", node);
        op_begin(t, name, NULL);
    }
    if (has_node) {
        struct torch_op *op = op_begin(t, node, "g");
        op->scope = OP_SCOPE_BACKWARD;
        op->sequence = is_last ? NO_SEQUENCE : (int64_t)(t->sequence + front_position(&t->base));
        op->forward_thread = !is_last;
    }
    op_begin(t, n->grad, n->grad_inputs);
    const struct front_task task = inner_run(t, call, allowed);
    op_end(t);
    const uint64_t n_ops = (allowed > 1 ? 2u : 1u) + (has_node ? 1u : 0u) + (has_engine ? 1u : 0u);
    views_run(t, allowed - n_ops);
    torch_release(t);
    if (has_node)
        op_end(t);
    if (has_engine)
        op_end(t);
    return task;
}

static struct front_task optimizer_run(struct sim_torch *t, const char *call, uint64_t allowed)
{
    static const char *const name[] = { "aten::_foreach_lerp_", "aten::_foreach_mul_", "aten::_foreach_addcdiv_" };
    op_begin(t, name[t->base.step.done % 3], t->base.step.done % 3 == 1 ? "Ts" : "TTs");
    const struct front_task task = task_put(t, call);
    op_end(t);
    views_run(t, allowed - 1);
    return task;
}

static void backward_begin(struct sim_torch *t)
{
    torch_frame_leave(t, TORCH_FRAME_MODEL);
    torch_frame_enter(t, TORCH_FRAME_BACKWARD);
    torch_frame_enter(t, TORCH_FRAME_ENGINE);
    if (t->backward.now < t->main.now + 200)
        t->backward.now = t->main.now + 200; /* the time to wake another thread */
    t->at = &t->backward;
}

static void backward_end(struct sim_torch *t)
{
    if (t->main.now < t->backward.now + 150)
        t->main.now = t->backward.now + 150;
    t->at = &t->main;
    torch_frame_leave(t, TORCH_FRAME_ENGINE);
    torch_frame_leave(t, TORCH_FRAME_BACKWARD);
}

static void optimizer_begin(struct sim_torch *t)
{
    torch_frame_enter(t, TORCH_FRAME_OPTIMIZER);
    if (!t->knows_optimizer)
        torch_optimizer_record(t);
    t->knows_optimizer = true;
    range_begin(t, "Optimizer.step#AdamW.step");
}

/* The next micro-batch is late. */
static void loader_stall(struct sim_torch *t, uint64_t ticks)
{
    range_begin(t, LOADER);
    t->at->now += ticks;
    op_end(t);
}

static struct front_task sim_torch_run(struct sim_front *f)
{
    struct sim_torch *t = (struct sim_torch *)f;
    const uint64_t stall = front_stall_ticks(f);
    if (stall > 0)
        loader_stall(t, stall);
    const char *const call = sim_operators[front_next(f)].call;
    const enum front_phase phase = front_phase(f);
    if (t->base.step.done == t->base.step.forward)
        backward_begin(t);
    if (t->base.step.done == t->base.step.optimizer) {
        backward_end(t);
        optimizer_begin(t);
    }
    unit_begin(t);
    const uint64_t allowed = ops_allowed(t);
    const struct front_task task = phase == FRONT_FORWARD    ? forward_run(t, call, allowed)
                                   : phase == FRONT_BACKWARD ? backward_run(t, call, allowed)
                                                             : optimizer_run(t, call, allowed);
    t->unit.network = NULL;
    return task;
}

static struct front_task collective(struct sim_front *f, size_t which)
{
    struct sim_torch *t = (struct sim_torch *)f;
    static const char *const name[] = { "c10d::allreduce_",
                                        "c10d::_allgather_base_",
                                        "c10d::_reduce_scatter_base_",
                                        "c10d::broadcast_",
                                        "c10d::send",
                                        "c10d::alltoall_base_",
                                        "c10d::recv_" };
    op_begin(t, name[which % (sizeof name / sizeof *name)], "TNNNss");
    op_begin(t, sim_collectives[which].call, "Ts");
    const struct front_task task = task_put(t, sim_collectives[which].call);
    op_end(t);
    op_end(t);
    return task;
}

static struct front_task sim_torch_copy(struct sim_front *f, unsigned direction)
{
    struct sim_torch *t = (struct sim_torch *)f;
    static const char *const name[] = { "acl_memcpy_host_to_host", "acl_memcpy_host_to_device",
                                        "acl_memcpy_device_to_host", "acl_memcpy_device_to_device" };
    op_begin(t, "aten::copy_", "xxs");
    const struct front_task task = task_put(t, name[direction % (sizeof name / sizeof *name)]);
    op_end(t);
    return task;
}

static struct front_task event(struct sim_front *f, bool is_wait)
{
    return task_put((struct sim_torch *)f, is_wait ? "wait_event" : "record_event");
}

static void pace(struct sim_front *f, uint64_t host_tick)
{
    struct sim_torch *t = (struct sim_torch *)f;
    if (t->at->now < host_tick)
        t->at->now = host_tick;
}

static void step_begin(struct sim_front *f, uint64_t now)
{
    struct sim_torch *t = (struct sim_torch *)f;
    char name[32];
    t->at = &t->main;
    if (t->main.now < now)
        t->main.now = now;
    t->unit.rows = t->unit.columns = 512;
    snprintf(name, sizeof name, "ProfilerStep#%u", f->step.number);
    range_begin(t, name);
    torch_frame_enter(t, TORCH_FRAME_STEP);
    if (ops_allowed(t) > 2) {
        range_begin(t, LOADER);
        op_begin(t, "aten::empty", "LssssN");
        torch_host_memory(t);
        op_end(t);
        op_end(t);
        range_begin(t, "Optimizer.zero_grad#AdamW.zero_grad");
        op_end(t);
    }
    torch_frame_enter(t, TORCH_FRAME_MODEL);
}

static uint64_t step_end(struct sim_front *f, uint64_t now)
{
    struct sim_torch *t = (struct sim_torch *)f;
    enum { GC_LEAST = 12000, GC_MOST = 40000 };
    if (t->base.step.kernels == 0)
        torch_frame_leave(t, TORCH_FRAME_MODEL);
    if (t->base.step.kernels > t->base.step.optimizer) {
        op_end(t);
        torch_frame_leave(t, TORCH_FRAME_OPTIMIZER);
    } else if (t->base.step.kernels > 0) {
        backward_end(t);
    }
    if (t->main.now < now)
        t->main.now = now;
    torch_release_all(t);
    const uint64_t so_far = t->n_ops + t->main.depth;
    if (t->base.step.ops > so_far)
        views_run(t, t->base.step.ops - so_far);
    if (t->base.of->job ? job_step_has_gc(t->base.step.number) : t->base.step.number % 2 == 0) {
        const uint64_t begin = t->main.now + 100, end = begin + dice_between(&t->base.dice, GC_LEAST, GC_MOST);
        torch_gc_write(t, begin, end);
        t->main.now = end + 50;
    }
    torch_frame_leave(t, TORCH_FRAME_STEP);
    op_end(t);
    torch_frame_enter(t, TORCH_FRAME_PROFILER); /* what is still open ends with the last call, after the step */
    torch_frame_leave(t, TORCH_FRAME_PROFILER);
    t->sequence += f->step.forward;
    return t->main.now;
}

static void files_open(struct sim_front *f)
{
    struct sim_torch *t = (struct sim_torch *)f;
    t->main = (struct torch_thread){ .id = f->of->pid, .now = f->begin };
    t->backward = (struct torch_thread){ .id = f->of->pid + 1, .now = f->begin };
    t->queue_thread = f->of->pid + 2;
    t->at = &t->main;
    torch_files_open(t);
    torch_frames_write(t);
}

static void files_close(struct sim_front *f)
{
    struct sim_torch *t = (struct sim_torch *)f;
    marks_flush(t, UINT64_MAX);
    torch_frames_end(t);
    torch_info_write(t);
    for (size_t i = 0; i < TORCH_FILES; i++)
        slices_fini(&t->out[i]);
}

const struct front_row torch_front = {
    .bytes = sizeof(struct sim_torch),
    .open = files_open,
    .close = files_close,
    .step_begin = step_begin,
    .step_end = step_end,
    .run = sim_torch_run,
    .collective = collective,
    .copy = sim_torch_copy,
    .event = event,
    .launched = launched,
    .pace = pace,
};
