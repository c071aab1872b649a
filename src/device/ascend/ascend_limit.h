/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_limit.h - calls into the vendor's libraries that are not waited for longer than a limit.
 *
 * In this process: on a thread of its own. One that does not come back keeps its thread, and whatever it was called with, for ever:
 * nothing can end it. In a child process: one that crashes or hangs ends there.
 */
#ifndef ASCOPE_DEVICE_ASCEND_ASCEND_LIMIT_H
#define ASCOPE_DEVICE_ASCEND_ASCEND_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { ASCEND_LIMIT_S = 60 };  /* starting and stopping: data of a device are waited for */
uint32_t ascend_limit_s(void); /* of $ASCOPE_ASCEND_LIMIT_S, 1 to 3600; else the above */

/* True: it has returned. False: `job` must never be freed; or no thread could be made, and it was not called. */
bool ascend_call(void (*call)(void *job), void *job, uint32_t limit_s);

enum ascend_child { CHILD_DONE, CHILD_CRASHED, CHILD_HUNG, CHILD_NONE };
/* `shared` is memory that both have (mmap). CHILD_CRASHED: *signal says by what. CHILD_NONE: there can be no child. */
enum ascend_child ascend_child(void (*call)(void *shared), void *shared, uint32_t limit_s, int *signal);

#endif
