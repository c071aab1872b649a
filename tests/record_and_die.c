/* SPDX-License-Identifier: Apache-2.0 */
/* A program that records a thousand operators and ten marks, leaves a range open, and ends as requested.
 *
 *     record_and_die PARENT kill|wait|stop [RING_DIR]
 *
 * Prints the directory of its collection when everything is recorded. wait: until it is killed, or stdin ends. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ascope/ascope.h"

int main(int argc, char **argv)
{
    struct ascope_options o;
    struct ascope_error e;
    if (argc < 3)
        return 2;
    ascope_options_init(&o);
    o.parent_dir = argv[1];
    o.device = "sim";
    o.mstx = true;
    o.ring_dir = argc > 3 ? argv[3] : NULL;
    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    for (int i = 0; i < 1000; i++) {
        struct ascope_op op;
        ascope_op_begin(&op, "aten::add");
        ascope_op_end(&op);
        if (i % 100 == 0)
            ascope_mark(NULL, "mark", NULL);
    }
    ascope_range_begin(NULL, "open", NULL);
    printf("%s\n", ascope_session_path(s));
    fflush(stdout);
    if (strcmp(argv[2], "kill") == 0)
        raise(SIGKILL);
    char byte;
    if (strcmp(argv[2], "wait") == 0 && read(0, &byte, 1) > 0)
        return 1;
    return ascope_session_stop(s, &e) && ascope_session_end(s, &e) ? 0 : 1;
}
