/* SPDX-License-Identifier: Apache-2.0 */
/* sim_npu_iteration.h - iterations of a graph on the simulated NPU: the stamps that training_trace asks for.
 *
 * During an iteration the device notes where the forward pass began and the backward pass ended: at the operators that
 * fp_point and bp_point name, or at the first operator after GetNext and at the last one before the last all-reduce.
 * All-reduces and GetNext operators have stamps before and after them. As on a real device, an iteration in which
 * bp_point did not run has no stamps at all, and one in which fp_point did not run lacks only that stamp.
 */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_NPU_ITERATION_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_NPU_ITERATION_H

#include "device/sim_npu/sim_npu.h"

/* The caller holds the lock. */
void npu_points_choose(const struct ascope_options *o); /* fp_point and bp_point of a new session */
/* Finds the operators of a loaded graph into which fp_point and bp_point were fused. */
void npu_points_fuse(const struct ascope_sim_node *nodes, uint32_t n);
uint8_t npu_points_of(const char *type, const char *name);                      /* enum npu_point_bit of a kernel */
void npu_iteration_task(struct ascope_sim_stream *s, const struct npu_task *t); /* a task has ended */

#endif
