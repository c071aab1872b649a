/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_ms.h"

#include <stdio.h>
#include <string.h>

#include "sim/device/sim_device.h"
#include "sim/job/sim_metadata.h"

/* Profiler_info_{rank}.json of a simulated MindSpore process. */

enum { INFO_MOST = 4096 };

static const char *boolean(bool is_true)
{
    return is_true ? "true" : "false";
}

static const char *jit_level(const struct sim_options *o)
{
    static const char *const name[] = {
        [SIM_EAGER] = "", [SIM_JIT_O0] = "O0", [SIM_JIT_O1] = "O1", [SIM_JIT_O2] = "O2"
    };
    return name[o->jit];
}

static size_t parameters_n(const struct sim_process *p, char *text, size_t size)
{
    const struct sim_options *o = p->o;
    const bool has_npu = o->kernels > 0, samples = has_npu && o->samplers;
    return (size_t)snprintf(
        text, size,
        "{\n    \"profiler_parameters\": {\n        \"is_set_schedule\": true,\n        \"output_path\": \"./data\",\n"
        "        \"profiler_level\": \"%s\",\n        \"activities\": [\n            \"CPU\"%s\n        ],\n"
        "        \"aic_metrics\": \"%s\",\n        \"with_stack\": true,\n        \"profile_memory\": true,\n"
        "        \"data_process\": true,\n        \"parallel_strategy\": false,\n        \"start_profile\": false,\n"
        "        \"l2_cache\": %s,\n        \"hbm_ddr\": %s,\n        \"pcie\": %s,\n        \"sys_io\": %s,\n"
        "        \"sys_interconnection\": %s,\n        \"host_sys\": [],\n        \"sync_enable\": true,\n"
        "        \"data_simplification\": false,\n        \"record_shapes\": true,\n        \"export_type\": [\n"
        "            \"text\"\n        ],\n        \"mstx\": %s,\n        \"mstx_domain_include\": [],\n"
        "        \"mstx_domain_exclude\": [],\n        \"schedule\": {\n            \"wait\": 0,\n            "
        "\"active\": %u,\n"
        "            \"repeat\": 1,\n            \"skip_first\": 0,\n            \"skip_first_wait\": 0,\n            "
        "\"warmup\": 0\n"
        "        }\n    },\n"
        "    \"ms_profiler_info\": {\n        \"rank_id\": \"%u\",\n        \"device_id\": \"%u\"\n    },\n"
        "    \"cann_profiler_info\": {},\n    \"analysis_cost_time\": {},\n    \"ms_version\": \"2.7.0\",\n"
        "    \"cann_version\": \"8.3.RC1\",\n    \"jit_level\": \"%s\",\n    \"simulated\": true\n}",
        o->level0 ? "Level0" : "Level2", has_npu ? ",\n            \"NPU\"" : "", o->metrics, boolean(samples),
        boolean(samples), boolean(samples), boolean(samples), boolean(samples), boolean(o->marks), o->steps, p->index,
        sim_device_number(p), jit_level(o));
}

static size_t parameters_s(const struct sim_process *p, char *text, size_t size)
{
    const struct sim_options *o = p->o;
    const bool has_npu = o->kernels > 0, samples = has_npu && o->samplers;
    return (size_t)snprintf(
        text, size,
        "{\n    \"profiler_parameters\": {\n        \"output_path\": \"./data\",\n        \"profiler_level\": \"%s\",\n"
        "        \"activities\": [\n            \"CPU\"%s\n        ],\n        \"aicore_metrics\": \"%s\",\n"
        "        \"with_stack\": false,\n        \"profile_memory\": true,\n        \"data_process\": true,\n"
        "        \"parallel_strategy\": false,\n        \"start_profile\": false,\n        \"l2_cache\": %s,\n"
        "        \"hbm_ddr\": %s,\n        \"pcie\": %s,\n        \"sync_enable\": true,\n"
        "        \"data_simplification\": false,\n        \"mstx\": %s,\n        \"schedule\": {\n            "
        "\"wait\": 0,\n"
        "            \"active\": %u,\n            \"repeat\": 1,\n            \"skip_first\": 0,\n"
        "            \"skip_first_wait\": 0,\n            \"warm_up\": 0\n        },\n        \"is_set_schedule\": "
        "true\n    },\n"
        "    \"ms_profiler_info\": {\n        \"context_mode\": %d,\n        \"rank_id\": \"%u\"\n    },\n"
        "    \"cann_profiler_info\": {},\n    \"analysis_cost_time\": {},\n    \"ms_version\": \"2.5.0\",\n"
        "    \"context_mode\": %d,\n    \"jit_level\": \"%s\",\n    \"simulated\": true\n}",
        o->level0 ? "Level0" : "Level2", has_npu ? ",\n            \"NPU\"" : "", o->metrics, boolean(samples),
        boolean(samples), boolean(samples), boolean(o->marks), o->steps, o->jit == SIM_EAGER, p->index,
        o->jit == SIM_EAGER, jit_level(o));
}

