/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <string.h>

/* What a column shows of a counter. Counters of the kernel only grow: SHOWN_GROWTH is by how much during the
 * recording. */
enum count_tables_shown { SHOWN_MOST, SHOWN_MEAN, SHOWN_GROWTH, SHOWN_KB /* growth, of words of 4 bytes */ };
struct count_column {
    const char *counter;
    enum count_tables_shown shown;
};

static struct cell count_cell(const struct host_count *c, enum count_tables_shown shown)
{
    if (shown == SHOWN_MOST)
        return cell_uint(c->most);
    if (shown == SHOWN_MEAN)
        return cell_real(round_exact(c->sum / (double)c->n, 3));
    if (c->last < c->first) /* it was reset during the recording */
        return cell_na();
    return shown == SHOWN_KB ? cell_real(round_exact((double)(c->last - c->first) * 4 / 1024, 3))
                             : cell_uint(c->last - c->first);
}

enum { COLUMNS_MOST = 16 };

/* Adds a row for each node or port, in the order of their first counters. There are at most 1024 counters
 * (load/samplers/host_counts.c). */
static bool counts_fill(const struct usage_part *p, const struct host_counts *all, const struct count_column *column,
                        size_t n_columns)
{
    for (size_t i = 0; i < all->n; i++) {
        const name_id thing = all->at[i].thing;
        struct cell cells[2 + COLUMNS_MOST] = { usage_source(p), cell_name(thing) };
        size_t first = 0;
        while (all->at[first].thing != thing)
            first++;
        if (first < i)
            continue;
        for (size_t k = 0; k < n_columns; k++) {
            cells[2 + k] = cell_na();
            for (size_t c = first; c < all->n; c++)
                if (all->at[c].thing == thing &&
                    strcmp(names_text(p->names, all->at[c].counter), column[k].counter) == 0)
                    cells[2 + k] = count_cell(&all->at[c], column[k].shown);
        }
        grid_row(p->grid, cells);
    }
    return true;
}

static const struct column numa_columns[] = {
    { .name = "Device_id" },
    { .name = "Node" },
    { .name = "Peak Used Memory(KB)" },
    { .name = "Average Used Memory(KB)" },
    { .name = "Numa Hit" },
    { .name = "Numa Miss" },
    { .name = "Numa Foreign" },
    { .name = "Interleave Hit" },
    { .name = "Local Node" },
    { .name = "Other Node" },
};

static bool numa_fill(const struct usage_part *p)
{
    static const struct count_column shown[] = {
        { "memory_kb", SHOWN_MOST },    { "memory_kb", SHOWN_MEAN },      { "numa_hit", SHOWN_GROWTH },
        { "numa_miss", SHOWN_GROWTH },  { "numa_foreign", SHOWN_GROWTH }, { "interleave_hit", SHOWN_GROWTH },
        { "local_node", SHOWN_GROWTH }, { "other_node", SHOWN_GROWTH },
    };
    return counts_fill(p, &p->usage->counts[COUNTS_NUMA], shown, sizeof shown / sizeof *shown);
}

static const struct column roce_columns[] = {
    { .name = "Device_id" },       { .name = "Port" },
    { .name = "Rx(KB)" },          { .name = "Tx(KB)" },
    { .name = "Rx Packets" },      { .name = "Tx Packets" },
    { .name = "Rx Errors" },       { .name = "Tx Discards" },
    { .name = "Out Of Sequence" }, { .name = "Packet Sequence Errors" },
    { .name = "Ack Timeouts" },    { .name = "CNP Sent" },
    { .name = "CNP Handled" },     { .name = "RNR NAK Retries" },
};

static bool roce_fill(const struct usage_part *p)
{
    static const struct count_column shown[] = {
        { "port_rcv_data", SHOWN_KB },
        { "port_xmit_data", SHOWN_KB },
        { "port_rcv_packets", SHOWN_GROWTH },
        { "port_xmit_packets", SHOWN_GROWTH },
        { "port_rcv_errors", SHOWN_GROWTH },
        { "port_xmit_discards", SHOWN_GROWTH },
        { "out_of_sequence", SHOWN_GROWTH },
        { "packet_seq_err", SHOWN_GROWTH },
        { "local_ack_timeout_err", SHOWN_GROWTH },
        { "np_cnp_sent", SHOWN_GROWTH },
        { "rp_cnp_handled", SHOWN_GROWTH },
        { "rnr_nak_retry_err", SHOWN_GROWTH },
    };
    return counts_fill(p, &p->usage->counts[COUNTS_ROCE], shown, sizeof shown / sizeof *shown);
}

#define REPORT(columns, filler)                                                                                        \
    (&(const struct usage_report){ (columns), sizeof(columns) / sizeof *(columns), (filler), SAMPLED_CPUS })

bool host_numa_usage_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(numa_columns, numa_fill), out, e);
}

bool host_roce_usage_table(const struct export *x, struct table *out, struct error *e)
{
    return usage_table(x, REPORT(roce_columns, roce_fill), out, e);
}
