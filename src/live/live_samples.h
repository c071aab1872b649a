/* SPDX-License-Identifier: Apache-2.0 */
/* live_samples.h - where the threads of a process and its descendants spend their time: stacks of Python, looked at many
 * times a second from outside (remote_memory.h).
 *
 * A sample of a thread counts as *on* if the kernel says that it runs or is ready to (state R), otherwise as *off*: it
 * waits. A stack is text: the process, the thread, then frames from the outermost one on, joined by ";".
 */
#ifndef ASCOPE_LIVE_LIVE_SAMPLES_H
#define ASCOPE_LIVE_LIVE_SAMPLES_H

#include "base/memory/names.h"
#include "live/python_stacks.h"

struct live_counts {
    uint64_t on, off;
};

/* By name_id, of as many names as there are; most are zero. */
struct live_table {
    LIST(struct live_counts) row;
};

struct live_samples {
    struct names *names;
    struct live_table stack;
    struct live_table self, total;   /* of a frame: it is the innermost one; it is in the stack */
    struct live_counts all;          /* samples of threads */
    uint64_t n_ticks, n_late;        /* late: left out, because the one before took too long */
    uint64_t n_processes, n_threads; /* in the last tick */
    double seconds;
    const char *why_not; /* no stack was read: the reason of the last process */
    struct arena *mem;
};

/* Owner: the caller, live_samples_fini(). False: no memory. */
bool live_samples_init(struct live_samples *s);
void live_samples_fini(struct live_samples *s);

/* Until the time is over or the root has ended. False: no memory. */
bool live_samples_take(struct live_samples *s, pid_t root, double hz, double seconds);

#endif
