/* SPDX-License-Identifier: Apache-2.0 */
/* sim_torch_memory.h - what PyTorch's allocators report in a simulated process. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_TORCH_MEMORY_H
#define ASCOPE_SIM_FRAMEWORK_SIM_TORCH_MEMORY_H

#include "sim/framework/sim_torch.h"

uint64_t torch_allocate(struct sim_torch *t, uint64_t bytes); /* the block's address */
void torch_release(struct sim_torch *t);                      /* one of those in use */
void torch_release_all(struct sim_torch *t);
void torch_workspace(struct sim_torch *t, uint64_t time);
void torch_host_memory(struct sim_torch *t);

#endif
