#include "load/pmu.h"

#include <string.h>

#include "load/records.h"
#include "raw/device.h"

/* The records stay where they are and are read there: their fields would take as much room again as columns. */
static bool load_pointers(struct source *s, const struct layout *l, const uint8_t ***record, size_t *n, struct error *e)
{
    struct layout thin = *l;
    thin.n = 0;
    struct records r;
    if (!records_load(s, "ffts_profile.data", &thin, true, &r, e))
        return false;
    *record = r.rest;
    *n = r.n;
    return true;
}

bool pmu_load(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    if (strcmp(source_text(s->sample, "ai_core_profiling_mode"), "task-based") != 0)
        return true; /* the same file then holds samples of cores */
    return load_pointers(s, &pmu_task_layout, &d->pmu.raw.task, &d->pmu.raw.n_tasks, e) &&
           load_pointers(s, &pmu_block_layout, &d->pmu.raw.block, &d->pmu.raw.n_blocks, e);
}
