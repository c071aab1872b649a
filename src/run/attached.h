/* SPDX-License-Identifier: Apache-2.0 */
/* attached.h - processes that run already, recorded by command: a collector of its own for each, as a session is one process's. */
#ifndef ASCOPE_RUN_ATTACHED_H
#define ASCOPE_RUN_ATTACHED_H

#include "run/run.h"
#include "run/run_events.h"

/* As run_collect(), for requests with pids. `found` gets the path of every collection. */
bool attached_collect(const struct run_request *r, struct run_result *out, struct run_events *v,
                      void (*found)(void *to, const char *path), struct error *e);

#endif
