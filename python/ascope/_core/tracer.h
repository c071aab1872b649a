/* SPDX-License-Identifier: Apache-2.0 */
/* tracer.h - which threads of the interpreter are traced. With the GIL. */
#ifndef ASCOPE_PYTHON_TRACER_H
#define ASCOPE_PYTHON_TRACER_H

#include "versions.h"

/* The newest of the interpreter's threads when they were all looked at. Another one: a thread may not be traced yet. */
extern PyThreadState *tracer_newest_thread;

/* Sets calls_trace() in all threads that were never traced in this recording and have no other profiler, and notes
 * their stacks. */
void tracer_set_all_threads(void);

#endif
