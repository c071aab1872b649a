/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

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
