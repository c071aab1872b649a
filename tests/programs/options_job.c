/* SPDX-License-Identifier: Apache-2.0 */
/* A training on the simulated NPU, for tests of options: options_job JSON [MS]. It does everything that an option can
 * record: a graph with a fused operator, three iterations of kernels, operators of the AI CPU, copies, collectives,
 * memory, marks. It lasts at least so many milliseconds. Prints the collection's path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ascope/ascope.h>
#include <ascope/sim.h>

enum { ITERATIONS = 3, MODEL = 1 };

static void launch(const char *type, const char *name)
{
    const struct ascope_sim_tensor t = { ASCOPE_SIM_FLOAT16, 2, { 64, 64 } }, in[] = { t, t };
    ascope_sim_launch(NULL, &(struct ascope_sim_kernel){ type, name, in, &t, 2, 1 });
}

static void load(void)
{
    static const char *const from[] = { "forward/product", "forward/bias", "forward/relu" };
    const struct ascope_sim_node nodes[] = {
        { .name = "get_next", .out_bytes = 8192 },
        { .name = "forward",
          from,
          3,
          .in_bytes = 16384,
          .out_bytes = 8192,
          .weight_bytes = 65536,
          .workspace_bytes = 512 },
        { .name = "backward", .in_bytes = 16384, .out_bytes = 8192 },
    };
    ascope_sim_graph_load(MODEL, "training", nodes, sizeof nodes / sizeof *nodes);
}

static void iteration(struct ascope_sim_stream *side, struct ascope_sim_event *ready)
{
    const uint64_t block = ascope_sim_malloc(0, 1 << 20), range = ascope_range_begin(NULL, "iteration", NULL);
    ascope_sim_iteration_begin(NULL, MODEL);
    ascope_sim_copy(NULL, ASCOPE_SIM_HOST_TO_DEVICE, 4096);
    launch("GetNext", "get_next");
    launch("Cast", "input_cast");
    launch("MatMulV2", "forward");
    launch("Unique", "labels");
    launch("MatMulV2", "backward");
    launch("Mul", "gradients");
    ascope_sim_event_record(ready, NULL);
    ascope_sim_event_wait(ready, side);
    ascope_sim_collective(side, "AllReduce", NULL, 1 << 20, ASCOPE_SIM_FLOAT16);
    ascope_sim_event_record(ready, side);
    ascope_sim_event_wait(ready, NULL);
    launch("ApplyMomentum", "update");
    ascope_sim_iteration_end(NULL, MODEL);
    ascope_sim_synchronize(NULL);
    ascope_sim_free(0, block);
    ascope_range_end(NULL, range);
}

static void last(long ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
        continue;
}

int main(int argc, char **argv)
{
    struct ascope_error e = { "" };
    struct ascope_options o;
    bool is_on = false;
    if (argc < 2)
        return 2;
    ascope_options_init(&o);
    o.device = "sim";
    if (!ascope_options_load_text(&o, argv[1], strlen(argv[1]), 0, &is_on, &e) || !is_on) {
        fprintf(stderr, "%s\n", is_on ? e.text : "profiling is off");
        return 1;
    }
    struct ascope_session *s = ascope_session_new(&o, &e);
    struct ascope_sim_stream *side = ascope_sim_stream_new(0);
    struct ascope_sim_event *ready = ascope_sim_event_new();
    if (s && ascope_session_start(s, &e)) {
        load();
        for (int i = 0; i < ITERATIONS; i++)
            iteration(side, ready);
        if (argc > 2)
            last(strtol(argv[2], NULL, 10));
        puts(ascope_session_path(s));
    }
    ascope_sim_event_free(ready);
    if (!s || !ascope_session_end(s, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    return 0;
}
