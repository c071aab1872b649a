/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/ranks.h"

#include <string.h>

#include "base/memory/sort.h"
#include "answers/judge/job_peers.h"
#include "answers/judge/job_waits.h"

static int64_t own_ns(const struct rank_row *r)
{
    return r->part_ns[STEP_COMPUTING] + r->part_ns[STEP_OVERLAPPED] + r->part_ns[STEP_FREE];
}

bool rank_row_of(struct rank_row *r, const struct collection *s, struct arena *mem)
{
    const size_t n_devices = s->profile.n_devices;
    for (size_t i = 0; i < (n_devices > 0 ? n_devices : 1); i++) {
        const struct device *d = n_devices > 0 ? &s->profile.device[i] : NULL;
        const struct run_rank view = run_rank_of(&s->profile, d, s);
        struct rank_row one = { .n_lost = losses_damage(&s->lost) };
        struct arena *spare = arena_new();
        struct step_series series;
        const bool done = spare && run_rank_series(&series, &view, spare) && run_member_of(&one.of, &view, mem);
        if (done) {
            one.time_ns = series.median_ns;
            memcpy(one.part_ns, series.median_part_ns, sizeof one.part_ns);
            one.of.device_row = i;
            if (i == 0 || own_ns(&one) > own_ns(r))
                *r = one;
        }
        arena_free(spare);
        if (!done)
            return false;
    }
    return true;
}

bool ranks_compare(struct job_choice *out, struct rank_row *row, struct run_member *of, size_t n, uint32_t *order,
                   struct arena *mem)
{
    const struct job_question nothing = { 0 };
    struct error unused = { 0 };
    uint64_t *key = arena_take(mem, n, sizeof *key);
    /* By rank, to find those that are there twice; then, as sorting is stable, by what they need. */
    for (size_t i = 0; key && i < n; i++) {
        of[i] = row[i].of;
        of[i].path = row[i].name;
        key[i] = of[i].has_rank ? (uint64_t)of[i].rank ^ UINT64_C(1) << 63 : UINT64_MAX;
    }
    order_fill(order, n);
    bool done = key && job_waits_find(of, n, mem) && job_peers_find(of, n, mem) &&
                job_choose(out, of, n, &nothing, mem, &unused) && order_by_u64(order, n, key);
    for (size_t i = 1; done && i < n; i++) {
        struct rank_row *a = &row[order[i - 1]], *b = &row[order[i]];
        if (a->of.has_rank && b->of.has_rank && a->of.rank == b->of.rank)
            a->is_twice = b->is_twice = true;
    }
    for (size_t i = 0; done && i < n; i++)
        key[i] = UINT64_MAX - (uint64_t)own_ns(&row[i]);
    return done && order_by_u64(order, n, key);
}

const struct slow *rank_row_finding(const struct job_steps *j, size_t row)
{
    for (size_t i = 0; i < run_findings(&j->run); i++)
        if (j->run.of.at[i].shape == SLOW_ALWAYS && j->run.of.at[i].rank == row)
            return &j->run.of.at[i];
    return NULL;
}
