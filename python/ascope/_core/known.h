/* SPDX-License-Identifier: Apache-2.0 */
/* known.h - callables of Python: code, C functions and modules, each with its number in records and its text.
 *
 * The table is empty at the start of a session. A new callable gets the next number, and its text is recorded. With the
 * GIL; entries keep their address until known_end() and may be read without it. NULL: no memory.
 */
#ifndef ASCOPE_PYTHON_KNOWN_H
#define ASCOPE_PYTHON_KNOWN_H

#include "versions.h"
#include <stdbool.h>
#include <stdint.h>

/* For functions that are rarely called, or have large arrays: they are not inlined into the path of every call. */
#define APART __attribute__((noinline))

enum { KNOWN_TEXT_MOST = 2000 }; /* of a path, and of a function */

struct known {
    uint64_t key;
    const void *what, *also; /* identify the callable: addresses of its code, method or module */
    PyObject *kept;          /* keeps the address in use while it is known; NULL: not referenced */
    char *path, *function;   /* of code, for stacks: "/opt/train.py(", "): main" */
    uint32_t path_n, function_n;
    char *module; /* "Linear_3"; NULL: is no module */
    uint32_t module_n;
    bool calls_module,
        steps_optimizer; /* it is the code that the framework calls every module, ends every optimizer's step with */
    bool is_recorded;    /* the parameters of a module or an optimizer */
    bool is_ours;        /* `python3 -m ascope run` and the NPU emulation: neither recorded nor in stacks */
};

/* Code of the framework; NULL: none. The words are those of its own profiler. */
void known_begin(bool is_mindspore, PyObject *module_call, PyObject *optimizer_step);
void known_end(void);

const struct known *known_exit(void); /* the entry that stands for every return */
struct known *known_code(PyCodeObject *code);
struct known *known_c(PyObject *function);
struct known *known_module(const struct known *code, PyObject *module);
/* Another number with the words of this one. */
struct known *known_again(const struct known *code);
/* Of a call: the module where it is the call of one, else the code; *code (unless NULL) is the code in both cases. */
struct known *known_frame(PyFrameObject *frame, const struct known **code);

/* The first argument of a call that has just begun; a new reference, or NULL without an error. */
PyObject *frame_first_argument(PyFrameObject *frame);
/* Which instruction it is at. Without the GIL for the thread's own. */
int frame_instruction(PyFrameObject *frame);

#endif
