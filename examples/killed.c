/* SPDX-License-Identifier: Apache-2.0 */
/* killed.c - a program that dies while it is recorded. Nothing that it recorded is lost.
 *
 *     killed [DIR [OPERATORS]]; ascope analyse DIR
 *
 * Records lie in a file that is mapped into memory, which outlives the process. `ascope analyse` sees that the
 * collection was never ended, finishes it, and says so.
 */
#include <ascope/ascope.h>
#include <ascope/sim.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int n, char **arg)
{
    const long n_operators = n > 2 ? atol(arg[2]) : 1000;
    struct ascope_error e;
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "sim";
    o.mstx = true;

    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e)) {
        fprintf(stderr, "killed: %s\n", e.text);
        return 1;
    }
    printf("%s\n", ascope_session_path(s));
    fflush(stdout);

    static const struct ascope_sim_tensor t = { ASCOPE_SIM_FLOAT, 1, { 4096 } };
    const struct ascope_sim_kernel kernel = { "Add", NULL, &t, &t, 1, 1 };
    ascope_range_begin(NULL, "never ended", NULL);
    for (long i = 0; i < n_operators; i++) {
        struct ascope_op op;
        ascope_op_begin(&op, "aten::add");
        ascope_sim_launch(NULL, &kernel);
        ascope_op_end(&op);
    }
    ascope_sim_synchronize(NULL);
    ascope_mark(NULL, "the last thing that it did", NULL);
    raise(SIGKILL);
    return 0;
}
