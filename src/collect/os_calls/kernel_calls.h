/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_calls.h - the system calls of processes as the kernel reports them: its trace points raw_syscalls:sys_enter
 * and sys_exit, read from ring buffers of perf_event_open().
 *
 * Sees every call of the threads that it was opened for and of all that they start later, also of static programs, and
 * of what libc does inside. Not everybody may: CAP_PERFMON, or kernel.perf_event_paranoid = -1, and the file system of
 * trace points. The call succeeds without these rights, too, and then counts nothing: kernel_calls_permitted() makes
 * calls of its own and looks whether they are seen.
 *
 * Costs a buffer and two descriptors for each CPU and thread. Records go to the ring of the thread that looks.
 */
#ifndef ASCOPE_COLLECT_OS_CALLS_KERNEL_CALLS_H
#define ASCOPE_COLLECT_OS_CALLS_KERNEL_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text/error.h"

struct kernel_calls;

bool kernel_calls_permitted(const char **why); /* asked once; why not */

/* The threads that a process has now, but for `not_of`, and what they start. NULL: e says why. */
struct kernel_calls *kernel_calls_open(pid_t pid, bool (*not_of)(pid_t thread), struct error *e);
void kernel_calls_wait(struct kernel_calls *k, int most_ms); /* until a buffer is filled to a good part */
void kernel_calls_look(struct kernel_calls *k,
                       bool is_last);            /* puts what has ended; the last time: everything that is there */
void kernel_calls_close(struct kernel_calls *k); /* NULL is fine */

#endif
