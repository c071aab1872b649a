/* SPDX-License-Identifier: Apache-2.0 */
/* flight.c - a program with a flight recorder: it records all the time, and keeps what happened before a slow step.
 *
 *     flight [DIR [STEPS]]; ascope analyse DIR
 *
 * The history never needs more than 16 MiB, however long the program runs. Besides the slow step, SIGUSR2 and
 * `ascope dyn DIR save` save, and after kill -9 `ascope analyse DIR` finds the last seconds.
 */
#include <ascope/ascope.h>
#include <ascope/sim.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void train(void)
{
    static const struct ascope_sim_tensor t = { ASCOPE_SIM_FLOAT, 1, { 4096 } };
    const struct ascope_sim_kernel kernel = { "Add", NULL, &t, &t, 1, 1 };
    struct ascope_op op;
    ascope_op_begin(&op, "aten::add");
    ascope_sim_launch(NULL, &kernel);
    ascope_op_end(&op);
    ascope_sim_synchronize(NULL);
}

int main(int n, char **arg)
{
    const long n_steps = n > 2 ? atol(arg[2]) : 200;
    struct ascope_error e;
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "sim";
    const struct ascope_flight how = { .size = sizeof how,
                                       .signal = SIGUSR2,
                                       .keep_ns = 30000000000, /* 30 s */
                                       .memory_bytes = 16 << 20,
                                       .slow_step = 1.5 };
    if (!ascope_flight_start(&o, &how, &e)) {
        fprintf(stderr, "flight: %s\n", e.text);
        return 1;
    }
    for (long i = 0; i < n_steps; i++) {
        train();
        if (i == n_steps / 2)
            nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL); /* what nobody expected */
        ascope_flight_step();
    }
    while (ascope_flight_saves(NULL, 0) == 0) /* a save takes a moment */
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    char path[4096];
    if (!ascope_flight_save(0, "the end", path, sizeof path, &e) || !ascope_flight_stop(&e)) {
        fprintf(stderr, "flight: %s\n", e.text);
        return 1;
    }
    printf("%s\n", path);
    return 0;
}