static void ms_info_write(struct sim_ms *m)
{
    const struct sim_process *p = m->base.of;
    char text[INFO_MOST], name[64];
    const size_t n = (p->o->ms_generation == SIM_MS_N ? parameters_n : parameters_s)(p, text, sizeof text);
    snprintf(name, sizeof name, "profiler_info_%u.json", p->index);
    folder_file(&m->base.writer, FOLDER_SESSION, name, text, n);
    front_metadata_write(&m->base);
}

static const char GRAPH[] = "kernel_graph_0";

static bool is_graph(const struct sim_ms *m)
{
    return m->base.of->o->jit != SIM_EAGER;
}

static bool is_whole(const struct sim_ms *m) /* one launch for all kernels of a graph */
{
    return m->base.of->o->jit == SIM_JIT_O2;
}

static uint32_t ticks(struct sim_ms *m, uint32_t low, uint32_t high)
{
    return dice_between(&m->base.dice, low, high);
}

static void range_put(struct sim_ms *m, enum ms_thread t, uint64_t begin, uint64_t end, struct ms_range r)
{
    r.thread = m->base.of->pid + t;
    r.begin = begin;
    r.end = end;
    r.level = -1;
    ms_range_write(m, &r);
}

#define PLAIN(of, what, short, long)                                                                                   \
    ((struct ms_range){ .flow = MS_NO_FLOW, .module = (of), .event = (what), .name = (short), .full = (long)})
#define FLOWS(id, of, what, short, long)                                                                               \
    ((struct ms_range){ .flow = (id), .module = (of), .event = (what), .name = (short), .full = (long)})

static void stage_put(struct sim_ms *m, enum ms_thread t, uint64_t begin, uint64_t end, uint16_t stage)
{
    range_put(m, t, begin, end, (struct ms_range){ .flow = MS_NO_FLOW, .form = MS_FORM_STAGE, .stage = stage });
}

static void frame_put(struct sim_ms *m, uint64_t begin, uint64_t end, const char *name)
{
    range_put(m, MS_THREAD_MAIN, begin, end,
              (struct ms_range){ .flow = MS_NO_FLOW, .form = MS_FORM_STACK, .name = name });
}

