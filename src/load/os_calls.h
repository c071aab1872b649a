/* SPDX-License-Identifier: Apache-2.0 */
/* os_calls.h - loads calls of the operating system into a table. */
#ifndef ASCOPE_LOAD_OS_CALLS_H
#define ASCOPE_LOAD_OS_CALLS_H

#include "load/usage_load.h"

bool os_calls_load(struct profile *p, struct source *s, struct usage *u, struct error *e); /* perf trace, ltrace */

#endif
