/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <stdio.h>

#include "base/text/stamp.h"
#include "raw/sampler.h"

static const double MBS_PER_BYTE_US = 1e6 / 1048576; /* PCIe counts bytes per µs */

/* A sample is valid if its greatest value is not below its least one. */
static bool pcie_keeps(const struct samples *s, size_t row)
{
    const unsigned first = PCIE_FIRST + PCIE_TX_POST * PCIE_STATISTICS;
    return samples_uint(s, first + PCIE_MAX, row) >= samples_uint(s, first + PCIE_MIN, row);
}

static struct cell value_million(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_uint(samples_uint(v->s, column, row) * 1000000);
}

static struct cell value_pcie_mbs(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(samples_real(v->s, column, row) * 1e6 / 1024 / 1024);
}

static struct cell value_pcie_us(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(samples_real(v->s, column, row) / 1000);
}

static struct cell value_pcie_round(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(round_exact(samples_real(v->s, column, row) * MBS_PER_BYTE_US, 3));
}

static struct cell value_pcie_round_us(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_real(round_exact(samples_real(v->s, column, row) / 1000, 3));
}

static struct cell value_zero(const struct counter_view *v, size_t row, unsigned column)
{
    (void)v, (void)row, (void)column;
    return cell_uint(0);
}

static struct cell value_zero_real(const struct counter_view *v, size_t row, unsigned column)
{
    (void)v, (void)row, (void)column;
    return cell_real(0);
}

static void draw_ub(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    static const char *const series[] = { "bandwidth_rx(MB/s)", "bandwidth_tx(MB/s)" };
    for (size_t i = 0; i < v->n; i++) {
        const size_t row = view_row(v, i);
        char name[32];
        if (!trace_wants(t, v->s->at_ns[row], v->s->at_ns[row]))
            continue;
        snprintf(name, sizeof name, "UB Port%03u", (unsigned)samples_uint(v->s, UB_PORT, row));
        trace_counter(t, name, pid, 0, v->s->at_ns[row]);
        for (unsigned way = 0; way < 2; way++)
            if (x->is_generic)
                trace_arg_uint(t, series[way], samples_uint(v->s, UB_RX + way, row));
            else
                trace_arg_real(t, series[way], samples_real(v->s, UB_RX + way, row));
        trace_end(t);
    }
}

/* clang-format off */
#define PCIE_OF(value, statistic) (PCIE_FIRST + (value) * PCIE_STATISTICS + (statistic))
#define PCIE_MEAN(name, get, value) { name, get, PCIE_OF(value, PCIE_AVG), NULL }
#define PCIE_ARGS(get, tx, rx) { PCIE_MEAN("Tx", get, tx), PCIE_MEAN("Rx", get, rx) }
#define PCIE_LATENCY(get, zero) { PCIE_MEAN("Tx", get, PCIE_TX_LATENCY), { "Rx", zero, 0, NULL } }
static const struct counter pcie_counter[] = {
    { "PCIe_post", .when = ANY_SAMPLE, .arg = PCIE_ARGS(value_pcie_mbs, PCIE_TX_POST, PCIE_RX_POST) },
    { "PCIe_nonpost", .when = ANY_SAMPLE, .arg = PCIE_ARGS(value_pcie_mbs, PCIE_TX_NONPOST, PCIE_RX_NONPOST) },
    { "PCIe_cpl", .when = ANY_SAMPLE, .arg = PCIE_ARGS(value_pcie_mbs, PCIE_TX_CPL, PCIE_RX_CPL) },
    { "PCIe_nonpost_latency", .when = ANY_SAMPLE, .arg = PCIE_LATENCY(value_pcie_us, value_zero_real) },
};
static const struct counter pcie_generic_counter[] = {
    { "PCIe_post", .when = ANY_SAMPLE, .arg = PCIE_ARGS(value_pcie_round, PCIE_TX_POST, PCIE_RX_POST) },
    { "PCIe_nonpost", .when = ANY_SAMPLE, .arg = PCIE_ARGS(value_pcie_round, PCIE_TX_NONPOST, PCIE_RX_NONPOST) },
    { "PCIe_cpl", .when = ANY_SAMPLE, .arg = PCIE_ARGS(value_pcie_round, PCIE_TX_CPL, PCIE_RX_CPL) },
    { "PCIe_nonpost_latency", .when = ANY_SAMPLE, .arg = PCIE_LATENCY(value_pcie_round_us, value_zero) },
};

