/* SPDX-License-Identifier: Apache-2.0 */
/* A program that records a thousand operators and ten marks, leaves a range open, and ends as requested.
 *
 *     record_and_die PARENT kill|wait|copy|close|stop [RING_DIR]
 *
 * Prints the directory of its collection when everything is recorded. wait: until it is killed, or stdin ends. copy:
 * the same, after it has opened and closed every file of its collection, as a copy does; close: after it has closed
 * every descriptor but the first three. */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ascope/ascope.h"

static int read_one(const char *path, const struct stat *st, int kind, struct FTW *unused)
{
    char byte;
    const int fd = kind == FTW_F ? open(path, O_RDONLY) : -1;
    const bool is_read = kind != FTW_F || (fd >= 0 && read(fd, &byte, 1) >= 0);
    if (fd >= 0)
        close(fd);
    (void)st;
    (void)unused;
    return is_read ? 0 : 1;
}

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
    if (strcmp(argv[2], "copy") == 0 && nftw(ascope_session_path(s), read_one, 8, FTW_PHYS) != 0)
        return 1;
    for (int fd = 3; strcmp(argv[2], "close") == 0 && fd < sysconf(_SC_OPEN_MAX); fd++)
        close(fd);
    printf("%s\n", ascope_session_path(s));
    fflush(stdout);
    if (strcmp(argv[2], "kill") == 0)
        raise(SIGKILL);
    char byte;
    if (strcmp(argv[2], "stop") != 0 && read(0, &byte, 1) > 0)
        return 1;
    return ascope_session_stop(s, &e) && ascope_session_end(s, &e) ? 0 : 1;
}
