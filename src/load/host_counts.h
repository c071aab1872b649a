/* SPDX-License-Identifier: Apache-2.0 */
/* host_counts.h - counters of the host's memory nodes and RDMA ports, as ascope records them (host_numa.data, host_roce.data). */
#ifndef ASCOPE_LOAD_HOST_COUNTS_H
#define ASCOPE_LOAD_HOST_COUNTS_H

#include "load/usage_load.h"

bool host_counts_load(struct profile *p, struct source *s, struct usage *u, struct error *e);

#endif
