/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_job.h - the ranks of a job on simulated devices: when each arrived at a collective. The caller holds the lock
 * of npu. */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_JOB_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_JOB_H

#include "device/sim_npu/sim_npu.h"

struct npu_job npu_job(void);            /* joins the job at the first call; without one it is rank 0 of 1 */
uint64_t npu_job_number(uint64_t group); /* the number of the next collective of a group */
void npu_job_come(struct npu_meeting *m, uint64_t ns); /* this rank has arrived */
uint64_t npu_job_all(struct npu_meeting *m);           /* when the last rank arrived; NEVER: not yet */
void npu_job_forget(void);                             /* in a child process: it is not in the job */
void npu_meeting_drop(struct npu_meeting *m);          /* drops a reference; the last one frees it; NULL is fine */

#endif
