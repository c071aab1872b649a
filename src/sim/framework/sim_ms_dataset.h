/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ms_dataset.h - the dataset pipeline of a simulated MindSpore process: ranges, queues, CPU usage, times of
 * batches. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_MS_DATASET_H
#define ASCOPE_SIM_FRAMEWORK_SIM_MS_DATASET_H

#include "sim/framework/sim_ms.h"

void ms_batch_write(struct sim_ms *m, uint64_t ticks); /* the main thread gets a batch, for which it waits so long */
void ms_batch_times_write(struct sim_ms *m, uint64_t ticks); /* of the step's batch */
void ms_pipeline_write(struct sim_ms *m);                    /* what was sampled meanwhile */

#endif
