/* SPDX-License-Identifier: Apache-2.0 */
/* hwts_log.h - the task log of chips without STARS: pairs begin and end records into tasks. */
#ifndef ASCOPE_ANALYSE_DEVICE_TASKS_HWTS_LOG_H
#define ASCOPE_ANALYSE_DEVICE_TASKS_HWTS_LOG_H

#include "profile/profile.h"

/* Fills d->log from its edges, which are given back; its flips are sorted. False: no memory. */
bool hwts_log_pair(struct profile *p, struct device *d, struct error *e);

/* Pairs each end with the last begin of the same id before it, in the order of `order`, which is sorted by id here.
 * Appends the pairs to the log and counts the records without a partner. False: no memory. */
bool edges_pair(struct device_log *log, const struct edges *edges, uint32_t *order, uint64_t *unpaired);

#endif
