/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_collectives.h - collectives on GPUs: each kernel of NCCL is one.
 *
 * What the name of a kernel does not contain (collective, group, type and number of elements) is taken from the range
 * of the domain "communication" (ascope/mark.h) that was open on the launching thread, or else from the last report of
 * the framework's backend on this thread (ascope_collective_launch()), if it matches the kernel. A collective on a GPU
 * has no tasks, so that transfers and waits inside it are not known.
 */
#ifndef ASCOPE_ANALYSE_COMM_NCCL_COLLECTIVES_H
#define ASCOPE_ANALYSE_COMM_NCCL_COLLECTIVES_H

#include "profile/profile.h"

bool nccl_collectives_analyse(struct profile *p, struct device *d, struct error *e);

#endif
