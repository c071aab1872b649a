/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/verdicts/verdicts.h"

#include <string.h>

const char *const verdict_names[VERDICT_KINDS] = {
    [VERDICT_COLLECTIVES] = "collectives_differ",
    [VERDICT_STEPS] = "steps_differ",
    [VERDICT_CLOCK] = "clock_offset",
    [VERDICT_SLOW_RANK] = "slow_rank",
    [VERDICT_LATE_HOST] = "late_host",
    [VERDICT_SLOW_STEP] = "slow_step",
    [VERDICT_UNEVEN] = "uneven_work",
    [VERDICT_SLOW_LINK] = "slow_link",
    [VERDICT_STAGES] = "stage_imbalance",
};

const char *const path_names[PATH_KINDS] = {
    [PATH_COMPUTING] = "computing", [PATH_FREE] = "free", [PATH_COMMUNICATION] = "communication"
};

bool verdict_add(struct job_report *r, const struct verdict *v)
{
    struct verdict *const new = list_add(&r->verdicts, r->mem);
    if (!new)
        return false;
    *new = *v;
    new->text = arena_text(r->mem, v->text, strlen(v->text));
    new->step = v->step ? arena_text(r->mem, v->step, strlen(v->step)) : NULL;
    return new->text && (!v->step || new->step);
}
