/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic.c - a job whose profiling is started while it runs.
 *
 *     dynamic CONFIG_DIR [STEPS [MILLISECONDS_OF_A_STEP]]
 *
 * Start it, then edit CONFIG_DIR/profiler_config.json from another terminal (start_step -1: the next step), or run
 * `ascope dyn CONFIG_DIR start --steps 3`. The collection appears in prof_dir; the loop itself never asks whether it is
 * recorded.
 */
#include <ascope/ascope.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void train(long ms)
{
    struct ascope_op op;
    ascope_op_begin(&op, "train");
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
    ascope_op_end(&op);
}

int main(int n, char **arg)
{
    const long steps = n > 2 ? strtol(arg[2], NULL, 10) : 1000, ms = n > 3 ? strtol(arg[3], NULL, 10) : 100;
    struct ascope_dynamic_setup setup = { .size = sizeof setup, .path = n > 1 ? arg[1] : "profiler_config" };
    struct ascope_error e;
    if (!ascope_dynamic_init(&setup, &e))
        fprintf(stderr, "%s\n", e.text); /* the job runs without */

    for (long i = 0; i < steps; i++) {
        train(ms);
        ascope_dynamic_step();
    }
    ascope_dynamic_end();
    return 0;
}
