/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - records calls and returns of Python: the profile function of the interpreter's threads. With the GIL. */
#ifndef ASCOPE_PYTHON_CALLS_H
#define ASCOPE_PYTHON_CALLS_H

#include "versions.h"
#include <stdbool.h>

int calls_trace(PyObject *unused, PyFrameObject *frame, int what, PyObject *arg);

/* The same as a Python function, for the module threading and for sys.getprofile(): its first call in a thread sets
 * calls_trace() there. Owned by calls.c. */
extern PyObject *calls_hook;
bool calls_prepare(void); /* once; false: a Python error is set */

#endif