static const struct counter hccs_counter[] = {
    { "Tx", .when = ANY_SAMPLE, .arg = { { "Tx(MB/s)", value_real, HCCS_RATE_TX_MBS, NULL } } },
    { "Rx", .when = ANY_SAMPLE, .arg = { { "Rx(MB/s)", value_real, HCCS_RATE_RX_MBS, NULL } } },
};

#define PORT_ARGS(way, first)                                                                  \
    {                                                                                          \
        { way " Bandwidth Efficiency", value_real, (first) + PORT_RATE_EFFICIENCY, NULL },     \
        { way " Packets", value_real, (first) + PORT_RATE_PACKETS, NULL },                     \
        { way " Error Rate", value_real, (first) + PORT_RATE_ERRORS, NULL },                   \
        { way " Dropped Rate", value_real, (first) + PORT_RATE_DROPPED, NULL },                \
    }
static const struct counter port_counter[] = {
    { "Port ", "/Rx", .when = ANY_SAMPLE, .arg = PORT_ARGS("Rx", PORT_RATE_RX) },
    { "Port ", "/Tx", .when = ANY_SAMPLE, .arg = PORT_ARGS("Tx", PORT_RATE_TX) },
};

#define OF_PCIE { { SAMPLER_PCIE }, 1, .keeps = pcie_keeps }
const struct counter_process pcie_process = {
    .name = "PCIe", .sort = 23, .source = OF_PCIE, .counter = pcie_counter, .generic = pcie_generic_counter,
    .n_counters = 4,
};
const struct counter_process hccs_process = {
    .name = "HCCS", .sort = 20, .source = { { SAMPLER_HCCS }, 1, .of_rates = true },
    .counter = hccs_counter, .n_counters = 2,
};
const struct counter_process nic_process = {
    .name = "NIC", .sort = 21, .source = { { SAMPLER_NIC }, 1, .of_rates = true }, .unit = PORT_RATE_FUNCTION,
    .counter = port_counter, .n_counters = 2,
};
const struct counter_process roce_process = {
    .name = "RoCE", .sort = 22, .source = { { SAMPLER_ROCE }, 1, .of_rates = true }, .unit = PORT_RATE_FUNCTION,
    .counter = port_counter, .n_counters = 2,
};

const struct counter_process ub_process = {
    .name = "Ub", .generic_name = "UB", .sort = 33, .source = { { SAMPLER_UB }, 1, .of_rates = false }, .draw = draw_ub,
};

#define PCIE_COLUMNS(name, get, value)                              \
    { name "Min", get, PCIE_OF(value, PCIE_MIN), "NUMERIC" },       \
    { name "Max", get, PCIE_OF(value, PCIE_MAX), "NUMERIC" },       \
    { name "Avg", get, PCIE_OF(value, PCIE_AVG), "NUMERIC" }
static const struct counter_value pcie_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    PCIE_COLUMNS("txPost", value_million, PCIE_TX_POST),
    PCIE_COLUMNS("txNonpost", value_million, PCIE_TX_NONPOST),
    PCIE_COLUMNS("txCpl", value_million, PCIE_TX_CPL),
    PCIE_COLUMNS("txNonpostLatency", value_uint, PCIE_TX_LATENCY),
    PCIE_COLUMNS("rxPost", value_million, PCIE_RX_POST),
    PCIE_COLUMNS("rxNonpost", value_million, PCIE_RX_NONPOST),
    PCIE_COLUMNS("rxCpl", value_million, PCIE_RX_CPL),
};

static const struct counter_value hccs_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "txThroughput", value_bytes, HCCS_RATE_TX_MBS, "NUMERIC" },
    { "rxThroughput", value_bytes, HCCS_RATE_RX_MBS, "NUMERIC" },
};

static const struct counter_value port_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "bandwidth", value_bytes, PORT_BANDWIDTH, "INTEGER" },
    { "rxPacketRate", value_real, PORT_RX_PACKET_RATE, "NUMERIC" },
    { "rxByteRate", value_real, PORT_RX_BYTE_RATE, "NUMERIC" },
    { "rxPackets", value_uint, PORT_RX_PACKETS, "INTEGER" },
    { "rxBytes", value_uint, PORT_RX_BYTES, "INTEGER" },
    { "rxErrors", value_uint, PORT_RX_ERRORS, "INTEGER" },
    { "rxDropped", value_uint, PORT_RX_DROPPED, "INTEGER" },
    { "txPacketRate", value_real, PORT_TX_PACKET_RATE, "NUMERIC" },
    { "txByteRate", value_real, PORT_TX_BYTE_RATE, "NUMERIC" },
    { "txPackets", value_uint, PORT_TX_PACKETS, "INTEGER" },
    { "txBytes", value_uint, PORT_TX_BYTES, "INTEGER" },
    { "txErrors", value_uint, PORT_TX_ERRORS, "INTEGER" },
    { "txDropped", value_uint, PORT_TX_DROPPED, "INTEGER" },
    { "funcId", value_uint, PORT_FUNCTION, "INTEGER" },
};

