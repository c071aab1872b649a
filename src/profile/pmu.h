/* SPDX-License-Identifier: Apache-2.0 */
/* pmu.h - counters of the cores by task.
 *
 * Rows have the counters as the device wrote them; pmu_counts_value() computes a metric when a table needs it: a
 * million tasks have some thirty columns each, and most reports use none of them.
 */
#ifndef ASCOPE_PROFILE_PMU_H
#define ASCOPE_PROFILE_PMU_H

#include "profile/metrics.h"

/* Mix kernels run on both kinds of cores; the main ones report the task as a whole, the others each block. */
enum pmu_kind { PMU_AIC, PMU_AIV, PMU_MIX_AIC, PMU_MIX_AIV };

enum { PMU_SUM_WORDS = 1 + METRIC_COUNTERS }; /* cycles, then the counters */

/* The blocks of a task that began first and last on each kind of core. */
enum block_end { BLOCK_AIC_FIRST, BLOCK_AIC_LAST, BLOCK_AIV_FIRST, BLOCK_AIV_LAST, BLOCK_ENDS };

struct pmu {
    struct pmu_records { /* as they were read, in file order: whole records */
        size_t n;
        const uint8_t **at;
    } of_tasks, of_blocks;              /* of the cores: pmu_task_layout, pmu_block_layout */
    struct pmu_records of_cores[CORES]; /* on chips without STARS instead: hwts_pmu_layout */
    struct pmu_records l2, smmu;        /* what was counted for a task outside of them: raw/counter.h */
    uint32_t *l2_op, *smmu_op;          /* of each of these, row of ops, or NO_ROW */
    struct cores_records *waiting; /* of_tasks and of_blocks, sorted, until they are joined with tasks (pmu_join.c) */
    struct metric_columns columns; /* none: nothing was counted, or the events are unknown */
    uint32_t n_cores[CORES];       /* of the device */
    bool has_one_core;             /* the chip has one kind of core: columns do not distinguish kinds */
    double nominal_mhz;

    size_t n;       /* rows, in the order of tasks */
    uint32_t *task; /* row of tasks */
    uint64_t *cycles;
    const uint8_t **counters; /* the first of them in the record of the task */
    uint8_t *kind;            /* enum pmu_kind */
    uint32_t *mhz;            /* of the cores when it ended; 0: nominal */
    uint16_t *blocks;         /* for the main cores */
    uint16_t *mix_blocks;     /* for the others */
    uint32_t *other;          /* row of sums: what the other cores counted; NO_ROW when they reported nothing */
    uint64_t (*sums)[PMU_SUM_WORDS];
    /* Instead of the sums on chips that count ten events: */
    bool counts_ten;
    double tick_hz;          /* of the times in the records */
    const uint8_t **partner; /* the record of the other cores; NULL: they did not work on it */
    struct block_spreads {   /* the blocks of tasks, in the order of tasks */
        size_t n;
        uint32_t *task;
        const uint8_t *(*block)[BLOCK_ENDS]; /* records: pmu_ten_block_layout; NULL: there is none */
    } spreads;
};

/* What the cores counted for a row; its values are computed from that. */
struct pmu_counts {
    struct core_counts of[CORES];
    bool has[CORES]; /* false: cores of this kind did not work on it */
};
void pmu_counts(const struct pmu *p, size_t row, struct pmu_counts *out);
/* One value, unrounded: µs, GB/s, KB, or a bare number. A kind of core that did not work on the task counts 0. */
double pmu_counts_value(const struct pmu_counts *c, const struct metric_column *column, bool coarse_times);
uint64_t pmu_counts_cycles(const struct pmu_counts *c, enum core core);

#endif