/* Writes the begin of a flow, which ends at a range of a later thread. */
static uint64_t flow_begin(struct sim_ms *m, enum ms_thread t)
{
    const uint64_t begin = m->now[t], id = m->n_flows++;
    m->now[t] = begin + ticks(m, 10, 40);
    range_put(m, t, begin, m->now[t], FLOWS(id, 0, 0, "flow", "flow"));
    return id;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void name_op(struct sim_ms *m, struct ms_op *op, const char *name, const char *cell)
{
    static const char *const scope[] = { [FRONT_FORWARD] = "Default", [FRONT_BACKWARD] = "Gradients/Default" };
    enum { LAYERS = 4 };
    const enum front_phase phase = front_phase(&m->base);
    const unsigned long long number = m->n_ops++;
    op->name = name;
    op->flow = MS_NO_FLOW;
    if (!is_graph(m))
        snprintf(op->full, sizeof op->full, "%s", name);
    else if (!cell)
        snprintf(op->full, sizeof op->full, "Default/%s-op%llu", name, number);
    else if (phase == FRONT_OPTIMIZER)
        snprintf(op->full, sizeof op->full, "Default/network-TrainOneStepCell/optimizer-AdamWeightDecay/%s-op%llu",
                 name, number);
    else
        snprintf(
            op->full, sizeof op->full,
            "%s%s/network-TrainOneStepCell/network-WithLossCell/_backbone-Net/blocks-CellList/%u-Block/%s%s/%s-op%llu",
            phase == FRONT_BACKWARD && number % 13 == 0 ? "recompute_" : "",
            scope[phase == FRONT_BACKWARD && number % 13 == 0 ? FRONT_FORWARD : phase],
            (unsigned)(network_layer(front_position(&m->base), m->base.step.chunk) / 8 % LAYERS), cell,
            phase == FRONT_BACKWARD ? "/grad" : "", name, number);
}

/* Through the queues of eager execution; returns when the launching thread may have it. */
static uint64_t eager_run(struct sim_ms *m, struct ms_op *op)
{
    const enum ms_thread from = m->at, infers = MS_THREAD_FRONT_END, allocates = MS_THREAD_DEVICE;
    const uint64_t begin = m->now[from] + ticks(m, 15, 40);
    m->now[from] = begin + ticks(m, 20, 60);
    if (from == MS_THREAD_MAIN)
        range_put(m, from, begin + 5, m->now[from] - 2,
                  PLAIN(MS_MODULE_PYNATIVE, MS_EVENT_GIL_ACQUIRE, op->name, op->full));
    const uint64_t first = flow_begin(m, from);
    m->now[from] += ticks(m, 15, 60);
    range_put(m, from, begin, m->now[from],
              PLAIN(MS_MODULE_PYNATIVE, from == MS_THREAD_MAIN ? MS_EVENT_RUN_OP : MS_EVENT_RUN_EXPANDER, op->name,
                    op->full));

    const uint64_t infer = later(m->now[infers] + 8, m->now[from] + 10);
    m->now[infers] = infer + ticks(m, 40, 90);
    range_put(m, infers, infer + 6, m->now[infers],
              PLAIN(MS_MODULE_PYNATIVE, MS_EVENT_PYBOOST_INFER_OUTPUT, op->name, op->full));
    const uint64_t second = flow_begin(m, infers);
    range_put(m, infers, infer, ++m->now[infers],
              FLOWS(first, MS_MODULE_PYNATIVE, MS_EVENT_FRONTEND_TASK, op->name, op->full));

    const uint64_t allocate = later(m->now[allocates] + 8, m->now[infers] + 10);
    m->now[allocates] = allocate + ticks(m, 40, 90);
    range_put(m, allocates, allocate + 6, m->now[allocates],
              PLAIN(MS_MODULE_PYNATIVE, MS_EVENT_PYBOOST_MALLOC_OUTPUT, op->name, op->full));
    op->flow = flow_begin(m, allocates);
    range_put(m, allocates, allocate, ++m->now[allocates],
              FLOWS(second, MS_MODULE_PYNATIVE, MS_EVENT_DEVICE_TASK, op->name, op->full));
    return m->now[allocates] + ticks(m, 20, 60);
}

/* A graph that is run kernel by kernel: three threads, one behind the other. */
static uint64_t kernel_run(struct sim_ms *m, struct ms_op *op)
{
    static const struct {
        enum ms_thread thread;
        uint16_t event;
    } part[] = {
        { MS_THREAD_FRONT_END, MS_EVENT_KERNEL_INFER },
        { MS_THREAD_RESIZE, MS_EVENT_KERNEL_RESIZE },
        { MS_THREAD_DEVICE, MS_EVENT_MEMORY_ALLOC },
    };
    uint64_t from = m->now[m->at] += ticks(m, 10, 30);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        uint64_t *now = &m->now[part[i].thread];
        const uint64_t begin = later(*now + ticks(m, 8, 30), from + 8);
        from = *now = begin + ticks(m, 40, 150);
        range_put(m, part[i].thread, begin, from, PLAIN(MS_MODULE_RUNTIME, part[i].event, op->name, op->full));
    }
    return from + ticks(m, 20, 60);
}

static struct front_task task_put(struct sim_ms *m, const char *name, const char *cell)
{
    struct ms_op *op = &m->op[m->n_tasks % MS_TASKS];
    name_op(m, op, name, cell);
    if (is_whole(m))
        op->name = NULL;
    const uint64_t ready = is_whole(m)   ? (m->now[MS_THREAD_DEVICE] = m->now[m->at] += ticks(m, 60, 120))
                           : is_graph(m) ? kernel_run(m, op)
                                         : eager_run(m, op);
    return (struct front_task){ m->n_tasks++, ready, name };
}

static void gradient_begin(struct sim_ms *m)
{
    uint64_t *main = &m->now[MS_THREAD_MAIN];
    frame_put(m, m->forward_begin, *main, "model.py(42):nn.Cell.Net.__call__");
    if (is_graph(m))
        return;
    m->gradient_begin = *main += 30;
    m->gradient_flow = flow_begin(m, MS_THREAD_MAIN);
    m->now[MS_THREAD_GRADIENT] = later(m->now[MS_THREAD_GRADIENT], *main + 150); /* the time to wake up */
    m->at = MS_THREAD_GRADIENT;
}