static const struct counter_value netdev_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "macTxPfcPkt", value_uint, 0, "INTEGER" },
    { "macRxPfcPkt", value_uint, 1, "INTEGER" },
    { "macTxByte", value_uint, 2, "INTEGER" },
    { "macTxBandwidth", value_real, 3, "NUMERIC" },
    { "macRxByte", value_uint, 4, "INTEGER" },
    { "macRxBandwidth", value_real, 5, "NUMERIC" },
    { "macTxBadByte", value_uint, 6, "INTEGER" },
    { "macRxBadByte", value_uint, 7, "INTEGER" },
    { "roceTxPkt", value_uint, 8, "INTEGER" },
    { "roceRxPkt", value_uint, 9, "INTEGER" },
    { "roceTxErrPkt", value_uint, 10, "INTEGER" },
    { "roceRxErrPkt", value_uint, 11, "INTEGER" },
    { "roceTxCnpPkt", value_uint, 12, "INTEGER" },
    { "roceRxCnpPkt", value_uint, 13, "INTEGER" },
    { "roceNewPktRty", value_uint, 14, "INTEGER" },
    { "nicTxByte", value_uint, 15, "INTEGER" },
    { "nicTxBandwidth", value_real, 16, "NUMERIC" },
    { "nicRxByte", value_uint, 17, "INTEGER" },
    { "nicRxBandwidth", value_real, 18, "NUMERIC" },
};

static const struct counter_value ub_column[] = {
    { "deviceId", value_device, 0, "NUMERIC" },
    { "portId", value_uint, UB_PORT, "NUMERIC" },
    { "timestampNs", value_time, 0, "NUMERIC" },
    { "rxUdmaBind", value_uint, UB_RX, "NUMERIC" },
    { "txUdmaBind", value_uint, UB_TX, "NUMERIC" },
};
static const struct counter_value ub_report_column[] = {
    { "Device_id", value_device, 0, NULL },
    { "PortId", value_uint, UB_PORT, NULL },
    { "TimeStamp", value_time, 0, NULL },
    { "UBRxPortBandWidth(MB/s)", value_uint, UB_RX, NULL },
    { "UBTxPortBandWidth(MB/s)", value_uint, UB_TX, NULL },
};

const struct family_table link_tables[] = {
    { "UB", { { SAMPLER_UB }, 1, .of_rates = false }, ub_column, COUNT_OF(ub_column) },
    { "PCIE", OF_PCIE, pcie_column, COUNT_OF(pcie_column) },
    { "HCCS", { { SAMPLER_HCCS }, 1, .of_rates = true }, hccs_column, COUNT_OF(hccs_column) },
    { "NIC", { { SAMPLER_NIC }, 1, .of_rates = false }, port_column, COUNT_OF(port_column) },
    { "ROCE", { { SAMPLER_ROCE }, 1, .of_rates = false }, port_column, COUNT_OF(port_column) },
    { "NETDEV_STATS", { { SAMPLER_NETDEV }, 1, .of_rates = true }, netdev_column, COUNT_OF(netdev_column) },
};
const size_t n_link_tables = COUNT_OF(link_tables);

static const char *const pcie_mode[PCIE_VALUES] = {
    [PCIE_TX_POST] = "Tx_p_avg(MB/s)",
    [PCIE_TX_NONPOST] = "Tx_np_avg(MB/s)",
    [PCIE_TX_CPL] = "Tx_cpl_avg(MB/s)",
    [PCIE_TX_LATENCY] = "Tx_latency_avg(us)",
    [PCIE_RX_POST] = "Rx_p_avg(MB/s)",
    [PCIE_RX_NONPOST] = "Rx_np_avg(MB/s)",
    [PCIE_RX_CPL] = "Rx_cpl_avg(MB/s)",
};
/* clang-format on */

/* The value that the report shows: that of the last sample on A2 and A3, the mean of the valid samples on other
 * chips. */
