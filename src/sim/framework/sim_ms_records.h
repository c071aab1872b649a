/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ms_records.h - the records of MindSpore's files in FRAMEWORK/, in the form of either generation. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_MS_RECORDS_H
#define ASCOPE_SIM_FRAMEWORK_SIM_MS_RECORDS_H

#include "sim/framework/sim_ms.h"

void ms_files_open(struct sim_ms *m);
uint64_t ms_wall_ns(const struct sim_ms *m, uint64_t host_tick);

void ms_range_write(struct sim_ms *m, const struct ms_range *r);
struct ms_memory_event {
    uint64_t time_ns, address, size; /* size: UINT64_MAX is a release */
    const char *owner;
};
void ms_memory_write(struct sim_ms *m, const struct ms_memory_event *e);                         /* N only */
void ms_shapes_write(struct sim_ms *m, const char *name, const char *shapes, const char *types); /* the same */

#endif
