/* SPDX-License-Identifier: Apache-2.0 */
/* sim_comm.h - collectives that the host runs. */
#ifndef ASCOPE_SIM_DEVICE_SIM_COMM_H
#define ASCOPE_SIM_DEVICE_SIM_COMM_H

#include "sim/job/sim_run.h"
#include "sim/job/sim_front.h"

void collective_run(struct sim_device *d, uint64_t not_before);
void comm_info(struct sim_device *d, const struct small_task *s, uint64_t time);
void comm_op(struct sim_device *d, uint64_t time, uint64_t group, uint32_t data_type, uint64_t count);
uint64_t comm_name(struct sim_process *p, const char *node, uint64_t group); /* a new name; its hash */

struct front_task comm_begin(struct sim_device *d, size_t which);
void comm_end(struct sim_device *d, const struct front_task *task, uint64_t begin);

#endif