static double pcie_value(const struct samples *s, bool is_last, unsigned column)
{
    enum { MEAN_DIGITS = 6 };
    if (is_last)
        return samples_real(s, column, s->n - 1);
    double sum = 0;
    size_t n = 0;
    for (size_t row = 0; row < s->n; row++)
        if (pcie_keeps(s, row)) {
            sum += samples_real(s, column, row);
            n++;
        }
    return n ? round_away(sum / (double)n, MEAN_DIGITS) : 0;
}

bool pcie_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL }, { "Mode", NULL }, { "Min", NULL }, { "Max", NULL }, { "Avg", NULL }
    };
    (void)e;
    struct grid g = { .n_columns = COUNT_OF(column), .mem = x->mem };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct samples *s = &d->counters.raw[SAMPLER_PCIE];
        for (unsigned value = 0; value < PCIE_VALUES && s->n > 0; value++) {
            struct cell cell[COUNT_OF(column)] = { cell_uint(d->source.device), cell_text(pcie_mode[value]) };
            for (unsigned k = 0; k < PCIE_STATISTICS; k++) {
                double v = pcie_value(s, d->source.chip->pcie_is_last, PCIE_OF(value, k));
                if (k == PCIE_MIN && v == PCIE_NO_SAMPLE)
                    v = 0;
                v = value == PCIE_TX_LATENCY ? v / 1000 : v * MBS_PER_BYTE_US;
                cell[2 + k] = cell_real(round_exact(v, 3));
            }
            grid_row(&g, cell);
        }
    }
    *out = grid_table(&g, "pcie", column, x->profile->names);
    return true;
}

bool hccs_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Device_id", NULL }, { "Mode", NULL }, { "Max", NULL }, { "Min", NULL }, { "Average", NULL }
    };
    static const char *const mode[] = { "Tx (MB/s)", "Rx (MB/s)" };
    (void)e;
    struct grid g = { .n_columns = COUNT_OF(column), .mem = x->mem };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct samples *s = &d->counters.rate[SAMPLER_HCCS];
        for (unsigned k = 0; k < 2 && s->n > 0; k++) {
            double least = samples_real(s, k, 0), most = least, sum = 0;
            for (size_t row = 0; row < s->n; row++) {
                const double v = samples_real(s, k, row);
                least = v < least ? v : least;
                most = v > most ? v : most;
                sum += v;
            }
            grid_row(&g, (struct cell[]){ cell_uint(d->source.device), cell_text(mode[k]), cell_round(most),
                                          cell_round(least), cell_round(sum / (double)s->n) });
        }
    }
    *out = grid_table(&g, "hccs", column, x->profile->names);
    return true;
}

/* The columns of a port for one direction. */
struct port_way {
    uint8_t packet_rate, packets, bytes, errors, dropped;
};
static const struct port_way port_ways[] = {
    { PORT_RX_PACKET_RATE, PORT_RX_PACKETS, PORT_RX_BYTES, PORT_RX_ERRORS, PORT_RX_DROPPED },
    { PORT_TX_PACKET_RATE, PORT_TX_PACKETS, PORT_TX_BYTES, PORT_TX_ERRORS, PORT_TX_DROPPED }
};

struct link_counters_sums {
    double sum, least, most;
    size_t n;
};

/* Adds up a column over the samples of one function of a port, or over all samples. */
static struct link_counters_sums sum_up(const struct samples *s, unsigned column, uint64_t function, bool of_all)
{
    struct link_counters_sums r = { 0 };
    for (size_t row = 0; row < s->n; row++) {
        if (!of_all && samples_uint(s, PORT_FUNCTION, row) != function)
            continue;
        const double v = samples_real(s, column, row);
        r.least = r.n == 0 || v < r.least ? v : r.least;
        r.most = r.n == 0 || v > r.most ? v : r.most;
        r.sum += v;
        r.n++;
    }
    return r;
}

/* Efficiency, packets/s, error rate and drop rate as the reference computes them (nic.csv and roce.csv), with its
 * mistakes: it takes nanoseconds for seconds; it divides the mean of the errors, for receivers over all functions, by
 * the sum of the packet rates; and for senders it divides the sum of the drops instead of their mean. */
