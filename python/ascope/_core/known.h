/* known.h - what Python calls: code, C functions and modules, each with its number in records and its words.
 *
 * A session begins with nothing known. What is met for the first time gets the next number, and the session is told
 * its words. All of it with the GIL; what was given stays where it is until known_end(), and may be read without.
 * NULL: no memory.
 */
#ifndef ASCOPE_PYTHON_KNOWN_H
#define ASCOPE_PYTHON_KNOWN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

enum { KNOWN_TEXT_MOST = 2000 }; /* of a path, and of a function */

struct known {
    uint64_t key;
    const void *what, *also; /* which it is */
    PyObject *kept;          /* while it is known nothing else can come to lie where it lies; NULL: not in our hands */
    char *path, *function;   /* of code, for stacks: "/opt/train.py(", "): main" */
    uint32_t path_n, function_n;
    char *module; /* "Linear_3"; NULL: is no module */
    uint32_t module_n;
    bool calls_module,
        steps_optimizer; /* it is the code that PyTorch calls every module, ends every optimizer's step with */
    bool is_told;        /* what it holds: a module, an optimizer */
    bool is_ours;        /* `python3 -m ascope run` and the NPU stand-in: neither recorded nor in stacks */
};

void known_begin(PyObject *module_call, PyObject *optimizer_step); /* code of PyTorch; NULL: none */
void known_end(void);

const struct known *known_exit(void); /* the one of all returns */
struct known *known_code(PyCodeObject *code);
struct known *known_c(PyObject *function);
struct known *known_module(const struct known *code, PyObject *module);
/* Another number with the words of this one. */
struct known *known_again(const struct known *code);

/* The first argument of a call that has just begun; a new reference, or NULL without an error. */
PyObject *frame_first_argument(PyFrameObject *frame);
/* Which instruction it is at. Without the GIL for the thread's own. */
int frame_instruction(PyFrameObject *frame);

#endif
