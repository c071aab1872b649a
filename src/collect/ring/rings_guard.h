/* SPDX-License-Identifier: Apache-2.0 */
/* rings_guard.h - the program survives when the memory of its rings is truncated or is not there.
 *
 * The file is mapped, and another process may truncate it. A thread of the program that accesses a page beyond the new
 * end gets SIGBUS. Other memory would be no better: memory that cannot be truncated (memfd) is lost with the process,
 * and a copy in a file lacks the records after the last copy. So the signal is handled. While rings are open, a handler
 * maps anonymous memory in their place, ends the session (rings_end_early(), which the writer reports) and lets the
 * thread continue. Every other fault is passed to the handler that the program had, or ends the program as usual.
 *
 * A child process has none of the memory of the rings, so that it cannot write into its parent's. A signal handler may
 * have made the child by a system call of its own, while its thread put a record. The child then continues with that
 * record and gets SIGSEGV: the handler maps anonymous memory there, too.
 *
 * If the program installs a handler of its own while it records, and that handler does not call the previous one, the
 * signal kills it.
 */
#ifndef ASCOPE_COLLECT_RING_RINGS_GUARD_H
#define ASCOPE_COLLECT_RING_RINGS_GUARD_H

void faults_guard(void); /* installs the handlers */
void faults_leave(void); /* the program's own handlers are back, unless it has set others meanwhile */
void faults_admit(void); /* in the calling thread: a fault whose signal is blocked kills, whatever the handler */

#endif
