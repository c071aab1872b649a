/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

#include <math.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/memory/tuples.h"
#include "cluster/rank/rank_columns.h"

/* Operators, and behind them their sums. */
struct cluster_comm_json_rows {
    struct rank_comm_time time;
    struct rank_comm_bandwidth band;
    uint32_t *order;       /* rows of band by operator, then by transport in the order of first appearance */
    uint32_t *first, *end; /* by row of time: places in order */
};

struct comm_json_rank {
    int64_t rank;
    struct cluster_comm_json_rows part[2];
};

/* Which rows of band belong to which operator. */
static bool index_bands(struct cluster_comm_json_rows *r, struct arena *mem)
{
    struct tuples ops = { 0 }, transports = { 0 };
    const struct rank_comm_time *t = &r->time;
    const struct rank_comm_bandwidth *b = &r->band;
    uint32_t *of = arena_take(mem, b->n + 1, sizeof *of), *end = arena_take(mem, t->n + b->n + 2, sizeof *end);
    uint32_t *transport = arena_take(mem, b->n + 1, sizeof *transport);
    r->order = arena_take(mem, b->n + 1, sizeof *r->order);
    r->first = arena_take(mem, t->n + 1, sizeof *r->first);
    r->end = arena_take(mem, t->n + 1, sizeof *r->end);
    if (!of || !end || !transport || !r->order || !r->first || !r->end)
        return false;
    for (size_t i = 0; i < b->n; i++) {
        of[i] = tuple_add(&ops, (uint32_t[]){ b->step[i], b->op[i], b->group[i] }, 3, mem);
        transport[i] = tuple_add(&transports, (uint32_t[]){ of[i], b->transport[i] }, 2, mem);
        if (of[i] == KEYS_NO_MEMORY || transport[i] == KEYS_NO_MEMORY)
            return false;
        end[of[i] + 1]++;
    }
    for (size_t i = 0; i < t->n; i++) {
        r->first[i] = tuple_add(&ops, (uint32_t[]){ t->step[i], t->op[i], t->group[i] }, 3, mem);
        if (r->first[i] == KEYS_NO_MEMORY)
            return false;
    }
    const size_t n = tuples_n(&ops, 3);
    for (size_t i = 0; i < n; i++)
        end[i + 1] += end[i];
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t op = r->first[i];
        r->first[i] = end[op];
        r->end[i] = end[op + 1];
    }
    order_fill(r->order, b->n);
    return order_by_u32(r->order, b->n, transport) && order_by_u32(r->order, b->n, of);
}

bool comm_json_add(struct comm_json *j, const struct rank_summary *s, const struct comm_totals *totals)
{
    struct comm_json_rank *r = arena_take(j->mem, 1, sizeof *r), **slot = r ? list_add(&j->ranks, j->mem) : NULL;
    if (!slot)
        return false;
    *slot = r;
    r->rank = s->identity.rank;
    return part_copy(PART_COMM_TIME, &r->part[0].time, &s->comm_time, j->mem) &&
           part_copy(PART_COMM_BANDWIDTH, &r->part[0].band, &s->comm_bandwidth, j->mem) &&
           part_copy(PART_COMM_TIME, &r->part[1].time, &totals->time, j->mem) &&
           part_copy(PART_COMM_BANDWIDTH, &r->part[1].band, &totals->band, j->mem) &&
           index_bands(&r->part[0], j->mem) && index_bands(&r->part[1], j->mem);
}

static void put_number(struct out *o, const char *key, double v)
{
    out_char(o, '"');
    out_bytes(o, key, strlen(key));
    out_lit(o, "\": ");
    out_real(o, v);
}

static void put_time(const struct rank_comm_time *t, uint32_t i, bool is_total, struct out *o)
{
    const double wait = isnan(t->wait_ratio[i]) ? comm_ratio(t->wait_ms[i], t->transit_ms[i]) : t->wait_ratio[i];
    const double synchronization = isnan(t->synchronization_ratio[i])
                                       ? comm_ratio(t->synchronization_ms[i], t->transit_ms[i])
                                       : t->synchronization_ratio[i];
    const struct {
        const char *key;
        double v;
    } entry[] = {
        { "Start Timestamp(us)", t->start_us[i] },
        { "Elapse Time(ms)", t->elapse_ms[i] },
        { "Transit Time(ms)", t->transit_ms[i] },
        { "Wait Time(ms)", t->wait_ms[i] },
        { "Synchronization Time(ms)", t->synchronization_ms[i] },
        { "Idle Time(ms)", t->idle_ms[i] },
        { "Wait Time Ratio", wait },
        { "Synchronization Time Ratio", synchronization },
    };
    for (size_t k = is_total; k < sizeof entry / sizeof *entry; k++) {
        if (k > is_total)
            out_lit(o, ", ");
        put_number(o, entry[k].key, entry[k].v);
    }
}

