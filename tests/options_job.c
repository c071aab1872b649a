/* SPDX-License-Identifier: Apache-2.0 */
/* A training on the simulated NPU, for tests of options: options_job JSON [acl]. It does everything that an option can record: three
 * iterations of kernels, an operator of the AI CPU, copies, collectives, memory, marks. Prints the collection's path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ascope/ascope.h>
#include <ascope/sim.h>

enum { ITERATIONS = 3, MODEL = 1 };

static void launch(const char *type, const char *name)
{
    const struct ascope_sim_tensor t = { ASCOPE_SIM_FLOAT16, 2, { 64, 64 } }, in[] = { t, t };
    ascope_sim_launch(NULL, &(struct ascope_sim_kernel){ type, name, in, &t, 2, 1 });
}

static void iteration(struct ascope_sim_stream *side, struct ascope_sim_event *ready)
{
    const uint64_t block = ascope_sim_malloc(0, 1 << 20), range = ascope_range_begin(NULL, "iteration", NULL);
    ascope_sim_iteration_begin(NULL, MODEL);
    ascope_sim_copy(NULL, ASCOPE_SIM_HOST_TO_DEVICE, 4096);
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
        for (int i = 0; i < ITERATIONS; i++)
            iteration(side, ready);
        puts(ascope_session_path(s));
    }
    ascope_sim_event_free(ready);
    if (!s || !ascope_session_end(s, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    return 0;
}