static void gradient_end(struct sim_ms *m)
{
    if (m->at != MS_THREAD_GRADIENT)
        return;
    uint64_t *main = &m->now[MS_THREAD_MAIN];
    const uint64_t begin = m->gradient_begin, end = m->now[MS_THREAD_GRADIENT] + 20;
    range_put(m, MS_THREAD_GRADIENT, begin + 170, end,
              FLOWS(m->gradient_flow, MS_MODULE_PYNATIVE, MS_EVENT_BPROP_TASK, "Gradients", "Gradients"));
    stage_put(m, MS_THREAD_MAIN, begin, *main + 20, MS_STAGE_RUN_GRAD);
    const uint64_t waits = *main + 30;
    *main = later(waits + 20, end + 40);
    stage_put(m, MS_THREAD_MAIN, waits, *main, MS_STAGE_WAIT_PIPELINE);
    m->at = MS_THREAD_MAIN;
}

/* Kernels of the host: few, and each has a name of its own. */
static void host_kernels_run(struct sim_ms *m)
{
    static const char *const name[] = { "Unique", "Print" };
    const char *const scope[] = { "Default", "Default/network-TrainOneStepCell/network-WithLossCell/_backbone-Net" };
    uint64_t *now = &m->now[MS_THREAD_HOST_KERNELS];
    *now = later(*now, m->now[MS_THREAD_MAIN]);
    for (size_t i = 0; i < 2; i++) {
        slices_text(&m->out[MS_FILE_HOST_KERNELS], "%s/%s-op%u;HostCpuOps;", scope[i], name[i], m->base.step.number);
        for (unsigned times = 0; times <= i; times++) {
            const uint64_t begin = *now + ticks(m, 100, 900), taken = ticks(m, 600, 9000);
            slices_text(&m->out[MS_FILE_HOST_KERNELS], "%llu,%.6f,%u ", (unsigned long long)ms_wall_ns(m, begin),
                        (double)taken / (1000 * HOST_MHZ), m->base.of->pid + MS_THREAD_HOST_KERNELS);
            *now = begin + taken;
        }
        slices_text(&m->out[MS_FILE_HOST_KERNELS], "\n");
    }
}

static void shapes_put(struct sim_ms *m, const char *name)
{
    char text[64];
    const uint32_t columns = 256 * ticks(m, 1, 6);
    snprintf(text, sizeof text, "%u,%u;%u,%u", 32u << ticks(m, 0, 5), columns, columns, columns);
    ms_shapes_write(m, name, text, "BFloat16;Float32");
}

static struct front_task sim_ms_run(struct sim_front *f)
{
    struct sim_ms *m = (struct sim_ms *)f;
    const uint64_t stall = front_stall_ticks(f);
    if (stall > 0)
        ms_batch_write(m, stall);
    if (f->step.done == 0)
        m->forward_begin = m->now[MS_THREAD_MAIN] + 5;
    if (f->step.done == f->step.forward)
        gradient_begin(m);
    if (f->step.done == f->step.optimizer)
        gradient_end(m);
    const struct ms_cell *cell = &ms_cells[front_next(f)];
    const struct front_task task = task_put(m, cell->name, cell->path);
    ms_allocate(m, m->now[MS_THREAD_DEVICE], m->op[task.id % MS_TASKS].full, 512ull * ticks(m, 1, 8192));
    shapes_put(m, cell->name);
    return task;
}

static struct front_task collective(struct sim_front *f, size_t which)
{
    return task_put((struct sim_ms *)f, ms_collective_names[which], NULL);
}

static struct front_task sim_ms_copy(struct sim_front *f, unsigned direction)
{
    struct sim_ms *m = (struct sim_ms *)f;
    const uint64_t begin = m->now[m->at] + 20;
    m->now[m->at] = begin + ticks(m, 60, 200);
    range_put(m, m->at, begin, m->now[m->at], PLAIN(MS_MODULE_RUNTIME, MS_EVENT_COPY_DATA, "CopyData", "Data"));
    m->op[m->n_tasks % MS_TASKS].name = NULL;
    (void)direction;
    return (struct front_task){ m->n_tasks++, m->now[m->at], "CopyData" };
}

static struct front_task event(struct sim_front *f, bool is_wait)
{
    struct sim_ms *m = (struct sim_ms *)f;
    m->op[m->n_tasks % MS_TASKS].name = NULL;
    return (struct front_task){ m->n_tasks++, m->now[m->at], is_wait ? "wait_event" : "record_event" };
}

