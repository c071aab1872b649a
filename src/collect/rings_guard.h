/* SPDX-License-Identifier: Apache-2.0 */
/* rings_guard.h - the program survives when the memory of its rings goes away.
 *
 * The file is mapped, and a page of a mapped file that is not there any more is a SIGBUS for whoever touches it: a thread of the
 * program. Memory that nobody can cut (memfd) would be lost with the process, and copying it to a file would lose what came
 * after the last copy; so the signal is met instead. While rings are open, a handler puts plain memory where they were, ends the
 * session (rings_end_early(), which the writer reports) and lets the thread go on. Every other SIGBUS is passed to the handler
 * that the program had, or ends the program as it would have.
 *
 * A child has none of the memory of the rings, so that it cannot write into its parent's. If a signal handler made it by a system call of
 * its own, while its thread put a record, it goes on with that record, and meets a SIGSEGV: it gets plain memory there.
 *
 * A program that sets a handler of its own while it records, and does not pass on what is not its own, has the old fate.
 */
#ifndef ASCOPE_COLLECT_RINGS_GUARD_H
#define ASCOPE_COLLECT_RINGS_GUARD_H

void faults_guard(void); /* from here on */
void faults_leave(void); /* the program's own handlers are back, unless it has set others meanwhile */
void faults_admit(void); /* in the calling thread: a fault whose signal is blocked kills, whatever the handler */

#endif
