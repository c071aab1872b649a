/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/summary_step_trace.h"

#include <string.h>

#include "cluster/busy.h"

static int64_t length(const struct busy *b)
{
    int64_t ns = 0;
    for (size_t i = 0; i < b->n; i++)
        ns += b->end_ns[i] - b->begin_ns[i];
    return ns;
}

/* One row for all that the device did, without a step, as the reference has it for PROF directories and MindSpore. Not where steps
 * are known: the table of their times is missing then. */
bool summarise_step_trace(struct rank_summary *s, const struct rank *r)
{
    struct busy kernels, collectives, both;
    struct rank_step_trace *const t = &s->step_trace;
    if (r->has & RANK_STEP_TRACE || !(r->has & RANK_TASKS) || r->steps.n > 0)
        return true;
    if (!busy_of_rank(&kernels, r, BUSY_KERNELS, s->mem) || !busy_of_rank(&collectives, r, BUSY_COLLECTIVES, s->mem) ||
        !busy_of_rank(&both, r, BUSY_KERNELS | BUSY_COLLECTIVES, s->mem))
        return false;
    if (both.n == 0)
        return true;
    static const char receive[] = "hcom_receive";
    const int64_t busy = length(&both), computing = length(&kernels), communication = length(&collectives);
    const int64_t exposed = busy - computing, all = both.end_ns[both.n - 1] - both.begin_ns[0];
    int64_t bubble = 0;
    for (size_t i = 0; i < r->collectives.n; i++)
        if (strncmp(names_text(r->names, r->collectives.name[i]), receive, sizeof receive - 1) == 0)
            bubble += r->collectives.end_ns[i] - r->collectives.begin_ns[i];
    const int64_t ns[STEP_COLUMNS] = { [STEP_COLUMN_COMPUTING] = computing,
                                       [STEP_COLUMN_EXPOSED] = exposed,
                                       [STEP_COLUMN_OVERLAPPED] = communication - exposed,
                                       [STEP_COLUMN_COMMUNICATION] = communication,
                                       [STEP_COLUMN_FREE] = all - busy,
                                       [STEP_COLUMN_STAGE] = all - bubble,
                                       [STEP_COLUMN_BUBBLE] = bubble,
                                       [STEP_COLUMN_EXPOSED_NO_RECEIVE] = exposed - bubble };
    *t = (struct rank_step_trace){ .n = 1, .step = arena_take(s->mem, 1, sizeof *t->step) };
    for (size_t i = 0; i < STEP_COLUMNS; i++) {
        t->us[i] = arena_take(s->mem, 1, sizeof *t->us[i]);
        if (!t->us[i] || !t->step)
            return false;
        t->us[i][0] = (double)ns[i] / 1000;
    }
    t->step[0] = NAME_EMPTY;
    s->has |= RANK_STEP_TRACE;
    return true;
}
