/* SPDX-License-Identifier: Apache-2.0 */
/* call_samples.h - the system calls that a process is seen to wait in: /proc/PID/task/N/syscall of each thread, looked
 * at now and then.
 *
 * For processes that we may look at and neither trace nor prepare. A call that is the same in several samples is one
 * record, from the first to the last of them; what is shorter than the time between two samples is mostly missed.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_CALL_SAMPLES_H
#define ASCOPE_COLLECT_SAMPLERS_CALL_SAMPLES_H

#include <stdbool.h>
#include <sys/types.h>

struct call_samples;

bool call_samples_permitted(pid_t pid);
struct call_samples *call_samples_new(pid_t pid); /* NULL: no memory */
void call_samples_look(struct call_samples *s);   /* of all threads, once; records of calls that are over */
void call_samples_free(struct call_samples *s);   /* records of those that go on; NULL is fine */

#endif
