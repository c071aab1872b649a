/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_iteration.h - iterations of a graph on the simulated NPU: the stamps that training_trace asks for.
 *
 * Between the begin and the end of an iteration the device remembers where the forward part began and the backward part ended: at the
 * operators that fp_point and bp_point name, or at the first operator behind GetNext and the last one before the last all-reduce.
 * All-reduces and operators GetNext have stamps before and after them. An iteration whose bp_point never ran has no stamps at all, one
 * whose fp_point never ran has all others, as on a real device.
 */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_ITERATION_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_ITERATION_H

#include "device/sim_npu/sim_npu.h"

/* The lock is held in all of these. */
void npu_points_choose(const struct ascope_options *o);
void npu_points_fuse(const struct ascope_sim_node *nodes,
                     uint32_t n);                          /* operators that a loaded graph has instead of others */
uint8_t npu_points_of(const char *type, const char *name); /* enum npu_point_bit: of a kernel to be launched */
void npu_iteration_task(struct ascope_sim_stream *s, const struct npu_task *t); /* one has ended */

#endif
