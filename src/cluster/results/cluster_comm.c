/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

#include <stdlib.h>
#include <string.h>

static const struct result_column time_columns[] = {
    { "step", "TEXT", NULL, 0 },
    { "rank_id", "INTEGER", NULL, 0 },
    { "hccl_op_name", "TEXT", NULL, 0 },
    { "group_name", "TEXT", NULL, 0 },
    { "start_timestamp", "REAL", NULL, 0 },
    { "elapsed_time", "REAL", NULL, 0 },
    { "transit_time", "REAL", NULL, 0 },
    { "wait_time", "REAL", NULL, 0 },
    { "synchronization_time", "REAL", NULL, 0 },
    { "idle_time", "REAL", NULL, 0 },
    { "synchronization_time_ratio", "REAL", NULL, 0 },
    { "wait_time_ratio", "REAL", NULL, 0 },
};

static const struct result_column band_columns[] = {
    { "step", "TEXT", NULL, 0 },         { "rank_id", "INTEGER", NULL, 0 }, { "hccl_op_name", "TEXT", NULL, 0 },
    { "group_name", "TEXT", NULL, 0 },   { "band_type", "TEXT", NULL, 0 },  { "transit_size", "REAL", NULL, 0 },
    { "transit_time", "REAL", NULL, 0 }, { "bandwidth", "REAL", NULL, 0 },  { "large_packet_ratio", "REAL", NULL, 0 },
    { "package_size", "REAL", NULL, 0 }, { "count", "INTEGER", NULL, 0 },   { "total_duration", "REAL", NULL, 0 },
};

#define COLUMNS(array) .column = array, .n_columns = sizeof array / sizeof *array
static const struct result_table time_table = { .name = "ClusterCommunicationTime",
                                                .file = "cluster_communication_time.csv",
                                                COLUMNS(time_columns) },
                                 band_table = { .name = "ClusterCommunicationBandwidth",
                                                .file = "cluster_communication_bandwidth.csv",
                                                COLUMNS(band_columns) };

/* The ratios of single operators are left at 0, as the peer has them. */
static bool put_times(struct cluster_comm *c, const struct rank_comm_time *t, int64_t rank, bool are_totals,
                      struct error *e)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct cell row[] = {
            cell_name(t->step[i]),
            cell_int(rank),
            cell_name(t->op[i]),
            cell_name(t->group[i]),
            cell_real(t->start_us[i]),
            cell_real(t->elapse_ms[i]),
            cell_real(t->transit_ms[i]),
            cell_real(t->wait_ms[i]),
            cell_real(t->synchronization_ms[i]),
            cell_real(t->idle_ms[i]),
            cell_real(are_totals ? t->synchronization_ratio[i] : 0),
            cell_real(are_totals ? t->wait_ratio[i] : 0),
        };
        if (!writer_rows(c->writer, c->time, row, 1, e))
            return false;
    }
    return true;
}

static bool put_bandwidths(struct cluster_comm *c, const struct rank_comm_bandwidth *t, int64_t rank, struct error *e)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct cell row[] = {
            cell_name(t->step[i]),
            cell_int(rank),
            cell_name(t->op[i]),
            cell_name(t->group[i]),
            cell_name(t->transport[i]),
            cell_real(t->transit_mb[i]),
            cell_real(t->transit_ms[i]),
            cell_real(t->gbs[i]),
            cell_real(t->large_packet_ratio[i]),
            cell_real(t->package_mb[i]),
            t->count[i] >= -1e15 && t->count[i] <= 1e15 ? cell_int((int64_t)t->count[i]) : cell_real(t->count[i]),
            cell_real(t->total_ms[i]),
        };
        if (!writer_rows(c->writer, c->band, row, 1, e))
            return false;
    }
    return true;
}

bool cluster_comm_add(struct cluster_comm *c, const struct rank_summary *s, const struct comm_totals *totals,
                      struct error *e)
{
    if (s->comm_time.n > 0 && !c->time && !(c->time = writer_table(c->writer, c->class_name, &time_table, e)))
        return false;
    if (s->comm_bandwidth.n > 0 && !c->band && !(c->band = writer_table(c->writer, c->class_name, &band_table, e)))
        return false;
    const int64_t rank = s->identity.rank;
    return put_times(c, &s->comm_time, rank, false, e) && put_times(c, &totals->time, rank, true, e) &&
           put_bandwidths(c, &s->comm_bandwidth, rank, e) && put_bandwidths(c, &totals->band, rank, e);
}

