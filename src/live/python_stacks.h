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

#include "base/memory/keys.h"

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
    LIST(struct python_thread) thread;
};

/* Offsets within the structures of CPython: pycore_runtime.h, pycore_interp.h, pystate.h, pycore_frame.h, code.h. */
struct python_layout {
    unsigned minor;               /* of Python 3 */
    bool is_described;            /* those of the interpreter are in a table at the begin of _PyRuntime */
    uint16_t gil, holder, locked; /* gil: of the interpreter's pointer to it; 0: it is in _PyRuntime */
    uint16_t interpreters;        /* in _PyRuntime */
    uint16_t next, threads;       /* of an interpreter */
    uint16_t thread_next, native_id;
    uint16_t thread_frame,
        cframe; /* cframe: the former is of a structure that has the frame here; NO_CFRAME: of the frame */
    uint16_t previous, code, instruction, owner;
    uint16_t ascii, wide;                                 /* characters of a text: of ASCII, of others */
    uint16_t file, name, first_line, lines, instructions; /* of a code object */
};

/* Code objects whose names were read; their addresses may be used again, by another one. */
struct python_code {
    uint64_t file_at, name_at;
    const char *file, *function;
};

/* A process whose stacks are read again and again. */
struct python_process {
    pid_t pid;
    bool is_python;
    const char *why_not; /* NULL: they can be read */
    uint64_t runtime;
    struct python_layout layout;
    struct keys code_at;
    LIST(struct python_code) code;
    struct arena *kept; /* the names */
};

void python_open(struct python_process *p, pid_t pid, struct arena *kept); /* nothing to close */

/* Lines are where each frame is; FIRST_LINES, which costs less, are where its function begins. */
enum python_lines { PYTHON_LINES, PYTHON_FIRST_LINES };

/* False: no memory. */
bool python_stacks_read(struct python_stacks *out, struct python_process *p, enum python_lines lines,
                        struct arena *mem);

/* For tests: the line of an instruction, by a table of locations (3.11 and later). */
int64_t python_line(const uint8_t *table, size_t n, int64_t first_line, uint64_t at);

#endif
