/* SPDX-License-Identifier: Apache-2.0 */
/* limited_call.h - calls into a vendor's libraries that are not waited for longer than a limit.
 *
 * In this process: on a thread of its own. A call that does not return keeps its thread and its arguments forever:
 * nothing can end it. In a child process: a crash or a hang ends the child only.
 */
#ifndef ASCOPE_BASE_PROCESS_LIMITED_CALL_H
#define ASCOPE_BASE_PROCESS_LIMITED_CALL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { LIMIT_S = 60 };                        /* starting and stopping: data of a device are waited for */
uint32_t limit_seconds(const char *variable); /* of this variable of the environment, 1 to 3600; else the above */

/* True: it has returned. False: `job` must never be freed; or no thread could be made, and it was not called. */
bool limited_call(void (*call)(void *job), void *job, uint32_t limit_s);

bool limited_join(pthread_t thread, uint32_t limit_s); /* false: it still runs, detached */

enum child_end { CHILD_DONE, CHILD_CRASHED, CHILD_HUNG, CHILD_NONE };
/* `shared` is memory that both have (mmap). CHILD_CRASHED: *signal says by what. CHILD_NONE: there can be no child. */
enum child_end limited_child(void (*call)(void *shared), void *shared, uint32_t limit_s, int *signal);

#endif