/* The sizes of the packages of one transport, order[first] … order[end - 1]: "1.048576": [1, 0.05362]. */
static void put_sizes(const struct cluster_comm_json_rows *r, uint32_t first, uint32_t end, struct out *o)
{
    const struct rank_comm_bandwidth *b = &r->band;
    bool is_first = true;
    out_lit(o, "\"Size Distribution\": {");
    for (uint32_t k = first; k < end; k++) {
        const uint32_t row = r->order[k];
        if (b->package_mb[row] == 0 && b->count[row] == 0)
            continue;
        if (!is_first)
            out_lit(o, ", ");
        is_first = false;
        out_char(o, '"');
        out_real(o, b->package_mb[row]);
        out_lit(o, "\": [");
        if (fabs(b->count[row]) < 1e15 && b->count[row] == trunc(b->count[row]))
            out_i64(o, (int64_t)b->count[row]);
        else
            out_real(o, b->count[row]);
        out_lit(o, ", ");
        out_real(o, b->total_ms[row]);
        out_char(o, ']');
    }
    out_char(o, '}');
}

static void put_band(const struct cluster_comm_json_rows *r, uint32_t first, uint32_t end, bool is_total, struct out *o)
{
    const struct rank_comm_bandwidth *b = &r->band;
    const uint32_t row = r->order[first];
    if (is_total)
        put_number(o, "Transit Time(ms)", b->transit_ms[row]);
    else
        put_number(o, "Transit Size(MB)", b->transit_mb[row]);
    out_lit(o, ", ");
    if (is_total)
        put_number(o, "Transit Size(MB)", b->transit_mb[row]);
    else
        put_number(o, "Transit Time(ms)", b->transit_ms[row]);
    out_lit(o, ", ");
    if (is_total) {
        put_sizes(r, first, end, o);
        out_lit(o, ", ");
        put_number(o, "Bandwidth(GB/s)", b->gbs[row]);
        return;
    }
    put_number(o, "Bandwidth(GB/s)", b->gbs[row]);
    out_lit(o, ", ");
    put_number(o, "Large Packet Ratio", b->large_packet_ratio[row]);
    out_lit(o, ", ");
    put_sizes(r, first, end, o);
}

static void put_op(const struct names *names, const struct cluster_comm_json_rows *r, uint32_t row, bool is_total,
                   struct out *o)
{
    const struct rank_comm_bandwidth *b = &r->band;
    out_lit(o, "{\"Communication Time Info\": {");
    put_time(&r->time, row, is_total, o);
    out_lit(o, "}, \"Communication Bandwidth Info\": {");
    for (uint32_t from = r->first[row], end; from < r->end[row]; from = end) {
        const name_id transport = b->transport[r->order[from]];
        for (end = from; end < r->end[row] && b->transport[r->order[end]] == transport;)
            end++;
        if (from > r->first[row])
            out_lit(o, ", ");
        out_json(o, names_text(names, transport), names_len(names, transport));
        out_lit(o, ": {");
        put_band(r, from, end, is_total, o);
        out_char(o, '}');
    }
    out_lit(o, "}}");
}

static void put_ranks(const void *context, const struct set_entries *e, const uint32_t *order, size_t n, struct out *o)
{
    const struct comm_json *j = context;
    for (size_t i = 0; i < n; i++) {
        const struct comm_json_rank *r = j->ranks.at[e->rank[order[i]]];
        const bool is_total = e->op[order[i]] >> 31;
        if (i > 0)
            out_lit(o, ", ");
        out_char(o, '"');
        out_i64(o, r->rank);
        out_lit(o, "\": ");
        put_op(j->names, &r->part[is_total], e->row[order[i]], is_total, o);
    }
}

bool comm_json_write(const struct comm_json *j, const struct rank_sets *sets, struct out *o)
{
    struct set_entries e = { .mem = j->mem };
    for (size_t i = 0; i < j->ranks.n; i++)
        for (unsigned part = 0; part < 2; part++) {
            const struct rank_comm_time *t = &j->ranks.at[i]->part[part].time;
            for (size_t row = 0; row < t->n; row++) {
                const struct set_entry new = { .set = rank_set_of(sets, t->group[row],
                                                                  is_p2p_op(j->names, t->type[row], t->op[row])),
                                               .step = t->step[row],
                                               .op = t->op[row],
                                               .group = t->group[row],
                                               .is_total = part == 1,
                                               .rank = (uint32_t)i,
                                               .row = (uint32_t)row };
                if (!set_entries_add(&e, &new))
                    return false;
            }
        }
    return sets_write(sets, &e, o, put_ranks, j);
}
