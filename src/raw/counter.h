/* SPDX-License-Identifier: Apache-2.0 */
/* counter.h - counters of a device outside of its AI cores.
 *
 * Of a task (L2 cache, address translation), or of a sample of the task scheduler's CPU. sample.json has the events.
 */
#ifndef ASCOPE_RAW_COUNTER_H
#define ASCOPE_RAW_COUNTER_H

#include "raw/chip.h"
#include "raw/layout.h"

enum { COUNTER_EVENTS = 8 };

/* l2_cache.data. It has no times: the records of a task are in the order of its runs. */
enum { L2_TASK_TYPE, L2_STREAM, L2_TASK, L2_FIRST, L2_FIELDS = L2_FIRST + COUNTER_EVENTS };
extern const struct layout l2_cache_layout;

/* socpmu.data. Of the data types, 1 is the L2 cache, 2 is translation (SMMU) and 4 is page faults, which only the first
 * value counts. wide: of chips whose task ids have 32 bits. */
enum { SMMU_TASK_TYPE, SMMU_STREAM, SMMU_TASK, SMMU_DATA_TYPE, SMMU_FIRST, SMMU_FIELDS = SMMU_FIRST + COUNTER_EVENTS };
enum { SMMU_DATA_L2 = 1, SMMU_DATA_TRANSLATION = 2, SMMU_DATA_FAULTS = 4 };
extern const struct layout smmu_layout, smmu_wide_layout;

const struct layout *smmu_layout_of(const struct chip *c);

/* tscpu.data. Seven pairs {event, count}; the backtrace is TS_CPU_FRAMES u64 at TS_CPU_BACKTRACE. */
enum { TS_CPU_PC, TS_CPU_TIME, TS_CPU_FIRST, TS_CPU_PAIRS = 7, TS_CPU_FIELDS = TS_CPU_FIRST + 2 * TS_CPU_PAIRS };
enum { TS_CPU_BACKTRACE = 8, TS_CPU_FRAMES = 20 };
extern const struct layout ts_cpu_layout;

#endif