static const struct result_column columns[] = {
    { "type", "TEXT", NULL, 0 },     { "rank_set", "TEXT", NULL, 0 }, { "group_name", "TEXT", NULL, 0 },
    { "group_id", "TEXT", NULL, 0 }, { "pg_name", "TEXT", NULL, 0 },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct cluster_groups_row {
    const struct group *of;
    const char *name;
};

static int by_type_and_name(const void *a, const void *b)
{
    const struct cluster_groups_row *l = a, *r = b;
    if (l->of->is_p2p != r->of->is_p2p)
        return l->of->is_p2p ? 1 : -1;
    return strcmp(l->name, r->name);
}

static const char *type_of(const struct group *of)
{
    return of->is_p2p ? "p2p" : "collective";
}

bool cluster_groups_table(const struct groups *g, struct results *out, bool is_always_db)
{
    const size_t n = g->list.n;
    struct cluster_groups_row *row = arena_take(out->mem, n + 1, sizeof *row);
    struct cell *grid = arena_take(out->mem, n * COLUMNS + 1, sizeof *grid), *at = grid;
    if (!row || !grid)
        return false;
    for (size_t i = 0; i < n; i++)
        row[i] = (struct cluster_groups_row){ &g->list.at[i], names_text(g->names, g->list.at[i].name) };
    qsort(row, n, sizeof *row, by_type_and_name);
    for (size_t i = 0; i < n; i++) {
        const struct noted_group *noted = groups_noted(g, row[i].of->name);
        size_t n_ranks;
        const int64_t *rank = group_ranks(g, row[i].of, &n_ranks);
        const char *set = rank ? ranks_text(rank, n_ranks, false, out->mem) : NULL;
        if (!set)
            return false;
        *at++ = cell_text(type_of(row[i].of));
        *at++ = cell_text(set);
        *at++ = cell_text(row[i].name);
        *at++ = cell_text(noted ? noted->id : "");
        *at++ = cell_text(noted ? noted->pg_name : "");
    }
    return n == 0 || results_add(out, &(struct result_table){ .name = "CommunicationGroupMapping",
                                                              .column = columns,
                                                              .n_columns = COLUMNS,
                                                              .n_rows = n,
                                                              .grid = grid,
                                                              .is_always_db = is_always_db });
}

static void put_ranks(struct out *o, const int64_t *rank, size_t n)
{
    out_char(o, '[');
    for (size_t i = 0; rank && i < n; i++) {
        if (i > 0)
            out_lit(o, ", ");
        out_i64(o, rank[i]);
    }
    out_char(o, ']');
}

static void put_seen(const struct groups *g, bool is_p2p, struct out *o)
{
    bool is_first = true;
    out_char(o, '[');
    for (size_t i = 0; i < g->list.n; i++) {
        if (g->list.at[i].is_p2p != is_p2p)
            continue;
        if (!is_first)
            out_lit(o, ", ");
        put_ranks(o, set_order(g->list.at[i].seen.at, g->list.at[i].seen.n, g->mem), g->list.at[i].seen.n);
        is_first = false;
    }
    out_char(o, ']');
}

static void cluster_groups_put_text(struct out *o, const char *key, const char *text)
{
    out_lit(o, ", \"");
    out_bytes(o, key, strlen(key));
    out_lit(o, "\": ");
    out_json(o, text, strlen(text));
}

void cluster_groups_json(const struct groups *g, struct out *o)
{
    bool is_first = true;
    out_lit(o, "{\"collective\": ");
    put_seen(g, false, o);
    out_lit(o, ", \"p2p\": ");
    put_seen(g, true, o);
    out_lit(o, ", \"comm_group_parallel_info\": [");
    for (int is_p2p = 0; is_p2p < 2; is_p2p++)
        for (size_t i = 0; i < g->list.n; i++) {
            const struct group *of = &g->list.at[i];
            const struct noted_group *noted = groups_noted(g, of->name);
            size_t n;
            if (of->is_p2p != (is_p2p == 1))
                continue;
            if (!is_first)
                out_lit(o, ", ");
            is_first = false;
            out_lit(o, "{\"type\": \"");
            out_bytes(o, type_of(of), strlen(type_of(of)));
            out_lit(o, "\", \"rank_set\": ");
            const int64_t *rank = group_ranks(g, of, &n);
            put_ranks(o, rank, n);
            cluster_groups_put_text(o, "group_name", names_text(g->names, of->name));
            cluster_groups_put_text(o, "group_id", noted ? noted->id : "");
            cluster_groups_put_text(o, "pg_name", noted ? noted->pg_name : "");
            out_char(o, '}');
        }
    out_lit(o, "]}");
}
