/* SPDX-License-Identifier: Apache-2.0 */
/* sim_plan.h - when everything happens in a job: all ranks walking through their programs. */
#ifndef ASCOPE_SIM_JOB_SIM_PLAN_H
#define ASCOPE_SIM_JOB_SIM_PLAN_H

#include "sim/job/sim_job.h"

struct sim_job *job_new(const struct sim_options *o, struct error *e); /* with its plan; o is lent. NULL: see e */
void job_free(struct sim_job *j);                                      /* NULL is fine */
struct job_walk job_walk(struct sim_job *j, uint32_t rank);
void job_step_begin(struct job_walk *w, uint32_t step); /* w->begin_ns: when the host begins with it */
enum job_step_result job_next(struct job_walk *w, struct job_event *ev);
uint64_t job_stall_at(uint64_t forward); /* the kernel before which the host waits for data */
uint64_t job_stall_ns(const struct sim_job *j, uint32_t rank, uint32_t step);
bool job_step_has_gc(uint32_t step);

#endif
