/* SPDX-License-Identifier: Apache-2.0 */
/* op_memory.h - lifetimes of the memory of operators: each allocation with its release. */
#ifndef ASCOPE_ANALYSE_HOST_OP_MEMORY_H
#define ASCOPE_ANALYSE_HOST_OP_MEMORY_H

#include "profile/profile.h"

/* Fills op_memory.lives. An allocation ends with the next release of the same operator, address and device; unpaired
 * ones are counted as losses. False: out of memory. */
bool memory_analyse(struct profile *p, struct error *e);

#endif
