/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include <stdio.h>

#include "raw/sampler.h"

/* Dies have names where the records of the SoC are of dies. */
static struct cell value_die(const struct counter_view *v, size_t row, unsigned column)
{
    static const char *const number[] = { "die 0", "die 1" }, *const name[] = { "D-DIE0", "", "U-DIE0", "U-DIE1" };
    const uint64_t die = samples_uint(v->s, column, row);
    return cell_text(v->device->counters.raw[SAMPLER_SIO].column[SIO_DIE].at ? name[die & 3] : number[die & 1]);
}

static struct cell value_qos_die(const struct counter_view *v, size_t row, unsigned column)
{
    const uint64_t die = samples_uint(v->s, column, row);
    return die == QOS_NO_DIE ? cell_int(-1) : cell_uint(die);
}

/* The reference shows the two levels under each other's name (Stars Soc Info, SOC_BANDWIDTH_LEVEL). */
static struct cell value_l2_level(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_uint(samples_uint(v->s, column, row) & 7);
}

static struct cell value_mata_level(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_uint(samples_uint(v->s, column, row) >> 3 & 255);
}

static struct cell value_link(const struct counter_view *v, size_t row, unsigned column)
{
    return cell_uint(samples_uint(v->s, column, row) & 63);
}

static struct cell qos_name(const struct counter_view *v, size_t row)
{
    return cell_name(v->device->counters.qos_event[samples_uint(v->s, QOS_RATE_EVENT, row)]);
}

static struct cell value_qos_name(const struct counter_view *v, size_t row, unsigned column)
{
    (void)column;
    return qos_name(v, row);
}

static bool is_pa_link(const struct samples *s, size_t row)
{
    return samples_uint(s, SOC_HEAD, row) >> SOC_HEAD_TYPE_SHIFT == TRANS_PA_LINK;
}

static bool is_pcie(const struct samples *s, size_t row)
{
    return samples_uint(s, SOC_HEAD, row) >> SOC_HEAD_TYPE_SHIFT == TRANS_PCIE;
}

static bool chip_trans_keeps(const struct samples *s, size_t row)
{
    if (s->column[TRANS_DIE].at)
        return samples_uint(s, TRANS_IN, row) != TRANS_NO_SAMPLE && samples_uint(s, TRANS_OUT, row) != TRANS_NO_SAMPLE;
    return is_pa_link(s, row) || is_pcie(s, row);
}

/* The decimal digits of these tids are the bits of the record's type, as in the reference. */
enum { PA_LINK_TID = 111111, PCIE_TID = 100010 };

/* The number of samples from i on with the same time. */
static size_t same_time(const struct counter_view *v, size_t i)
{
    size_t n = 1;
    while (i + n < v->n && v->s->at_ns[view_row(v, i + n)] == v->s->at_ns[view_row(v, i)])
        n++;
    return n;
}

/* A counter of the PCIe transfers of each die. The older presentation shows the dies of a time in one event. */
static void draw_pcie_dies(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    static const char *const name[] = { "PCIE Write Bandwidth", "PCIE Read Bandwidth" };
    if (x->is_generic && v->n > 0)
        trace_thread_name(t, pid, PCIE_TID, "PCIE");
    for (size_t i = 0, n; i < v->n; i += n) {
        const int64_t at_ns = v->s->at_ns[view_row(v, i)];
        n = x->is_generic ? same_time(v, i) : 1;
        for (unsigned way = 0; way < 2 && trace_wants(t, at_ns, at_ns); way++) {
            trace_counter(t, name[way], pid, PCIE_TID, at_ns);
            for (size_t m = i; m < i + n; m++) {
                const size_t row = view_row(v, m);
                char die[24];
                snprintf(die, sizeof die, "U-Die%u",
                         (unsigned)samples_uint(v->s, TRANS_DIE, row) >> SOC_HEAD_TYPE_SHIFT);
                trace_arg_uint(t, die, samples_uint(v->s, TRANS_IN + way, row));
            }
            trace_end(t);
        }
    }
}

static void draw_chip_trans(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    static const struct {
        bool (*is_one)(const struct samples *s, size_t row);
        int64_t tid;
        const char *thread, *id, *in, *out;
    } kind[] = {
        { is_pa_link, PA_LINK_TID, "PA Link", "PA Link ID", "PA Link Rx", "PA Link Tx" },
        { is_pcie, PCIE_TID, "PCIE", "PCIE ID", "PCIE Write Bandwidth", "PCIE Read Bandwidth" },
    };
    bool is_named[COUNT_OF(kind)] = { false };
    if (v->s->column[TRANS_DIE].at) {
        draw_pcie_dies(x, v, t, pid);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        const size_t row = view_row(v, i);
        for (size_t k = 0; k < COUNT_OF(kind); k++) {
            if (!kind[k].is_one(v->s, row) || !trace_wants(t, v->s->at_ns[row], v->s->at_ns[row]))
                continue;
            if (x->is_generic && !is_named[k])
                trace_thread(t, pid, kind[k].tid, kind[k].thread, kind[k].tid);
            is_named[k] = true;
            for (unsigned way = 0; way < 2; way++) {
                const char *name = way ? kind[k].out : kind[k].in;
                trace_counter(t, name, pid, kind[k].tid, v->s->at_ns[row]);
                trace_arg_uint(t, name, samples_uint(v->s, TRANS_IN + way, row));
                trace_arg_uint(t, kind[k].id, value_link(v, row, SOC_ID).u);
                trace_end(t);
            }
        }
    }
}

