/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include "load/prof/records.h"
#include "raw/counter.h"
#include "raw/device_records.h"
#include "raw/family.h"
#include "raw/hwts.h"

/* Keeps pointers to the records in the mapped file: columns would need as much memory as the file. */
static bool pmu_load_load(struct source *s, const char *family, const struct layout *l, struct pmu_records *out,
                          struct error *e)
{
    *out = (struct pmu_records){ 0 };
    if (!family_is_read(family, s->chip, false))
        return true;
    struct layout thin = *l;
    thin.n = 0;
    thin.keeps_rest = true;
    struct records r;
    if (!records_load(s, s->mem, family, &thin, true, &r, e))
        return false;
    *out = (struct pmu_records){ r.n, r.rest };
    return true;
}

bool pmu_load(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct pmu *pmu = &d->pmu;
    if (!pmu_load_load(s, "l2_cache.data", &l2_cache_layout, &pmu->l2, e) ||
        !pmu_load_load(s, "socpmu.data", smmu_layout_of(s->chip), &pmu->smmu, e))
        return false;
    if (!s->settings.counts_tasks)
        return true; /* the file then holds samples of cores */
    if (s->chip->task_log == TASK_LOG_HWTS)
        return pmu_load_load(s, "aicore.data", &hwts_pmu_layout, &pmu->of_cores[CORE_AIC], e) &&
               pmu_load_load(s, "aiVectorCore.data", &hwts_pmu_layout, &pmu->of_cores[CORE_AIV], e);
    const bool is_ten = s->chip->counts_ten;
    return pmu_load_load(s, "ffts_profile.data", is_ten ? &pmu_ten_task_layout : &pmu_task_layout, &pmu->of_tasks, e) &&
           pmu_load_load(s, "ffts_profile.data", is_ten ? &pmu_ten_block_layout : &pmu_block_layout, &pmu->of_blocks,
                         e);
}
