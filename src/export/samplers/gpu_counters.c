/* SPDX-License-Identifier: Apache-2.0 */
#include "export/samplers/sampler_outputs.h"

#include "raw/cuda_records.h"

static bool has(const struct counter_view *v, size_t row, unsigned column)
{
    return samples_uint(v->s, GPU_SAMPLE_HAS, row) & UINT64_C(1) << (column - GPU_SAMPLE_FIRST);
}

static struct cell value_whole(const struct counter_view *v, size_t row, unsigned column)
{
    return has(v, row, column) ? cell_uint(samples_uint(v->s, column, row)) : cell_na();
}

static struct cell value_watts(const struct counter_view *v, size_t row, unsigned column)
{
    return has(v, row, column) ? cell_real(samples_real(v->s, column, row) / 1000) : cell_na();
}

static struct cell value_mb(const struct counter_view *v, size_t row, unsigned column)
{
    return has(v, row, column) ? cell_fixed(samples_real(v->s, column, row) / 1048576, 3) : cell_na();
}

/* clang-format off */
static const struct counter counters[] = {
    { "SM Clock", .arg = { { "MHz", value_whole, GPU_SAMPLE_SM_MHZ, NULL } } },
    { "Memory Clock", .arg = { { "MHz", value_whole, GPU_SAMPLE_MEMORY_MHZ, NULL } } },
    { "Power", .arg = { { "W", value_watts, GPU_SAMPLE_POWER_MW, NULL } } },
    { "Temperature", .arg = { { "C", value_whole, GPU_SAMPLE_TEMPERATURE_C, NULL } } },
    { "GPU Load", .arg = { { "%", value_whole, GPU_SAMPLE_BUSY_PERCENT, NULL } } },
    { "Memory Load", .arg = { { "%", value_whole, GPU_SAMPLE_MEMORY_BUSY_PERCENT, NULL } } },
    { "Memory Used", .arg = { { "MB", value_mb, GPU_SAMPLE_USED_BYTES, NULL } } },
    { "PCIe", .arg = { { "Tx(MB/s)", value_mb, GPU_SAMPLE_PCIE_TX, NULL }, { "Rx(MB/s)", value_mb, GPU_SAMPLE_PCIE_RX, NULL } } },
    { "NVLink", .arg = { { "Tx(MB/s)", value_mb, GPU_SAMPLE_NVLINK_TX, NULL }, { "Rx(MB/s)", value_mb, GPU_SAMPLE_NVLINK_RX, NULL } } },
};
/* clang-format on */

/* Values that the GPU did not report are not drawn. */
static void gpu_counters_draw(const struct export *x, const struct counter_view *v, struct trace *t, uint32_t pid)
{
    (void)x;
    for (size_t i = 0; i < v->n; i++) {
        const size_t row = view_row(v, i);
        if (!trace_wants(t, v->s->at_ns[row], v->s->at_ns[row]))
            continue;
        for (size_t k = 0; k < COUNT_OF(counters); k++) {
            bool is_begun = false;
            for (size_t a = 0; a < COUNTER_MOST_ARGS && counters[k].arg[a].name; a++) {
                const struct counter_value *const arg = &counters[k].arg[a];
                if (!has(v, row, arg->column))
                    continue;
                const struct cell c = arg->get(v, row, arg->column);
                if (!is_begun)
                    trace_counter(t, counters[k].before, pid, 0, v->s->at_ns[row]);
                is_begun = true;
                if (c.kind == CELL_UINT)
                    trace_arg_uint(t, arg->name, c.u);
                else
                    trace_arg_real(t, arg->name, c.f);
            }
            if (is_begun)
                trace_end(t);
        }
    }
}

/* clang-format off */
#define OF_GPU { { SAMPLER_GPU }, 1, .of_rates = false }
const struct counter_process gpu_process = { .name = "GPU Counters", .sort = 30, .source = OF_GPU, .draw = gpu_counters_draw };

static const struct counter_value table_column[] = {
    { "deviceId", value_device, 0, "INTEGER" },
    { "timestampNs", value_time, 0, "INTEGER" },
    { "smClock", value_whole, GPU_SAMPLE_SM_MHZ, "INTEGER" },
    { "memoryClock", value_whole, GPU_SAMPLE_MEMORY_MHZ, "INTEGER" },
    { "power", value_whole, GPU_SAMPLE_POWER_MW, "INTEGER" },
    { "temperature", value_whole, GPU_SAMPLE_TEMPERATURE_C, "INTEGER" },
    { "gpuLoad", value_whole, GPU_SAMPLE_BUSY_PERCENT, "INTEGER" },
    { "memoryLoad", value_whole, GPU_SAMPLE_MEMORY_BUSY_PERCENT, "INTEGER" },
    { "memoryUsed", value_whole, GPU_SAMPLE_USED_BYTES, "INTEGER" },
    { "memoryTotal", value_whole, GPU_SAMPLE_TOTAL_BYTES, "INTEGER" },
    { "pcieTx", value_whole, GPU_SAMPLE_PCIE_TX, "INTEGER" },
    { "pcieRx", value_whole, GPU_SAMPLE_PCIE_RX, "INTEGER" },
    { "nvlinkTx", value_whole, GPU_SAMPLE_NVLINK_TX, "INTEGER" },
    { "nvlinkRx", value_whole, GPU_SAMPLE_NVLINK_RX, "INTEGER" },
};
const struct family_table gpu_tables[] = { { "GPU_COUNTERS", OF_GPU, table_column, COUNT_OF(table_column) } };
const size_t n_gpu_tables = COUNT_OF(gpu_tables);

static const struct counter_value report_column[] = {
    { "Device_id", value_device, 0, NULL },
    { "Timestamp(us)", value_time, 0, NULL },
    { "SM Clock(MHz)", value_whole, GPU_SAMPLE_SM_MHZ, NULL },
    { "Memory Clock(MHz)", value_whole, GPU_SAMPLE_MEMORY_MHZ, NULL },
    { "Power(W)", value_watts, GPU_SAMPLE_POWER_MW, NULL },
    { "Temperature(C)", value_whole, GPU_SAMPLE_TEMPERATURE_C, NULL },
    { "GPU Load(%)", value_whole, GPU_SAMPLE_BUSY_PERCENT, NULL },
    { "Memory Load(%)", value_whole, GPU_SAMPLE_MEMORY_BUSY_PERCENT, NULL },
    { "Memory Used(MB)", value_mb, GPU_SAMPLE_USED_BYTES, NULL },
    { "Memory Total(MB)", value_mb, GPU_SAMPLE_TOTAL_BYTES, NULL },
    { "PCIe Tx(MB/s)", value_mb, GPU_SAMPLE_PCIE_TX, NULL },
    { "PCIe Rx(MB/s)", value_mb, GPU_SAMPLE_PCIE_RX, NULL },
    { "NVLink Tx(MB/s)", value_mb, GPU_SAMPLE_NVLINK_TX, NULL },
    { "NVLink Rx(MB/s)", value_mb, GPU_SAMPLE_NVLINK_RX, NULL },
};
/* clang-format on */

bool gpu_counters_report(const struct export *x, struct table *out, struct error *e)
{
    static const struct family_source from = OF_GPU;
    return counters_report(x, &from, NULL, report_column, COUNT_OF(report_column), out, e);
}
