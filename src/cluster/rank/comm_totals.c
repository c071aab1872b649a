/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory/tuples.h"
#include "base/text/table.h"
#include "cluster/rank/rank_columns.h"
#include "cluster/rank/rank_groups.h"

double comm_ratio(double part, double other)
{
    const double all = part + other;
    return fabs(all) < 1e-15 ? 0 : round_exact(part / all, 4);
}

double comm_bandwidth(double mb, double ms)
{
    return fabs(ms) < 1e-15 ? 0 : round_exact(mb / ms, 4);
}

/* Adds with the rounding errors of those before (Kahan), as pandas does: the last digits of the peer's sums. */
static void add_exactly(double *sum, double *error, double v)
{
    const double corrected = v - *error, next = *sum + corrected;
    *error = next - *sum - corrected;
    *sum = next;
}

enum { TIMES = 5 };
struct errors {
    double of[TIMES];
};

static bool add_times(const struct rank_summary *s, struct rank_comm_time *to, name_id total, struct arena *mem)
{
    const struct rank_comm_time *from = &s->comm_time;
    const name_id p2p = names_addz(s->names, "p2p"), collective = names_addz(s->names, "collective");
    struct tuples groups = { 0 };
    LIST(struct errors) errors = { 0 };
    size_t cap = 0;
    for (size_t i = 0; i < from->n; i++) {
        const uint32_t at = tuple_add(&groups, (uint32_t[]){ from->step[i], from->group[i] }, 2, mem);
        if (at == KEYS_NO_MEMORY)
            return false;
        if (at == to->n) {
            if (!part_grow(PART_COMM_TIME, to, &cap, mem) || !list_add(&errors, mem))
                return false;
            to->n++;
            to->op[at] = total;
            to->group[at] = from->group[i];
            to->step[at] = from->step[i];
            to->type[at] = is_p2p_op(s->names, from->type[i], from->op[i]) ? p2p : collective;
        }
        double *const sum[TIMES] = { &to->elapse_ms[at], &to->transit_ms[at], &to->wait_ms[at],
                                     &to->synchronization_ms[at], &to->idle_ms[at] };
        const double value[TIMES] = { from->elapse_ms[i], from->transit_ms[i], from->wait_ms[i],
                                      from->synchronization_ms[i], from->idle_ms[i] };
        for (size_t k = 0; k < TIMES; k++)
            add_exactly(sum[k], &errors.at[at].of[k], value[k]);
    }
    for (size_t i = 0; i < to->n; i++) {
        to->wait_ratio[i] = comm_ratio(to->wait_ms[i], to->transit_ms[i]);
        to->synchronization_ratio[i] = comm_ratio(to->synchronization_ms[i], to->transit_ms[i]);
    }
    return true;
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

struct sums { /* of a transport: a value for each operator */
    LIST(double) mb;
    LIST(double) ms;
};

/* The sum in the order in which numpy adds, which is that of the peer. */
static double sum_in_pairs(const double *v, size_t n)
{
    enum { AT_ONCE = 8, BLOCK = 128 };
    double part[AT_ONCE], sum = 0;
    if (n > BLOCK) {
        const size_t half = n / 2 - n / 2 % AT_ONCE;
        return sum_in_pairs(v, half) + sum_in_pairs(v + half, n - half);
    }
    size_t i = 0;
    if (n >= AT_ONCE) {
        memcpy(part, v, sizeof part);
        for (i = AT_ONCE; i + AT_ONCE <= n; i += AT_ONCE)
            for (size_t k = 0; k < AT_ONCE; k++)
                part[k] += v[i + k];
        sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; i < n; i++)
        sum += v[i];
    return sum;
}

static bool add_value(struct sums *s, double mb, double ms, struct arena *mem)
{
    double *mb_slot = list_add(&s->mb, mem), *ms_slot = list_add(&s->ms, mem);
    if (!mb_slot || !ms_slot)
        return false;
    *mb_slot = mb;
    *ms_slot = ms;
    return true;
}

struct row_errors {
    double count, total;
};

/* Each operator counts once for its transport, whatever the number of its packages' sizes. */
static bool add_bandwidths(const struct rank_comm_bandwidth *from, struct rank_comm_bandwidth *to, name_id total,
                           struct arena *mem)
{
    struct tuples ops = { 0 }, transports = { 0 }, rows = { 0 };
    struct keys sizes = { 0 };
    LIST(struct sums) sums = { 0 };
    LIST(uint32_t) sums_of = { 0 }; /* by row of `to` */
    LIST(struct row_errors) errors = { 0 };
    size_t cap = 0, n_ops = 0;
    for (size_t i = 0; i < from->n; i++) {
        const uint32_t step = from->step[i], group = from->group[i], transport = from->transport[i];
        const uint32_t op = tuple_add(&ops, (uint32_t[]){ step, group, transport, from->op[i] }, 4, mem);
        const uint32_t sum = tuple_add(&transports, (uint32_t[]){ step, group, transport }, 3, mem);
        const uint32_t size = keys_add(&sizes, bits_of(from->package_mb[i]), mem);
        const uint32_t at = tuple_add(&rows, (uint32_t[]){ step, group, transport, size }, 4, mem);
        if (op == KEYS_NO_MEMORY || sum == KEYS_NO_MEMORY || size == KEYS_NO_MEMORY || at == KEYS_NO_MEMORY ||
            (sum == sums.n && !list_add(&sums, mem)))
            return false;
        if (at == to->n) {
            uint32_t *slot = list_add(&sums_of, mem);
            if (!slot || !list_add(&errors, mem) || !part_grow(PART_COMM_BANDWIDTH, to, &cap, mem))
                return false;
            *slot = sum;
            to->n++;
            to->op[at] = total;
            to->group[at] = group;
            to->step[at] = step;
            to->type[at] = from->type[i];
            to->transport[at] = transport;
            to->package_mb[at] = from->package_mb[i];
        }
        add_exactly(&to->count[at], &errors.at[at].count, from->count[i]);
        add_exactly(&to->total_ms[at], &errors.at[at].total, from->total_ms[i]);
        if (op == n_ops) {
            n_ops++;
            if (!add_value(&sums.at[sum], from->transit_mb[i], from->transit_ms[i], mem))
                return false;
        }
    }
    for (size_t i = 0; i < to->n; i++) {
        const struct sums *of = &sums.at[sums_of.at[i]];
        to->transit_mb[i] = sum_in_pairs(of->mb.at, of->mb.n);
        to->transit_ms[i] = sum_in_pairs(of->ms.at, of->ms.n);
        to->gbs[i] = comm_bandwidth(to->transit_mb[i], to->transit_ms[i]);
    }
    return true;
}

bool comm_totals_of(const struct rank_summary *s, struct comm_totals *out, struct arena *mem)
{
    const name_id total = names_addz(s->names, "Total Op Info");
    *out = (struct comm_totals){ 0 };
    return add_times(s, &out->time, total, mem) && add_bandwidths(&s->comm_bandwidth, &out->band, total, mem);
}