/* Samples of the same time are of different dies: each die is a series of one counter. */
static void draw_sio(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    static const char *const name[SIO_VALUES] = { "req_rx", "rsp_rx", "snp_rx", "dat_rx",
                                                  "req_tx", "rsp_tx", "snp_tx", "dat_tx" };
    (void)x;
    for (size_t i = 0, n; i < v->n; i += n) {
        n = same_time(v, i);
        const int64_t at_ns = v->s->at_ns[view_row(v, i)];
        for (unsigned k = 0; k < SIO_VALUES && trace_wants(t, at_ns, at_ns); k++) {
            trace_counter(t, name[k], pid, 0, at_ns);
            for (size_t m = i; m < i + n; m++) {
                const size_t row = view_row(v, m);
                trace_arg_real(t, value_die(v, row, SIO_RATE_DIE).text, samples_real(v->s, SIO_RATE_FIRST + k, row));
            }
            trace_end(t);
        }
    }
}

/* The greatest value of all accelerators at a time; documented files say of which one. */
static void draw_acc(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    static const struct {
        const char *name, *documented;
        unsigned column;
    } counter[] = { { "read_bandwidth", "read_bandwidth", ACC_READ_BW },
                    { "read_ost", "read_ost", ACC_READ_OST },
                    { "write_bandwidth", "write_band_width", ACC_WRITE_BW },
                    { "write_ost", "write_ost", ACC_WRITE_OST } };
    const bool is_documented = x->options->dialect == DIALECT_DOCUMENTED;
    for (size_t i = 0, n; i < v->n; i += n) {
        n = same_time(v, i);
        const int64_t at_ns = v->s->at_ns[view_row(v, i)];
        for (unsigned k = 0; k < COUNT_OF(counter) && trace_wants(t, at_ns, at_ns); k++) {
            size_t most = view_row(v, i);
            for (size_t m = i + 1; m < i + n; m++)
                if (samples_uint(v->s, counter[k].column, view_row(v, m)) > samples_uint(v->s, counter[k].column, most))
                    most = view_row(v, m);
            trace_counter(t, is_documented ? counter[k].documented : counter[k].name, pid, 0, at_ns);
            trace_arg_uint(t, "value", samples_uint(v->s, counter[k].column, most));
            if (is_documented)
                trace_arg_uint(t, "acc_id", samples_uint(v->s, SOC_ID, most));
            trace_end(t);
        }
    }
}

/* Samples of the same time are of different dies: each die is a series of the counters of its events. */
static void draw_qos_dies(const struct counter_view *v, struct trace *t, uint32_t pid, size_t first, size_t n)
{
    for (size_t k = 0; k < v->device->counters.n_qos_events; k++) {
        bool is_open = false;
        for (size_t m = first; m < first + n; m++) {
            const size_t row = view_row(v, m);
            char series[24];
            if (samples_uint(v->s, QOS_RATE_EVENT, row) != k)
                continue;
            if (!is_open)
                trace_counter(t, names_text(t->names, qos_name(v, row).name), pid, 0, v->s->at_ns[row]);
            is_open = true;
            snprintf(series, sizeof series, "die %u", (unsigned)samples_uint(v->s, QOS_RATE_DIE, row));
            trace_arg_uint(t, series, samples_uint(v->s, QOS_RATE_MBS, row));
        }
        if (is_open)
            trace_end(t);
    }
}

static void draw_qos(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    for (size_t i = 0, n; i < v->n; i += n) {
        const size_t row = view_row(v, i);
        const bool has_die = samples_uint(v->s, QOS_RATE_DIE, row) != QOS_NO_DIE;
        n = has_die ? same_time(v, i) : 1;
        if (!trace_wants(t, v->s->at_ns[row], v->s->at_ns[row]))
            continue;
        if (has_die) {
            draw_qos_dies(v, t, pid, i, n);
            continue;
        }
        trace_counter(t, names_text(t->names, qos_name(v, row).name), pid, 0, v->s->at_ns[row]);
        trace_arg_uint(t, x->is_generic ? "bandwidth(MB/s)" : "value", samples_uint(v->s, QOS_RATE_MBS, row));
        trace_end(t);
    }
}

