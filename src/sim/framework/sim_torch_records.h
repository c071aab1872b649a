/* SPDX-License-Identifier: Apache-2.0 */
/* sim_torch_records.h - the files of FRAMEWORK/ of a simulated process. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_TORCH_RECORDS_H
#define ASCOPE_SIM_FRAMEWORK_SIM_TORCH_RECORDS_H

#include "sim/framework/sim_torch.h"

void torch_files_open(struct sim_torch *t);
void torch_op_write(struct sim_torch *t, const struct torch_thread *th, const struct torch_op *op);
void torch_mark_write(struct sim_torch *t, uint64_t time, unsigned kind, uint64_t id, uint32_t thread,
                      const char *name);
void torch_gc_write(struct sim_torch *t, uint64_t begin, uint64_t end);
void torch_frames_write(struct sim_torch *t); /* their names */
void torch_frames_end(struct sim_torch *t);
void torch_frame_enter(struct sim_torch *t, enum torch_frame f);
void torch_frame_leave(struct sim_torch *t, enum torch_frame f);
void torch_module_enter(struct sim_torch *t); /* of the unit */
void torch_module_leave(struct sim_torch *t);
void torch_optimizer_record(struct sim_torch *t); /* its parameters */

#endif
