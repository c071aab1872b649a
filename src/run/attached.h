/* SPDX-License-Identifier: Apache-2.0 */
/* attached.h - records running processes on commands from standard input (start, stop, quit).
 *
 * A session belongs to one process, so each attached process gets a collector: a child of this process that owns its
 * session.
 */
#ifndef ASCOPE_RUN_ATTACHED_H
#define ASCOPE_RUN_ATTACHED_H

#include "run/run.h"
#include "run/run_events.h"

/* run_collect() for requests with pids. Calls found(out, path) for every collection. */
bool attached_collect(const struct recorded_run *r, struct run_result *out, struct run_events *v,
                      void (*found)(void *to, const char *path), struct error *e);

#endif
