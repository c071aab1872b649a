/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ms_memory.h - the memory pool of a simulated MindSpore process. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_MS_MEMORY_H
#define ASCOPE_SIM_FRAMEWORK_SIM_MS_MEMORY_H

#include "sim/framework/sim_ms.h"

void ms_memory_open(struct sim_ms *m); /* headers of tables */
void ms_allocate(struct sim_ms *m, uint64_t host_tick, const char *owner, uint64_t bytes);
void ms_release_all(struct sim_ms *m, uint64_t host_tick); /* but for what is never released */
void ms_memory_close(struct sim_ms *m);                    /* what is still in use has a row without an end */

#endif