/* clang-format off */
static const struct counter soc_counter[] = {
    { "L2 Buffer Bw Level", .when = ANY_SAMPLE, .arg = { { "L2 Buffer Bw Level", value_l2_level, SOC_LEVELS, NULL } } },
    { "Mata Bw Level", .when = ANY_SAMPLE, .arg = { { "Mata Bw Level", value_mata_level, SOC_LEVELS, NULL } } },
};

#define OF_SOC { { SAMPLER_SOC_BW }, 1, .of_rates = false }
#define OF_ACC { { SAMPLER_ACC }, 1, .of_rates = true }
#define OF_SIO { { SAMPLER_SIO }, 1, .of_rates = true }
#define OF_QOS { { SAMPLER_QOS }, 1, .of_rates = true }
static const struct family_source acc_part = { { SAMPLER_ACC_LOG }, 1, .of_rates = false };

const struct counter_process soc_process = {
    .name = "Stars Soc Info", .sort = 25, .needs_all = true, .source = OF_SOC, .counter = soc_counter, .n_counters = 2,
};
const struct counter_process chip_trans_process = {
    .name = "Stars Chip Trans", .sort = 26, .needs_all = true, .draw = draw_chip_trans,
    .source = { { SAMPLER_CHIP_TRANS }, 1, .keeps = chip_trans_keeps },
};
const struct counter_process acc_process = {
    .name = "Acc PMU", .sort = 19, .source = OF_ACC, .part = &acc_part, .draw = draw_acc,
};
const struct counter_process sio_process = {
    .name = "SIO", .sort = 28, .needs_all = true, .source = OF_SIO, .draw = draw_sio,
};
const struct counter_process qos_process = {
    .name = "QoS", .sort = 29, .source = OF_QOS, .draw = draw_qos,
};

static const struct counter_value soc_column[] = {
    { "l2BufferBwLevel", value_l2_level, SOC_LEVELS, "INTEGER" },
    { "mataBwLevel", value_mata_level, SOC_LEVELS, "INTEGER" },
    { "timestampNs", value_time, 0, "NUMERIC" },
    { "deviceId", value_device, 0, "INTEGER" },
};

static const struct counter_value acc_column[] = {
    { "accId", value_uint, SOC_ID, "INTEGER" },
    { "readBwLevel", value_uint, ACC_READ_BW, "INTEGER" },
    { "writeBwLevel", value_uint, ACC_WRITE_BW, "INTEGER" },
    { "readOstLevel", value_uint, ACC_READ_OST, "INTEGER" },
    { "writeOstLevel", value_uint, ACC_WRITE_OST, "INTEGER" },
    { "timestampNs", value_time, 0, "NUMERIC" },
    { "deviceId", value_device, 0, "INTEGER" },
};

static const struct counter_value qos_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "eventName", value_qos_name, 0, "NUMERIC" },
    { "bandwidth", value_bytes, QOS_RATE_MBS, "NUMERIC" },
    { "timestampNs", value_time, 0, "NUMERIC" },
    { "dieId", value_qos_die, QOS_RATE_DIE, "NUMERIC" },
};

static const struct counter_value sio_column[] = {
    { "deviceId", value_device, 0, "NUMERIC" },
    { "name", value_die, SIO_RATE_DIE, "NUMERIC" },
    { "timestampNs", value_time, 0, "NUMERIC" },
    { "rxReq", value_bytes_real, SIO_RATE_FIRST, "NUMERIC" },
    { "rxRsp", value_bytes_real, SIO_RATE_FIRST + 1, "NUMERIC" },
    { "rxSnp", value_bytes_real, SIO_RATE_FIRST + 2, "NUMERIC" },
    { "rxDat", value_bytes_real, SIO_RATE_FIRST + 3, "NUMERIC" },
    { "txReq", value_bytes_real, SIO_RATE_FIRST + 4, "NUMERIC" },
    { "txRsp", value_bytes_real, SIO_RATE_FIRST + 5, "NUMERIC" },
    { "txSnp", value_bytes_real, SIO_RATE_FIRST + 6, "NUMERIC" },
    { "txDat", value_bytes_real, SIO_RATE_FIRST + 7, "NUMERIC" },
};

const struct family_table soc_tables[] = {
    { "SOC_BANDWIDTH_LEVEL", OF_SOC, soc_column, COUNT_OF(soc_column) },
    { "ACC_PMU", OF_ACC, acc_column, COUNT_OF(acc_column) },
    { "QOS", OF_QOS, qos_column, COUNT_OF(qos_column) },
    { "SIO", OF_SIO, sio_column, COUNT_OF(sio_column) },
};
const size_t n_soc_tables = COUNT_OF(soc_tables);
/* clang-format on */
