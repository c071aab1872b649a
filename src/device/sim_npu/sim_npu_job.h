/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_job.h - how the ranks of one job on the simulated device find each other. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_JOB_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_JOB_H

#include "device/sim_npu/sim_npu.h"

struct npu_job npu_job(void);            /* joins it the first time; alone: 0 of 1 */
uint64_t npu_job_number(uint64_t group); /* of the next collective of the group */
void npu_job_come(struct npu_meeting *m, uint64_t ns);
uint64_t npu_job_all(struct npu_meeting *m); /* when the last rank came; NEVER: not yet */
void npu_job_forget(void);
void npu_meeting_drop(struct npu_meeting *m);

#endif
