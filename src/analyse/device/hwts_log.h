/* SPDX-License-Identifier: Apache-2.0 */
/* hwts_log.h - the task log of chips without STARS: pairs begin and end records into tasks. */
#ifndef ASCOPE_ANALYSE_DEVICE_HWTS_LOG_H
#define ASCOPE_ANALYSE_DEVICE_HWTS_LOG_H

#include "profile/profile.h"

/* Fills d->log from its edges, which are given back; its flips are sorted. False: no memory. */
bool hwts_log_pair(struct profile *p, struct device *d, struct error *e);

/* An end belongs to the last beginning of its id before it, in the order of `order`, which this puts by id. Pairs go
 * behind those that d->log has. What finds no partner is counted. False: no memory. */
bool edges_pair(struct device_log *log, const struct edges *edges, uint32_t *order, uint64_t *unpaired);

#endif
