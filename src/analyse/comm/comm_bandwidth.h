/* SPDX-License-Identifier: Apache-2.0 */
/* comm_bandwidth.h - bytes of a collective over each kind of link, by packet size. */
#ifndef ASCOPE_ANALYSE_COMM_COMM_BANDWIDTH_H
#define ASCOPE_ANALYSE_COMM_COMM_BANDWIDTH_H

#include "analyse/comm/comm_operators.h"

/* Fills the bandwidth of all tasks. */
bool comm_bandwidths(const struct profile *p, struct communication *c, struct arena *mem);

#endif
