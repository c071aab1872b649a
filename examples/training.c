/* SPDX-License-Identifier: Apache-2.0 */
/* training.c - a training loop on a simulated NPU, with everything that can be recorded of one.
 *
 *     training [DIR [NAME VALUE]...]      options by their documented names: training out profiler_level Level2
 *
 * Of six steps the first waits, the second warms up, three are recorded into a directory, whose path is printed. The
 * loop itself is the same with and without: it never asks whether it is recorded.
 */
#include <ascope/ascope.h>
#include <ascope/sim.h>

#include <stdio.h>

enum { STEPS = 6, LAYERS = 3, SIDE = 512, TENSOR_BYTES = SIDE * SIDE * 4, POOL_BYTES = 64 << 20 };

static struct ascope_sim_stream *compute, *network;
static struct ascope_sim_event *gradients, *reduced;
static struct ascope_domain *loading, *model;
static int64_t allocated_bytes, next_sequence;
static uint64_t pool;

/* An operator, which launches a kernel. A backward one has the sequence number of its forward one: that ties the two. */
static void run(const char *name, const char *kernel, enum ascope_scope scope, int64_t sequence)
{
    const struct ascope_sim_tensor square = { ASCOPE_SIM_FLOAT, 2, { SIDE, SIDE } }, in[] = { square, square };
    const struct ascope_sim_kernel k = { .type = kernel, .in = in, .n_in = 2, .out = &square, .n_out = 1 };
    struct ascope_op op;
    ascope_op_begin(&op, name);
    ascope_sim_launch(compute, &k); /* returns at once: the device comes to it later */
    op.types = ascope_text_of("float;float");
    op.shapes = ascope_text_of("512,512;512,512");
    op.scope = (uint8_t)scope;
    op.sequence = sequence;
    op.forward_thread = scope == ASCOPE_SCOPE_BACKWARD;
    ascope_op_end(&op);
}

/* The framework's allocator reports what it hands out of its pool, and gets back. */
static void record_memory(uint64_t at, int64_t bytes, enum ascope_memory_event event)
{
    allocated_bytes += event == ASCOPE_BLOCK_FREE ? 0 : bytes;
    struct ascope_memory m = { .size = sizeof m, .pointer = at, .size_bytes = bytes, .device_type = ASCOPE_ON_NPU };
    m.allocated_bytes = m.active_bytes = allocated_bytes;
    m.reserved_bytes = POOL_BYTES;
    m.event = (uint8_t)event;
    ascope_memory(&m);
}

static void train(unsigned step)
{
    uint64_t range = ascope_range_begin(loading, "next batch", NULL);
    ascope_sim_copy(compute, ASCOPE_SIM_HOST_TO_DEVICE, TENSOR_BYTES);
    ascope_range_end(loading, range);

    range = ascope_range_begin(model, "forward", compute); /* with a stream: on the device, too */
    for (int i = 0; i < LAYERS; i++) {
        struct ascope_op layer;
        ascope_op_begin(&layer, "layer"); /* encloses the two */
        record_memory(pool + (uint64_t)i * TENSOR_BYTES, TENSOR_BYTES, ASCOPE_MALLOC);
        run("aten::mm", "MatMul", ASCOPE_SCOPE_FUNCTION, next_sequence + i);
        run("aten::relu", "Relu", ASCOPE_SCOPE_FUNCTION, -1);
        ascope_op_end(&layer);
    }
    ascope_range_end(model, range);

    for (int i = LAYERS; i-- > 0;) {
        run("MmBackward0", "MatMul", ASCOPE_SCOPE_BACKWARD, next_sequence + i);
        record_memory(pool + (uint64_t)i * TENSOR_BYTES, -TENSOR_BYTES, ASCOPE_BLOCK_FREE);
        record_memory(pool + (uint64_t)i * TENSOR_BYTES, -TENSOR_BYTES, ASCOPE_FREE);
    }
    next_sequence += LAYERS;
    ascope_sim_event_record(gradients, compute);
    ascope_sim_event_wait(gradients, network);
    ascope_sim_collective(network, "AllReduce", "world", LAYERS * TENSOR_BYTES, ASCOPE_SIM_FLOAT);
    ascope_sim_event_record(reduced, network);
    ascope_sim_event_wait(reduced, compute);
    run("aten::_fused_adam_", "ApplyAdam", ASCOPE_SCOPE_FUNCTION, -1);
    ascope_sim_copy(compute, ASCOPE_SIM_DEVICE_TO_HOST, 4);
    ascope_sim_synchronize(compute);

    char text[40];
    snprintf(text, sizeof text, "loss after step %u: %.3f", step, 1.0 / (1 + step));
    ascope_mark(model, text, NULL);
}

static void print_path(const char *path, void *unused)
{
    (void)unused;
    printf("%s\n", path);
}

int main(int n, char **arg)
{
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "sim";
    o.level = ASCOPE_LEVEL1;
    o.metrics = ASCOPE_PIPE_UTILIZATION;
    o.record_shapes = o.profile_memory = o.mstx = true;
    for (int i = 2; i + 1 < n; i += 2)
        ascope_options_set(&o, arg[i], arg[i + 1]);

    compute = ascope_sim_stream_new(0);
    network = ascope_sim_stream_new(0);
    gradients = ascope_sim_event_new();
    reduced = ascope_sim_event_new();
    pool = ascope_sim_malloc(0, POOL_BYTES);
    loading = ascope_domain_get("loading");
    model = ascope_domain_get("model");

    const struct ascope_schedule plan = { .size = sizeof plan, .wait = 1, .warmup = 1, .active = 3, .repeat = 1 };
    struct ascope_profiler *p = ascope_profiler_new(&o, &plan, print_path, NULL);
    ascope_profiler_start(p);
    for (unsigned step = 0; step < STEPS; step++) {
        train(step);
        ascope_profiler_step(p);
    }
    ascope_profiler_stop(p);
    ascope_profiler_free(p);
    ascope_sim_stream_free(network);
    ascope_sim_stream_free(compute);
    return 0;
}
