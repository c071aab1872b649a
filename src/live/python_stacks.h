/* SPDX-License-Identifier: Apache-2.0 */
/* python_stacks.h - where the threads of a Python process are, read from outside.
 *
 * The interpreter's own structures are read by tables of offsets, a row for each version that was tested. The process
 * does nothing for it (remote_memory.h): stacks of one that holds its GIL for ever, or is stopped, are read, too. While a
 * thread runs, its frames change: what was read is bounded, and may be of two moments.
 */
#ifndef ASCOPE_LIVE_PYTHON_STACKS_H
#define ASCOPE_LIVE_PYTHON_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/memory/arena.h"

struct live_frame {
    const char *file, *function;
    int64_t line;
};

struct python_thread {
    pid_t tid;
    bool holds_gil;
    LIST(struct live_frame) frame; /* innermost first */
};

struct python_stacks {
    bool is_python;
    unsigned major, minor;
    const char *why_not; /* NULL: they were read */
    LIST(struct python_thread) thread;
};

/* False: no memory. */
bool python_stacks_read(struct python_stacks *out, pid_t pid, struct arena *mem);

/* For tests: the line of an instruction, by a table of locations (3.11 and later). */
int64_t python_line(const uint8_t *table, size_t n, int64_t first_line, uint64_t at);

#endif
