/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - independent jobs on a few threads.
 *
 * Jobs share nothing and are numbered; results are stored by number, so that they do not depend on which job ends
 * first.
 */
#ifndef ASCOPE_BASE_PROCESS_POOL_H
#define ASCOPE_BASE_PROCESS_POOL_H

#include <stddef.h>

/* Runs job(context, 0) … job(context, n - 1) on up to n_threads threads, the caller's included, and waits for them all.
 * If threads cannot be started, there are fewer. */
void pool_run(size_t n, unsigned n_threads, void (*job)(void *context, size_t i), void *context);

#endif
