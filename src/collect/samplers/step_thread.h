/* SPDX-License-Identifier: Apache-2.0 */
/* step_thread.h - what the thread of a training step did: it was on a processor, waited for one, or was blocked.
 *
 * The kernel counts the first two for each thread (schedstat), and page faults and switches (getrusage), for every user
 * and without being asked. They are read when a step begins and when it ends; the differences are one record. Three
 * system calls on a file of /proc and one more: some microseconds a step.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_STEP_THREAD_H
#define ASCOPE_COLLECT_SAMPLERS_STEP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct step_thread {
    uint64_t begin; /* host_clock_now(); 0: nothing was read */
    uint64_t thread;
    uint64_t cpu_ns, ready_ns; /* on a processor; waiting for one */
    uint64_t minor, major;     /* page faults: without and with the disk */
    uint64_t yielded, pushed;  /* switches: by itself, because another thread got the processor */
};

void step_thread_begin(struct step_thread *t);
/* On the thread of the begin; otherwise there is no record. */
void step_thread_end(struct step_thread *t, uint64_t step);

#endif
