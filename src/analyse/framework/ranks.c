/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/ranks.h"

#include <stdlib.h>

#include "base/sort.h"

static int64_t computing_ns(const struct rank_row *r)
{
    return r->part_ns[STEP_COMPUTING] + r->part_ns[STEP_OVERLAPPED];
}

static int64_t own_ns(const struct rank_row *r)
{
    return computing_ns(r) + r->part_ns[STEP_FREE];
}

bool rank_row_of(struct rank_row *r, const struct collection *s)
{
    const size_t n_devices = s->profile.n_devices;
    *r = (struct rank_row){ .has_rank = s->settings.has_rank,
                            .rank = s->settings.rank,
                            .n_lost = losses_damage(&s->lost),
                            .n_steps = s->steps.n };
    for (size_t i = 0; i < (n_devices > 0 ? n_devices : 1); i++) {
        struct arena *mem = arena_new();
        struct step_series series;
        const bool done =
            mem && step_series_of_collection(&series, s, n_devices > 0 ? &s->profile.device[i] : NULL, NULL, mem);
        if (done) {
            struct rank_row one = *r;
            one.is_host = series.is_host;
            one.time_ns = series.spread.median_ns;
            for (int c = 0; c < STEP_PARTS; c++)
                one.part_ns[c] = series.median_part_ns[c];
            if (i == 0 || own_ns(&one) > own_ns(r))
                *r = one;
        }
        arena_free(mem);
        if (!done)
            return false;
    }
    return true;
}

/* Finds slow ranks, and the part of a step in which they are slow. Rows without a device are compared only with each
 * other. */
static bool find_slow(struct rank_row *row, size_t n, bool is_host, int64_t *value)
{
    struct spread own, part[2];
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (row[i].is_host == is_host)
            value[k++] = own_ns(&row[i]);
    if (!spread_find(&own, value, k))
        return false;
    for (int p = 0; p < 2; p++) {
        k = 0;
        for (size_t i = 0; i < n; i++)
            if (row[i].is_host == is_host)
                value[k++] = p == 0 ? computing_ns(&row[i]) : row[i].part_ns[STEP_FREE];
        if (!spread_find(&part[p], value, k))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        struct rank_row *r = &row[i];
        if (r->is_host != is_host)
            continue;
        r->is_slow = spread_is_outlier(&own, own_ns(r));
        const int64_t computing = computing_ns(r) - part[0].median_ns, idle = r->part_ns[STEP_FREE] - part[1].median_ns;
        r->part = computing >= idle ? STEP_COMPUTING : STEP_FREE;
        r->more_ns = computing >= idle ? computing : idle;
        r->median_part_ns = part[computing >= idle ? 0 : 1].median_ns;
    }
    return true;
}

bool ranks_compare(struct rank_row *row, size_t n, uint32_t *order)
{
    int64_t *value = calloc(n + 1, sizeof *value);
    uint64_t *key = calloc(n + 1, sizeof *key);
    bool done = value && key && find_slow(row, n, false, value) && find_slow(row, n, true, value);
    /* By rank, to find those that are there twice; then, as sorting is stable, by what they need. */
    for (size_t i = 0; done && i < n; i++)
        key[i] = row[i].has_rank ? (uint64_t)row[i].rank ^ UINT64_C(1) << 63 : UINT64_MAX;
    order_fill(order, n);
    done = done && order_by_u64(order, n, key);
    for (size_t i = 1; done && i < n; i++) {
        struct rank_row *a = &row[order[i - 1]], *b = &row[order[i]];
        if (a->has_rank && b->has_rank && a->rank == b->rank)
            a->is_twice = b->is_twice = true;
    }
    for (size_t i = 0; done && i < n; i++)
        key[i] = UINT64_MAX - (uint64_t)own_ns(&row[i]);
    done = done && order_by_u64(order, n, key);
    free(value);
    free(key);
    return done;
}
