/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include "answers/checks/advise_checks.h"
#include "answers/judge/job_waits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/advise_report.h"

struct advise_rank *advise_look(const struct run_rank *q, struct arena *mem)
{
    struct advise_rank *r = arena_take(mem, 1, sizeof *r);
    if (!r || !(r->finding = arena_take(mem, n_advise_checks, sizeof *r->finding)) || !advise_look_at(r, q, mem))
        return NULL;
    return r;
}

bool view_advice_add(struct view_advice *a, const struct run_rank *q, size_t device_row, const char *path,
                     int64_t shift_ns, struct arena *mem)
{
    const struct advise_rank *found = advise_look(q, mem);
    if (found && found->step_ns <= 0)
        return true; /* neither steps nor operators nor kernels: nothing to save time of */
    struct advise_rank *to = found ? list_add(&a->ranks, mem) : NULL;
    int64_t *shift = list_add(&a->shift_ns, mem);
    if (!to || !shift)
        return false;
    *to = *found;
    *shift = shift_ns;
    if (!run_member_of(&to->rank, q, mem))
        return false;
    to->rank.path = arena_text(mem, path, strlen(path));
    to->rank.device_row = device_row;
    return to->rank.path != NULL;
}

bool view_advice_add_all(struct view_advice *a, const struct recording *l, const char *path, int64_t shift_ns,
                         struct arena *mem)
{
    for (size_t i = 0; i < recording_n_devices(l); i++) {
        const struct run_rank view = recording_rank(l, i);
        if (!view_advice_add(a, &view, i, path, shift_ns, mem))
            return false;
    }
    return true;
}

bool view_text_put(struct view_input *in, const char *key, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;
    const char *kept = text ? arena_text(in->mem, text, strlen(text)) : NULL;
    pthread_rwlock_wrlock(&in->lock); /* pages may be reading what is there already */
    struct view_text *to = kept ? list_add(&in->texts, in->mem) : NULL;
    if (to)
        *to = (struct view_text){ key, kept };
    pthread_rwlock_unlock(&in->lock);
    free(text);
    json_decref(value);
    return to != NULL;
}

/* Makes times relative to a base, because numbers of a page have only 53 bits. */
static void rebase(json_t *list, const struct advise_report *r, const struct view_advice *a, int64_t *base_ns)
{
    bool has_base = false;
    for (size_t i = 0; i < advise_n_found(r); i++) {
        const struct finding *f = &r->advice[i].finding;
        json_t *evidence = json_object_get(json_array_get(list, i), "evidence");
        for (size_t k = 0; k < f->n; k++) {
            const int64_t ns = f->evidence[k].place.begin_ns + a->shift_ns.at[r->advice[i].rank];
            json_t *place = json_object_get(json_array_get(evidence, k), "place");
            if (!json_is_object(place))
                continue;
            *base_ns = has_base ? *base_ns : ns;
            has_base = true;
            json_object_set_new(place, "begin_ns", json_integer((json_int_t)(ns - *base_ns)));
        }
    }
}

/* What the ranks know of each other. */
static bool ranks_join(const struct view_advice *a, struct arena *mem)
{
    struct run_member *all = arena_take(mem, a->ranks.n, sizeof *all);
    for (size_t i = 0; all && i < a->ranks.n; i++)
        all[i] = a->ranks.at[i].rank;
    bool done = all && job_waits_find(all, a->ranks.n, mem);
    for (size_t i = 0; done && i < a->ranks.n; i++) {
        a->ranks.at[i].rank.waits = all[i].waits;
        done = advise_take_waits(&a->ranks.at[i], mem);
    }
    return done;
}

bool view_advice_put(const struct view_advice *a, struct view_input *in)
{
    struct advice *advice = arena_take(in->mem, n_advise_checks, sizeof *advice);
    if (a->ranks.n == 0)
        return true;
    if (!advice || !ranks_join(a, in->mem) || !advise_job(advice, a->ranks.at, a->ranks.n, in->mem))
        return false;
    const struct advise_report report = { .rank = a->ranks.at, .n_ranks = a->ranks.n, .advice = advice };
    json_t *list = advise_json(&report);
    int64_t base_ns = 0;
    char base[24];
    rebase(list, &report, a, &base_ns);
    snprintf(base, sizeof base, "%lld", (long long)base_ns);
    return view_text_put(
        in, "advice",
        json_pack("{s:s, s:o, s:o}", "base_ns", base, "advice", list, "advise_checks", advise_checks_json(&report)));
}
