/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/pmu.h"

#include "base/text/table.h"
#include "profile/calls.h"
#include "raw/device_records.h"

static enum core main_core(const struct pmu *p, size_t row)
{
    return p->kind[row] == PMU_AIC || p->kind[row] == PMU_MIX_AIC ? CORE_AIC : CORE_AIV;
}

/* The reference rounds the time to hundredths of a µs before it computes anything from it. */
static void counts_of_record(const struct pmu *p, const uint8_t *record, struct core_counts *out)
{
    const struct layout *l = &pmu_ten_task_layout;
    const uint64_t begin = layout_get(l, PMU_TEN_BEGIN, record), end = layout_get(l, PMU_TEN_END, record);
    *out = (struct core_counts){ .cycles = layout_get(l, PMU_TEN_CYCLES, record),
                                 .counters = record + PMU_TEN_FIRST,
                                 .nominal_mhz = p->nominal_mhz };
    if (end > begin && p->tick_hz > 0)
        out->spent_us = round_exact((double)(end - begin) / p->tick_hz * 1e6, 2);
}

/* False: cores of this kind have no counters of the task. */
static bool counts_of(const struct pmu *p, size_t row, enum core core, struct core_counts *out)
{
    if (p->has_one_core)
        core = main_core(p, row);
    const bool main = core == main_core(p, row);
    if (p->counts_ten) {
        const uint8_t *record = main ? p->counters[row] - PMU_TEN_FIRST : p->partner[row];
        if (record)
            counts_of_record(p, record, out);
        return record != NULL;
    }
    if (!main && p->other[row] == NO_ROW)
        return false;
    *out = (struct core_counts){ .spent_us = -1,
                                 .n_cores = p->n_cores[core],
                                 .mhz = p->mhz[row] ? p->mhz[row] : p->nominal_mhz,
                                 .nominal_mhz = p->nominal_mhz };
    if (main) {
        out->cycles = p->cycles[row];
        out->counters = p->counters[row];
        out->blocks = p->blocks[row];
    } else {
        const uint64_t *sum = p->sums[p->other[row]];
        out->cycles = sum[0];
        out->counters = (const uint8_t *)(sum + 1);
        out->blocks = p->mix_blocks[row];
    }
    return true;
}

void pmu_counts(const struct pmu *p, size_t row, struct pmu_counts *out)
{
    for (int core = 0; core < CORES; core++)
        out->has[core] = counts_of(p, row, (enum core)core, &out->of[core]);
}

double pmu_counts_value(const struct pmu_counts *c, const struct metric_column *column, bool coarse_times)
{
    return c->has[column->core] ? metric_value(column, &c->of[column->core], coarse_times) : 0;
}

uint64_t pmu_counts_cycles(const struct pmu_counts *c, enum core core)
{
    return c->has[core] ? c->of[core].cycles : 0;
}
