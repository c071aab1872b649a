/* SPDX-License-Identifier: Apache-2.0 */
/* os_trace.h - calls of the operating system, for a session that asks for them (host_sys=osrt): which way they are
 * recorded, and the thread that does so where it is not the program itself.
 *
 * System calls come from the kernel where it permits that (kernel_calls.h): it sees all of them. Else, or where the
 * user wants to pay less, from libc's functions, wrapped by the preloaded library (src/preload), which sees those that
 * cross from one object to another, at a thirtieth of the cost. Else from samples (call_samples.h). One of the three:
 * no call is recorded twice. Calls of the thread library always come from the preloaded library.
 */
#ifndef ASCOPE_COLLECT_OS_CALLS_OS_TRACE_H
#define ASCOPE_COLLECT_OS_CALLS_OS_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ascope/session.h"
#include "base/text/error.h"

struct os_trace;

/* What the preloaded library has to record, in a program that has it: enum os_call_kinds. Asked before the program
 * starts. */
uint32_t os_trace_wrapped(uint64_t how);

/* After rings_open(). Reports once how calls are recorded. NULL, and no error: the program does everything itself, or
 * nothing can be done. */
struct os_trace_of {
    pid_t pid;
    uint64_t how;              /* enum ascope_osrt */
    bool is_own;               /* this process */
    bool has_preloaded;        /* another one, which has the library */
    const char *not_preloaded; /* else why not; NULL: it was not tried */
};
struct os_trace *os_trace_start(const struct os_trace_of *of, struct error *e);
void os_trace_stop(struct os_trace *t); /* before the writer stops; NULL is fine */

#endif