static void launched(struct sim_front *f, const struct front_task *task, uint64_t begin, uint64_t end)
{
    struct sim_ms *m = (struct sim_ms *)f;
    const struct ms_op *op = &m->op[task->id % MS_TASKS];
    if (!op->name)
        return;
    if (is_graph(m)) {
        range_put(m, MS_THREAD_LAUNCH, begin, end,
                  PLAIN(MS_MODULE_RUNTIME, MS_EVENT_KERNEL_LAUNCH, op->name, op->full));
        return;
    }
    range_put(m, MS_THREAD_LAUNCH, begin + 4, end - 2,
              PLAIN(MS_MODULE_KERNEL, MS_EVENT_ACLNN_HIT_CACHE_2, op->name, op->full));
    range_put(m, MS_THREAD_LAUNCH, begin, end,
              FLOWS(op->flow, MS_MODULE_PYNATIVE, MS_EVENT_LAUNCH_TASK, op->name, op->full));
}

static void pace(struct sim_front *f, uint64_t host_tick)
{
    struct sim_ms *m = (struct sim_ms *)f;
    m->now[m->at] = later(m->now[m->at], host_tick);
}

/* MindSpore has ranges of its own around the user's marks. */
static void sim_ms_mark(struct sim_front *f, uint32_t thread, uint64_t begin, bool is_range)
{
    struct sim_ms *m = (struct sim_ms *)f;
    ms_range_write(m, &(struct ms_range){ .thread = thread,
                                          .begin = begin - 1,
                                          .end = begin + 1,
                                          .flow = MS_NO_FLOW,
                                          .form = MS_FORM_GRAPH_DATA,
                                          .level = -1,
                                          .name = is_range ? "Range" : "Mark",
                                          .owner = "Ascend",
                                          .node = "Mstx" });
    struct ms_range point = PLAIN(MS_MODULE_OTHER, MS_EVENT_EXECUTE, "Mstx", is_range ? "RangeStart" : "Mark");
    point.thread = thread;
    point.begin = point.end = begin;
    point.level = -1;
    ms_range_write(m, &point);
}

static void step_begin(struct sim_front *f, uint64_t now)
{
    struct sim_ms *m = (struct sim_ms *)f;
    uint64_t *main = &m->now[MS_THREAD_MAIN];
    m->at = MS_THREAD_MAIN;
    *main = m->step_begin = later(*main, now);
    const uint64_t waits = ticks(m, 2000, 7000);
    ms_batch_write(m, waits);
    ms_batch_times_write(m, waits);
    m->forward_begin = *main += 20;
    if (is_graph(m)) {
        range_put(m, MS_THREAD_MAIN, *main + 5, *main + 60,
                  PLAIN(MS_MODULE_RUNTIME, MS_EVENT_INPUT_PROCESS, "InputProcess", GRAPH));
        *main += 70;
    }
    host_kernels_run(m);
}

static uint64_t step_end(struct sim_front *f, uint64_t now)
{
    struct sim_ms *m = (struct sim_ms *)f;
    uint64_t *main = &m->now[MS_THREAD_MAIN];
    char name[32];
    gradient_end(m);
    *main = later(*main, now);
    if (is_whole(m))
        range_put(m, MS_THREAD_MAIN, m->forward_begin, *main,
                  PLAIN(MS_MODULE_RUNTIME, MS_EVENT_GRAPH_LAUNCH, "GraphLaunch", GRAPH));
    if (is_graph(m))
        stage_put(m, MS_THREAD_MAIN, m->forward_begin, *main += 20, MS_STAGE_RUN_GRAPH);
    ms_release_all(m, *main);
    *main += ticks(m, 60, 200);
    frame_put(m, m->step_begin + 5, *main, "train.py(61):train_one_step");
    snprintf(name, sizeof name, "ProfilerStep#%u", f->step.number);
    *main += 10;
    range_put(m, MS_THREAD_MAIN, m->step_begin, *main, PLAIN(MS_MODULE_PYTHON, MS_EVENT_PYTHON_OBSERVED, name, name));
    return *main;
}

static void files_open(struct sim_front *f)
{
    struct sim_ms *m = (struct sim_ms *)f;
    for (size_t i = 0; i < MS_THREADS; i++)
        m->now[i] = f->begin;
    ms_files_open(m);
    ms_memory_open(m);
}

static void files_close(struct sim_front *f)
{
    struct sim_ms *m = (struct sim_ms *)f;
    ms_memory_close(m);
    ms_pipeline_write(m);
    ms_info_write(m);
    for (size_t i = 0; i < MS_FILES; i++)
        slices_fini(&m->out[i]);
}

const struct front_row ms_front = {
    .bytes = sizeof(struct sim_ms),
    .open = files_open,
    .close = files_close,
    .step_begin = step_begin,
    .step_end = step_end,
    .run = sim_ms_run,
    .collective = collective,
    .copy = sim_ms_copy,
    .event = event,
    .launched = launched,
    .pace = pace,
    .mark = sim_ms_mark,
};
