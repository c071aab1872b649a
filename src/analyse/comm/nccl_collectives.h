/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_collectives.h - NCCL's kernels as collectives: each one is one.
 *
 * What a kernel's name does not say is taken from the range of the domain "communication" (ascope/mark.h) that was open on the thread
 * that launched it, else from what the framework's backend said there last (ascope_collective_launch()), if that can be of such a
 * kernel: name, group, type and number of elements. There are no parts of a collective on a GPU, so nothing is known of
 * transfers and waits inside it.
 */
#ifndef ASCOPE_ANALYSE_COMM_NCCL_COLLECTIVES_H
#define ASCOPE_ANALYSE_COMM_NCCL_COLLECTIVES_H

#include "profile/profile.h"

bool nccl_collectives_analyse(struct profile *p, struct device *d, struct error *e);

#endif
