/* SPDX-License-Identifier: Apache-2.0 */
/* A C job that listens to a directory, for test_dynamic_exit.py.
 *
 *     listening_job CONFIG_DIR
 *
 * A step for each line of stdin, with the operator "train"; it prints whether a collection is running. At the end of
 * stdin it calls exit(3), and nothing of ascope. */
#include <stdio.h>
#include <stdlib.h>

#include "ascope/ascope.h"

int main(int argc, char **argv)
{
    struct ascope_error e;
    const struct ascope_dynamic_setup setup = { .size = sizeof setup, .path = argc > 1 ? argv[1] : NULL };
    if (!ascope_dynamic_init(&setup, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    for (char line[80]; puts(ascope_dynamic_state() == ASCOPE_DYNAMIC_RUNNING ? "runs" : "idle"), fflush(stdout),
                        fgets(line, sizeof line, stdin);) {
        struct ascope_op op;
        ascope_op_begin(&op, "train");
        ascope_op_end(&op);
        ascope_dynamic_step();
    }
    exit(3);
}