static void port_cells(const struct samples *s, const struct port_way *way, bool is_tx, uint64_t function,
                       double bandwidth, double passed_ns, struct cell *cell)
{
    const struct link_counters_sums packets = sum_up(s, way->packet_rate, function, false);
    const struct link_counters_sums bytes = sum_up(s, way->bytes, function, false);
    const struct link_counters_sums errors = sum_up(s, way->errors, function, !is_tx);
    const struct link_counters_sums dropped = sum_up(s, way->dropped, function, false);
    double efficiency = 0, rate = 0, error_rate = 0, drop_rate = 0;
    if (packets.n == 1) {
        const double all = sum_up(s, way->packets, function, false).sum;
        rate = packets.sum;
        error_rate = all > 0 ? round_exact(sum_up(s, way->errors, function, false).sum / all, 3) : 0;
        drop_rate = all > 0 ? round_exact(dropped.sum / all, 3) : 0;
    } else if (passed_ns > 0) {
        if (bandwidth > 0)
            efficiency = round_exact((bytes.most - bytes.least) * 8 / (passed_ns * bandwidth * 1048576), 3);
        rate = round_exact(packets.sum / passed_ns, 3);
        if (packets.sum > 0) {
            const double drops = is_tx ? dropped.sum : dropped.sum / (double)dropped.n;
            error_rate = round_exact(errors.sum / (double)errors.n / packets.sum, 3) * 100;
            drop_rate = round_exact(drops / packets.sum, 3) * 100;
        }
    }
    const double value[] = { efficiency, rate, error_rate, drop_rate };
    for (size_t k = 0; k < COUNT_OF(value); k++)
        cell[k] = cell_real(round_exact(value[k], 3));
}

static bool port_report(const struct export *x, enum sampler sampler, struct table *out)
{
    static const struct column column[] = { { "Device_id", NULL },         { "Timestamp(us)", NULL },
                                            { "Bandwidth(MB/s)", NULL },   { "Rx Bandwidth efficiency(%)", NULL },
                                            { "rxPacket/s", NULL },        { "rxError rate(%)", NULL },
                                            { "rxDropped rate(%)", NULL }, { "Tx Bandwidth efficiency(%)", NULL },
                                            { "txPacket/s", NULL },        { "txError rate(%)", NULL },
                                            { "txDropped rate(%)", NULL }, { "funcId", NULL } };
    struct grid g = { .n_columns = COUNT_OF(column), .mem = x->mem };
    for (size_t i = 0; i < x->profile->n_devices; i++) {
        const struct device *d = &x->profile->device[i];
        const struct samples *s = &d->counters.raw[sampler];
        struct {
            size_t first, last, n;
        } rows[PORT_MOST_FUNCTIONS] = { 0 };
        unsigned seen[PORT_MOST_FUNCTIONS], n_seen = 0; /* functions in the order of their first samples */
        for (size_t row = 0; row < s->n; row++) {
            const uint64_t function = samples_uint(s, PORT_FUNCTION, row);
            if (function >= PORT_MOST_FUNCTIONS)
                continue;
            if (rows[function].n++ == 0) {
                rows[function].first = row;
                seen[n_seen++] = (unsigned)function;
            }
            rows[function].last = row;
        }
        for (unsigned f = 0; f < n_seen; f++) {
            const size_t first = rows[seen[f]].first, last = rows[seen[f]].last;
            const double bandwidth = samples_real(s, PORT_BANDWIDTH, first);
            const double passed_ns = (double)wrap_sub(s->at_ns[last], s->at_ns[first]);
            struct cell cell[COUNT_OF(column)] = { cell_uint(d->source.device), cell_time(s->at_ns[last]),
                                                   cell_real(round_exact(bandwidth, 3)) };
            for (unsigned k = 0; k < COUNT_OF(port_ways); k++)
                port_cells(s, &port_ways[k], k == 1, seen[f], bandwidth, passed_ns, &cell[3 + 4 * k]);
            cell[COUNT_OF(column) - 1] = cell_uint(seen[f]);
            grid_row(&g, cell);
        }
    }
    *out = grid_table(&g, "port", column, x->profile->names);
    return true;
}

bool nic_report(const struct export *x, struct table *out, struct error *e)
{
    (void)e;
    return port_report(x, SAMPLER_NIC, out);
}

bool roce_report(const struct export *x, struct table *out, struct error *e)
{
    (void)e;
    return port_report(x, SAMPLER_ROCE, out);
}

bool ub_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct family_source from = { { SAMPLER_UB }, 1, .of_rates = false };
    return counters_report(x, &from, NULL, ub_report_column, COUNT_OF(ub_report_column), out, e);
}
