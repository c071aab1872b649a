/* SPDX-License-Identifier: Apache-2.0 */
/* comm_bandwidth.h - the bandwidth of each task of a collective: the bytes that it moved and the time that this
 * took. */
#ifndef ASCOPE_ANALYSE_COMM_COMM_BANDWIDTH_H
#define ASCOPE_ANALYSE_COMM_COMM_BANDWIDTH_H

#include "analyse/comm/comm_operators.h"

/* Fills moved_bytes, moved_ns and is_piece of all tasks. False: no memory. */
bool comm_bandwidths(const struct profile *p, struct communication *c, struct arena *mem);

#endif
