/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include <string.h>

#include "base/files/bytes.h"
#include "load/prof/records.h"
#include "raw/ccu_records.h"

/* Keeps pointers to the records, which are mapped. */
static bool load_whole(struct source *s, const char *family, const struct layout *l, struct ccu_records *out,
                       struct error *e)
{
    struct layout thin = *l;
    thin.n = 0;
    struct records r;
    if (!records_load(s, s->mem, family, &thin, false, &r, e))
        return false;
    *out = (struct ccu_records){ r.n, r.rest };
    return true;
}

bool ccu_load(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct ccu *c = &d->ccu;
    struct ccu_records of[CCU_DIES];
    if (!s->chip->has_ccu)
        return true;
    if (!load_whole(s, "ccu0.instr", &ccu_instr_layout, &of[0], e) ||
        !load_whole(s, "ccu1.instr", &ccu_instr_layout, &of[1], e) ||
        !load_whole(s, "ccu0.stat", &ccu_stat_layout, &c->stat[0], e) ||
        !load_whole(s, "ccu1.stat", &ccu_stat_layout, &c->stat[1], e))
        return false;
    c->instr.n = of[0].n + of[1].n;
    c->instr.at = arena_take(s->mem, c->instr.n, sizeof *c->instr.at);
    if (!c->instr.at)
        return error_no_memory(e, s->path);
    for (size_t k = 0, at = 0; k < CCU_DIES; at += of[k++].n)
        if (of[k].n > 0)
            memcpy(c->instr.at + at, of[k].at, of[k].n * sizeof *of[k].at);
    return true;
}

static bool leads_somewhere(const uint8_t *plan)
{
    for (size_t i = 0; i < CCU_ENTRIES; i++)
        if (le16(plan + CCU_FIRST_CHANNEL + 2 * i) != UINT16_MAX && le32(plan + CCU_FIRST_RANK + 4 * i) != UINT32_MAX)
            return true;
    return false;
}

static bool load_plans(struct source *s, const char *family, const struct layout *l, struct ccu_records *out,
                       struct error *e)
{
    if (!load_whole(s, family, l, out, e))
        return false;
    const size_t n = out->n;
    out->n = 0;
    for (size_t i = 0; i < n; i++)
        if (leads_somewhere(out->at[i]))
            out->at[out->n++] = out->at[i];
    losses_add(&s->lost, LOSS_OTHER_KIND, n - out->n, source_file(s, family), 0);
    return true;
}

bool ccu_plans_load(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct ccu_plans *c = &p->host.records.ccu_plans;
    return load_plans(s, "additional.ccu_group_info", &ccu_group_layout, &c->groups, e) &&
           load_plans(s, "additional.ccu_wait_signal_info", &ccu_signal_layout, &c->signals, e);
}
