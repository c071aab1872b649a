/* SPDX-License-Identifier: Apache-2.0 */
/* A program that has the session in itself, for test_os_calls.c: `os_calls_inside DIR N [OSRT]` writes N times while it
 * records, and prints where. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ascope/ascope.h"

static int no_session(const struct ascope_error *e)
{
    fprintf(stderr, "%s\n", e->text);
    return 1;
}

int main(int argc, char **argv)
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    const int n = argc > 2 ? atoi(argv[2]) : 0, null_fd = open("/dev/null", O_WRONLY);
    ascope_options_init(&o);
    o.layout = ASCOPE_LAYOUT_PROF;
    o.parent_dir = argv[1];
    o.device = "none";
    ascope_options_set(&o, "host_sys", "mem,osrt");
    ascope_options_set(&o, "osrt", argc > 3 ? argv[3] : "auto");
    struct ascope_session *const s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e))
        return no_session(&e);
    for (int i = 0; i < n; i++)
        if (write(null_fd, "x", 1) != 1)
            return 2;
    usleep(50000); /* the writer and the sampler make calls, too */
    printf("%s", ascope_session_path(s));
    if (!ascope_session_stop(s, &e) || !ascope_session_end(s, &e))
        return no_session(&e);
    return write(null_fd, "x", 1) != 1; /* which nobody records */
}
