/* SPDX-License-Identifier: Apache-2.0 */
/* hwts.h - records of schedulers and cores of chips before STARS. Times are ticks of the device's counter. */
#ifndef ASCOPE_RAW_HWTS_H
#define ASCOPE_RAW_HWTS_H

#include "raw/layout.h"

/* The task log: one record when a task starts, one when it ends. Other kinds of records are not read. */
enum { HWTS_HEAD, HWTS_TYPE, HWTS_TASK, HWTS_TICK, HWTS_STREAM, HWTS_FIELDS };
enum { HWTS_END_BIT = 1, HWTS_COUNT_SHIFT = 4 }; /* of the head: an end; above, a running count of four bits */
extern const struct layout hwts_layout;

/* Counters of a task, without a time: the eight u64 follow at HWTS_PMU_FIRST. */
enum { HWTS_PMU_HEAD, HWTS_PMU_TASK, HWTS_PMU_CYCLES, HWTS_PMU_STREAM, HWTS_PMU_FIELDS };
enum { HWTS_PMU_FIRST = 32 };
extern const struct layout hwts_pmu_layout;

#endif
