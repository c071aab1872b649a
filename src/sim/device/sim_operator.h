/* SPDX-License-Identifier: Apache-2.0 */
/* sim_operator.h - operators of a simulated network: which one is next, what its launch records. */
#ifndef ASCOPE_SIM_DEVICE_SIM_OPERATOR_H
#define ASCOPE_SIM_DEVICE_SIM_OPERATOR_H

#include "sim/job/sim_job.h"
#include "sim/job/sim_run.h"

void operators_pair(uint8_t *forward,
                    uint8_t *reverse); /* what runs backward for an operator, and the other way round */
uint64_t network_position(uint64_t forward, uint64_t done);
uint64_t network_layer(uint64_t position, uint64_t chunk);
struct dice network_dice(uint64_t seed, uint64_t layer);
size_t network_operator(const uint8_t *forward, const uint8_t *reverse, uint64_t seed, uint64_t layer, bool is_forward);

struct sim_thread *launcher(struct sim_device *d, struct sim_thread *t); /* t, or the thread that launches for it */
void memory_release(struct sim_device *d);
void operator_launch(struct sim_device *d, struct sim_thread *t, const struct planned *plan); /* NULL: no plan */
size_t operator_pick(struct dice *d);
void node_records(struct sim_device *d, bool is_static, uint32_t thread, uint64_t time, const struct node *n,
                  const struct sim_operator *op);
void captured_record(struct sim_device *d, uint64_t time, uint16_t task, size_t which, const struct sim_launch *launch);

#endif
