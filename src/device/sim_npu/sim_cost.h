/* SPDX-License-Identifier: Apache-2.0 */
/* sim_cost.h - how long work takes on the simulated NPU, and what its cores count meanwhile.
 *
 * An operator costs as much as its arithmetic or the bytes it moves, whichever takes longer, and a little for being started. One
 * table says what is counted for a type: a product counts its multiplications, what goes element by element counts bytes. The
 * figures are of the order of an A2's. Same operator, same cost; operators that run side by side do not slow each other down.
 */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_COST_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_COST_H

#include "ascope/sim.h"
#include "sim/sim_tables.h"

struct sim_work {
    const char *call; /* "aclnnMatmul"; NULL: made from the type */
    enum task_kind kind;
    uint16_t blocks;
    bool has_attributes;                   /* a product of matrices */
    bool is_eligible;                      /* for HF32: a product of floats */
    uint64_t start_ns, core_ns, memory_ns; /* core: at the nominal frequency */
    uint64_t read_bytes, write_bytes;
};
enum { SIM_CORE_MHZ = 1800, SIM_WORK_NS_MOST = 0x7FFFFFFF }; /* 2 s: more than any kernel that anybody waits for */

struct sim_work sim_work_of(const struct ascope_sim_kernel *k);
struct sim_work sim_work_copy(enum ascope_sim_copy direction, uint64_t bytes);
struct sim_work sim_work_small(enum small what, uint64_t bytes); /* a part of a collective, once it may begin */
uint64_t sim_work_ns(const struct sim_work *w, uint32_t core_mhz);

/* A type of elements. One that nobody knows counts as a float. */
struct sim_element {
    const char *name;    /* as the tuner has it */
    uint8_t bytes, hccl; /* of one element; its number there */
};
const struct sim_element *sim_element_of(uint32_t type);
unsigned sim_dims_of(const struct ascope_sim_tensor *t); /* as many as a tensor can have */

/* The counters of one task: `cycles` of the cores that it ran on, those events that the group has; the rest is 0. */
void sim_count(const struct sim_work *w, uint64_t cycles, const uint16_t *event, unsigned n, uint64_t *out);

#endif
