/* SPDX-License-Identifier: Apache-2.0 */
/* sim_cost.h - how long work takes on the simulated NPU, and what its cores count meanwhile.
 *
 * The time of an operator is that of its arithmetic or that of the bytes it moves, whichever is longer, and a constant
 * for its start. A table has the rule of each type: matrix products count multiplications, element-wise operators count
 * bytes. The figures are of the order of an A2's. The same operator always costs the same; operators that run in
 * parallel do not slow each other down.
 */
#ifndef ASCOPE_DEVICE_SIM_NPU_SIM_COST_H
#define ASCOPE_DEVICE_SIM_NPU_SIM_COST_H

#include "ascope/sim.h"
#include "sim/device/sim_tables.h"

struct sim_work {
    const char *call; /* "aclnnMatmul"; NULL: made from the type */
    enum task_kind kind;
    uint16_t blocks;
    bool has_attributes;                   /* a product of matrices */
    bool is_eligible;                      /* for HF32: a product of floats */
    uint64_t start_ns, core_ns, memory_ns; /* core_ns: at the nominal frequency */
    uint64_t read_bytes, write_bytes;
};
enum { SIM_CORE_MHZ = 1800, SIM_WORK_NS_MOST = 0x7FFFFFFF }; /* 2 s: more than any kernel that anybody waits for */

struct sim_work sim_work_of(const struct ascope_sim_kernel *k);
struct sim_work sim_work_copy(enum ascope_sim_copy direction, uint64_t bytes);
struct sim_work sim_work_small(enum small what,
                               uint64_t bytes); /* a task of a collective, without the time that it waits */
uint64_t sim_work_ns(const struct sim_work *w, uint32_t core_mhz);

/* A data type. Unknown types count as floats. */
struct sim_element {
    const char *name;    /* as in files of operator arguments */
    uint8_t bytes, hccl; /* bytes of an element; the number of the type in HCCL */
};
const struct sim_element *sim_element_of(uint32_t type);
unsigned sim_dims_of(const struct ascope_sim_tensor *t); /* n_dims, at most ASCOPE_SIM_DIMS */

/* Fills the counters of a task that took `cycles` cycles: out[i] for event[i], n of them; 0 for unknown events. */
void sim_count(const struct sim_work *w, uint64_t cycles, const uint16_t *event, unsigned n, uint64_t *out);

#endif
