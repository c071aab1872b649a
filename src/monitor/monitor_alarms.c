/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/monitor_alarms.h"

#include <stdio.h>

enum { WHOLE_JOB = -1 };

static bool goes_on(const struct monitor_window *w, const struct slow *f)
{
    const size_t n = w->run.n;
    switch (f->shape) {
    case SLOW_ALWAYS: return n > 0;
    case SLOW_SINCE: return true;
    case SLOW_DRIFT: return f->last + 1 == n;
    default: return false;
    }
}

static struct alarm *alarm_of(struct alarms *a, int32_t rank)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->at[i].rank == rank)
            return &a->at[i];
    if (a->n == ALARMS_MOST)
        return NULL;
    a->at[a->n] = (struct alarm){ .rank = rank };
    return &a->at[a->n++];
}

static void alarms_forget(struct alarms *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        a->at[i].is_new = false;
        a->at[i].n_missed++; /* until it is found */
        if (!a->at[i].is_over)
            a->at[n++] = a->at[i];
    }
    a->n = n;
}

static bool finding_take(struct alarms *a, const struct monitor_window *w, const struct slow *f, struct arena *mem)
{
    const int32_t rank = f->rank == JUDGE_ALL ? WHOLE_JOB : monitor_rank_number(w->rank[f->rank].of);
    const char *const text = run_finding_text(&w->run, f, mem);
    struct alarm *const one = alarm_of(a, rank);
    if (!text)
        return false;
    if (!one || (one->n_seen > 0 && one->n_missed == 0)) /* the first finding about a rank costs most */
        return true;
    if (one->n_seen++ == 0)
        one->since_ns = f->shape == SLOW_ALWAYS ? w->begin_ns : w->row_unix_ns[f->first];
    one->n_missed = 0;
    one->excess_ns = f->excess_ns > one->excess_ns ? f->excess_ns : one->excess_ns;
    one->share = f->share > one->share ? f->share : one->share;
    snprintf(one->text, sizeof one->text, "%s", text);
    return true;
}

bool alarms_update(struct alarms *a, const struct monitor_window *w, struct arena *mem)
{
    alarms_forget(a);
    for (size_t i = 0; i < w->run.of.n; i++)
        if (goes_on(w, &w->run.of.at[i]) && !finding_take(a, w, &w->run.of.at[i], mem))
            return false;
    for (size_t i = 0; i < a->n; i++) {
        struct alarm *const one = &a->at[i];
        if (!one->is_on && one->n_missed > 0) {
            one->is_over = true; /* seen too few times in a row: it never was one */
        } else if (!one->is_on && one->n_seen >= ALARM_BEGIN_AFTER) {
            one->is_on = one->is_new = true;
            one->began_ns = w->end_ns;
            a->n_began++;
        } else if (one->is_on && one->n_missed >= ALARM_END_AFTER) {
            one->is_over = true;
            one->ended_ns = w->end_ns;
        }
    }
    return true;
}
