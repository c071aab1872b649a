/* SPDX-License-Identifier: Apache-2.0 */
/* A job on the simulated NPU, for tests of whole recordings: sim_job DIR LEVEL LAUNCHES [SESSIONS]. Prints the
 * collections' paths. */
#include <stdio.h>
#include <stdlib.h>

#include <ascope/ascope.h>
#include <ascope/sim.h>

enum { COLLECTIVE_EVERY = 10, SYNCHRONIZE_EVERY = 50, FEW = 1000 };

static struct ascope_sim_tensor matrix(uint32_t rows, uint32_t columns)
{
    return (struct ascope_sim_tensor){ ASCOPE_SIM_BF16, 2, { rows, columns } };
}

static void launch(struct ascope_sim_stream *s, long i)
{
    static const char *const type[] = { "MatMulV2", "Add", "FlashAttentionScore", "SoftmaxV2", "MyOwn" };
    const struct ascope_sim_tensor t = matrix(64, 64), in[] = { t, t };
    char name[64];
    snprintf(name, sizeof name, "kernel %ld", i);
    ascope_sim_launch(s, &(struct ascope_sim_kernel){ type[i % 5], i % 7 ? NULL : name, in, &t, 2, 1 });
}

static void work(struct ascope_sim_stream *main_stream, struct ascope_sim_stream *side, long launches)
{
    struct ascope_sim_event *event = ascope_sim_event_new();
    const uint64_t block = ascope_sim_malloc(0, 1 << 20);
    for (long i = 0; i < launches; i++) {
        launch(i % 4 ? main_stream : side, i);
        if (i % COLLECTIVE_EVERY == 0 && launches <= FEW) {
            ascope_sim_event_record(event, main_stream);
            ascope_sim_event_wait(event, side);
            ascope_sim_collective(side, "AllReduce", NULL, 1 << 20, ASCOPE_SIM_BF16);
            ascope_sim_copy(main_stream, ASCOPE_SIM_DEVICE_TO_HOST, 4096);
        }
        if (i % SYNCHRONIZE_EVERY == 0)
            ascope_sim_synchronize(main_stream);
    }
    ascope_sim_free(0, block);
    ascope_sim_event_free(event);
}

int main(int argc, char **argv)
{
    struct ascope_error e = { "" };
    struct ascope_options o;
    if (argc < 4)
        return 2;
    const long launches = strtol(argv[3], NULL, 10), sessions = argc > 4 ? strtol(argv[4], NULL, 10) : 1;
    ascope_options_init(&o);
    o.parent_dir = argv[1];
    o.device = "sim";
    o.level = (uint32_t)strtoul(argv[2], NULL, 10);
    o.metrics = ASCOPE_METRICS_BY_LEVEL;
    o.profile_memory = true;
    o.ring_kb = launches > FEW ? 1 << 15 : 0; /* whatever else the machine does meanwhile */
    struct ascope_sim_stream *main_stream = ascope_sim_stream_new(0), *side = ascope_sim_stream_new(0);
    for (long i = 0; i < sessions; i++) {
        launch(main_stream, 0); /* before it is recorded */
        struct ascope_session *s = ascope_session_new(&o, &e);
        if (s && ascope_session_start(s, &e)) {
            work(main_stream, side, launches);
            puts(ascope_session_path(s));
        }
        if (!s || !ascope_session_stop(s, &e) || !ascope_session_end(s, &e)) {
            fprintf(stderr, "%s\n", e.text);
            return 1;
        }
    }
    return 0;
}
