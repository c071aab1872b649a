/* SPDX-License-Identifier: Apache-2.0 */
#include "cells.h"

#include "export/export.h"
#include "export/samplers/counter_tracks.h"
#include "export/samplers/sampler_outputs.h"
#include "folder.h"
#include "pipeline/registry.h"
#include "profile/known.h"
#include "raw/sampler.h"
#include "settings_of.h"

/* What the samplers of one device and of its host measured, at 1 and 2 µs. */

enum {
    OPEN = NAMES_KNOWN,
    READ,
    DAEMON,
    MAIN,
    IDLE,
    MODULE,
    PERCENT,
    QOS_AIC,
    NODE,
    MEMORY_KB,
    NUMA_HIT,
    PORT,
    RCV_DATA
};
static const char *const texts[] = { "open",    "read",  "daemon",    "main",     "idle",     "a.so",         "40%",
                                     "QoS AIC", "node0", "memory_kb", "numa_hit", "mlx5_0/1", "port_rcv_data" };

static struct device device = {
    .source = { .device = 0, .path = "device_0", .pid = 7 },
    .usage = { .ticks = { [CPU_CTRL] = { true, { 10, 0, 20, 20, 30, 5, 15 } } },
               .dvpp = { 1, (struct dvpp_unit[]){ { 0, 4, 1, 12.5, 3, PERCENT } } } },
    .counters = { .qos_event = { QOS_AIC },
                  .n_qos_events = 1,
                  .core = { [CORE_AIC] = { .n_cores = 2,
                                           .n_metrics = 4,
                                           .core = U16{ 3, 4 },
                                           .metric = (const char *[]){ "total_time(ms)", "mac_ratio", "vec_ratio",
                                                                       "mte2_ratio" },
                                           .value = F64{ 2.5, 0.5, 0.25, 0.75, 1.5, 0.25, 0.5, 0.25 } } } },
};

static struct profile profile = {
    .path = "PROF_1",
    .device = &device,
    .n_devices = 1,
    .host = { .source = { .is_host = true, .path = "host", .pid = 7 },
              .usage = { .counts = { { 2, (struct host_count[]){ { NODE, MEMORY_KB, 2, 40, 60, 60, 100 },
                                                                 { NODE, NUMA_HIT, 2, 100, 130, 130, 230 } } },
                                     { 1, (struct host_count[]){ { PORT, RCV_DATA, 2, 1000, 1512, 1512, 2512 } } } },
                         .gauge = { [GAUGE_CPU] = { .is_sampled = true,
                                                    .n = 3,
                                                    .begin_ns = I64{ 1000, 1000, 1000 },
                                                    .percent = F64{ 50, 0, 25 },
                                                    .cpu = U32{ 0, 1, UINT32_MAX } },
                                    [GAUGE_MEMORY] = { .is_sampled = true,
                                                       .n = 2,
                                                       .begin_ns = I64{ 1000, 2000 },
                                                       .percent = F64{ 20, 40 } },
                                    [GAUGE_NETWORK] = { .is_sampled = true,
                                                        .n = 2,
                                                        .begin_ns = I64{ 1000, 2000 },
                                                        .percent = F64{ 1, 2 },
                                                        .speed = { F64{ 100, 300 } } },
                                    [GAUGE_DISK] = { .is_sampled = true,
                                                     .n = 2,
                                                     .begin_ns = I64{ 1000, 2000 },
                                                     .percent = F64{ 5, 6 },
                                                     .speed = { F64{ 10, 20 }, F64{ 30, 40 } } } },
                         .calls = { .n = 3,
                                    .name = U32{ OPEN, OPEN, READ },
                                    .thread = U32{ 21, 21, 22 },
                                    .begin_ns = I64{ 1000, 3000, 5000 },
                                    .dur_ns = U64{ 1000, 3000, 12000 } },
                         .ticks = { [CPU_HOST] = { true, { [TIME_USER] = 50, [TIME_SYS] = 25, [TIME_IDLE] = 25 } } },
                         .memory = { .n = 2,
                                     .sum = { 200, 400, 600, 800, 1000, 1200, 1400, 1600 },
                                     .n_with = { 2, 2, 2, 2, 2, 2, 2, 2, 0 } },
                         .process = { [PROCESS_CPU] = { 1,
                                                        (struct process_use[]){
                                                            { 5, 2, DAEMON, { .cpu_share = 0.5 } } } },
                                      [PROCESS_MEMORY] = { 1, (
                                                                  struct process_use
                                                                      []){ { 5,
                                                                             2,
                                                                             DAEMON,
                                                                             { .pages = { 20, 10, 4 } } } } } } } },
};

/* Samples at these times, row by row. */
static struct samples sheet(size_t n, const int64_t *at_ns, unsigned n_columns, const double *value)
{
    struct samples s = { .n = n, .at_ns = arena_take(profile.mem, n, sizeof *s.at_ns) };
    memcpy(s.at_ns, at_ns, n * sizeof *at_ns);
    for (unsigned c = 0; c < n_columns; c++) {
        double *column = arena_take(profile.mem, n, sizeof *column);
        for (size_t i = 0; i < n; i++)
            column[i] = value[i * n_columns + c];
        s.column[c].at = column;
        s.column[c].is_real = true;
    }
    return s;
}

static void counters_make(struct counters *c)
{
    static const int64_t once[] = { 1000 }, twice[] = { 1000, 2000 };
    double pcie[PCIE_FIELDS] = { 0 }, netdev[NETDEV_RATE_COLUMNS];
    for (unsigned i = 0; i < PCIE_VALUES; i++)
        for (unsigned k = 0; k < PCIE_STATISTICS; k++) /* 1, 3 and 2 MB */
            pcie[PCIE_FIRST + i * PCIE_STATISTICS + k] = 1048576 * (k == PCIE_MIN ? 1 : k == PCIE_MAX ? 3 : 2);
    for (unsigned i = 0; i < NETDEV_RATE_COLUMNS; i++)
        netdev[i] = 10 * (i + 1);
    /* clang-format off */
    c->rate[SAMPLER_HBM] = sheet(4, I64{ 1000, 1000, 2000, 2000 }, HBM_RATE_COLUMNS, F64{ 0, 0, 100, 0, 1, 50, 1, 0, 300, 1, 1, 70 });
    c->rate[SAMPLER_DDR] = sheet(2, twice, DDR_RATE_COLUMNS, F64{ 10, 20, 30, 40 });
    c->rate[SAMPLER_LLC] = sheet(2, I64{ 1000, 1000 }, LLC_RATE_COLUMNS, F64{ 0, 0, 0.5, 10, 1, 0, 0.25, 30 });
    c->raw[SAMPLER_NPU_MEM] = sheet(1, once, NPU_MEM_FIELDS, F64{ 0, NPU_MEM_OF_DEVICE, 1024, 3584 });
    c->raw[SAMPLER_NPU_MEM_APP] = sheet(1, I64{ 2000 }, NPU_MEM_FIELDS, F64{ 0, NPU_MEM_OF_APP, 2048, 1024 });
    c->raw[SAMPLER_MODULE_MEM] = sheet(3, I64{ 1000, 2000, 3000 }, MODULE_MEM_FIELDS, F64{ 0, 7, 4096, 0, 3, 2560, 0, 9999, 0 });
    c->raw[SAMPLER_PCIE] = sheet(1, once, PCIE_FIELDS, pcie);
    c->rate[SAMPLER_HCCS] = sheet(2, twice, HCCS_RATE_COLUMNS, F64{ 5, 6, 15, 26 });
    c->raw[SAMPLER_NIC] = sheet(1, once, PORT_WORDS, F64{ 0, 100, 7, 8, 100, 1000, 10, 20, 9, 11, 200, 2000, 10, 50, 2 });
    c->raw[SAMPLER_ROCE] = sheet(2, twice, PORT_WORDS,
                                 F64{ 0, 1, 500, 0, 0, 1, 100, 20, 500, 0, 0, 1, 100, 20, 0,
                                      0, 1, 1500, 0, 0, 131072001, 300, 60, 1500, 0, 0, 131072001, 300, 60, 0 });
    c->rate[SAMPLER_NETDEV] = sheet(1, once, NETDEV_RATE_COLUMNS, netdev);
    c->raw[SAMPLER_SOC_BW] = sheet(1, once, SOC_BW_FIELDS, F64{ 0, 0, 0, 9 << 3 | 5 });
    c->rate[SAMPLER_ACC] = sheet(1, once, ACC_FIELDS, F64{ 0, 0, 6, 10, 20, 30, 40 });
    c->rate[SAMPLER_QOS] = sheet(1, once, QOS_RATE_COLUMNS, F64{ 0, 3, (double)QOS_NO_DIE });
    c->rate[SAMPLER_SIO] = sheet(1, once, SIO_RATE_COLUMNS, F64{ 1, 1, 2, 3, 4, 5, 6, 7, 8 });
    /* clang-format on */
}

static int profile_make(void **state)
{
    profile.names = names_new();
    profile.mem = arena_new();
    if (!known_names_add(profile.names))
        return -1;
    for (size_t i = 0; i < ROWS(texts); i++)
        if (names_addz(profile.names, texts[i]) != NAMES_KNOWN + i)
            return -1;
    counters_make(&device.counters);
    for (size_t k = 0; k < SAMPLED_CPUS; k++) {
        static uint32_t event[] = { 0x11, 0x11, 0x8 }, function[] = { MAIN, IDLE, MAIN },
                        module[] = { MODULE, MODULE, MODULE };
        static uint64_t count[] = { 300, 100, 50 };
        device.usage.samples[k] = (struct cpu_samples){ 3, event, count, function, module };
    }
    device.source.chip = profile.chip = chip_of(5);
    device.source.settings = settings_of(NULL, NULL, profile.mem);
    profile.host.source.settings =
        settings_of(json_pack("{s:i, s:i, s:[{s:i}]}", "cpuNums", 4, "memoryTotal", 4000, "netCard", "speed", 8), NULL,
                    profile.mem);
    (void)state;
    return 0;
}

static int profile_unmake(void **state)
{
    arena_free(profile.mem);
    names_free(profile.names);
    (void)state;
    return 0;
}

static bool table_build(const void *context, const char *table, struct table *out, struct error *e)
{
    for (size_t i = 0; i < prof_registry.n_reports; i++)
        if (strcmp(prof_registry.report[i].file, table) == 0)
            return prof_registry.report[i].build(context, out, e);
    return error_set(e, FAULT_ASKED, "there is no such report");
}

/* clang-format off */
static void reports_of_samplers(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "hbm", 0, "Device_id", "0" },
        { "hbm", 0, "Metric", "Average" },
        { "hbm", 0, "Read(MB/s)", "200.000" },
        { "hbm", 0, "Write(MB/s)", "60.000" },
        { "hbm", 1, "Device_id", "0" },
        { "hbm", 1, "Metric", "0" },
        { "hbm", 1, "Read(MB/s)", "100.0" },
        { "hbm", 1, "Write(MB/s)", "50.0" },
        { "hbm", 2, "Device_id", "0" },
        { "hbm", 2, "Metric", "1" },
        { "hbm", 2, "Read(MB/s)", "300.0" },
        { "hbm", 2, "Write(MB/s)", "70.0" },
        { "ddr", 0, "Device_id", "0" },
        { "ddr", 0, "Metric", "Average" },
        { "ddr", 0, "Read(MB/s)", "20.0" },
        { "ddr", 0, "Write(MB/s)", "30.0" },
        { "llc_read_write", 0, "Device_id", "0" },
        { "llc_read_write", 0, "Mode", "read" },
        { "llc_read_write", 0, "Task", "Average" },
        { "llc_read_write", 0, "Hit Rate(%)", "37.5" },
        { "llc_read_write", 0, "Throughput(MB/s)", "20.0" },
        { "llc_read_write", 1, "Device_id", "0" },
        { "llc_read_write", 1, "Mode", "read" },
        { "llc_read_write", 1, "Task", "0" },
        { "llc_read_write", 1, "Hit Rate(%)", "50.0" },
        { "llc_read_write", 1, "Throughput(MB/s)", "10.0" },
        { "llc_read_write", 2, "Device_id", "0" },
        { "llc_read_write", 2, "Mode", "read" },
        { "llc_read_write", 2, "Task", "1" },
        { "llc_read_write", 2, "Hit Rate(%)", "25.0" },
        { "llc_read_write", 2, "Throughput(MB/s)", "30.0" },
        { "npu_mem", 0, "Device_id", "0" },
        { "npu_mem", 0, "event", "Device" },
        { "npu_mem", 0, "ddr(KB)", "1" },
        { "npu_mem", 0, "hbm(KB)", "3" },
        { "npu_mem", 0, "memory(KB)", "4" },
        { "npu_mem", 0, "timestamp(us)", "1.000\t" },
        { "npu_mem", 1, "Device_id", "0" },
        { "npu_mem", 1, "event", "APP" },
        { "npu_mem", 1, "ddr(KB)", "2" },
        { "npu_mem", 1, "hbm(KB)", "1" },
        { "npu_mem", 1, "memory(KB)", "3" },
        { "npu_mem", 1, "timestamp(us)", "2.000\t" },
        { "npu_module_mem", 0, "Device_id", "0" },
        { "npu_module_mem", 0, "Component", "HCCL" },
        { "npu_module_mem", 0, "Timestamp(us)", "2.000\t" },
        { "npu_module_mem", 0, "Total Reserved(KB)", "2" },
        { "npu_module_mem", 0, "Device", "NPU:0" },
        { "npu_module_mem", 1, "Device_id", "0" },
        { "npu_module_mem", 1, "Component", "RUNTIME" },
        { "npu_module_mem", 1, "Timestamp(us)", "1.000\t" },
        { "npu_module_mem", 1, "Total Reserved(KB)", "4" },
        { "npu_module_mem", 1, "Device", "NPU:0" },
        { "npu_module_mem", 2, "Device_id", "0" },
        { "npu_module_mem", 2, "Component", "Unknown" },
        { "npu_module_mem", 2, "Timestamp(us)", "3.000\t" },
        { "npu_module_mem", 2, "Total Reserved(KB)", "0" },
        { "npu_module_mem", 2, "Device", "NPU:0" },
        { "pcie", 0, "Device_id", "0" },
        { "pcie", 0, "Mode", "Tx_p_avg(MB/s)" },
        { "pcie", 0, "Min", "1000000.0" },
        { "pcie", 0, "Max", "3000000.0" },
        { "pcie", 0, "Avg", "2000000.0" },
        { "pcie", 3, "Device_id", "0" },
        { "pcie", 3, "Mode", "Tx_latency_avg(us)" },
        { "pcie", 3, "Min", "1048.576" },
        { "pcie", 3, "Max", "3145.728" },
        { "pcie", 3, "Avg", "2097.152" },
        { "pcie", 6, "Device_id", "0" },
        { "pcie", 6, "Mode", "Rx_cpl_avg(MB/s)" },
        { "pcie", 6, "Min", "1000000.0" },
        { "pcie", 6, "Max", "3000000.0" },
        { "pcie", 6, "Avg", "2000000.0" },
        { "hccs", 0, "Device_id", "0" },
        { "hccs", 0, "Mode", "Tx (MB/s)" },
        { "hccs", 0, "Max", "15.0" },
        { "hccs", 0, "Min", "5.0" },
        { "hccs", 0, "Average", "10.0" },
        { "hccs", 1, "Device_id", "0" },
        { "hccs", 1, "Mode", "Rx (MB/s)" },
        { "hccs", 1, "Max", "26.0" },
        { "hccs", 1, "Min", "6.0" },
        { "hccs", 1, "Average", "16.0" },
        { "nic", 0, "Device_id", "0" },
        { "nic", 0, "Timestamp(us)", "1.000\t" },
        { "nic", 0, "Bandwidth(MB/s)", "100.0" },
        { "nic", 0, "Rx Bandwidth efficiency(%)", "0.0" },
        { "nic", 0, "rxPacket/s", "7.0" },
        { "nic", 0, "rxError rate(%)", "0.1" },
        { "nic", 0, "rxDropped rate(%)", "0.2" },
        { "nic", 0, "Tx Bandwidth efficiency(%)", "0.0" },
        { "nic", 0, "txPacket/s", "9.0" },
        { "nic", 0, "txError rate(%)", "0.05" },
        { "nic", 0, "txDropped rate(%)", "0.25" },
        { "nic", 0, "funcId", "2" },
        { "roce", 0, "Device_id", "0" },
        { "roce", 0, "Timestamp(us)", "2.000\t" },
        { "roce", 0, "Bandwidth(MB/s)", "1.0" },
        { "roce", 0, "Rx Bandwidth efficiency(%)", "1.0" },
        { "roce", 0, "rxPacket/s", "2.0" },
        { "roce", 0, "rxError rate(%)", "10.0" },
        { "roce", 0, "rxDropped rate(%)", "2.0" },
        { "roce", 0, "Tx Bandwidth efficiency(%)", "1.0" },
        { "roce", 0, "txPacket/s", "2.0" },
        { "roce", 0, "txError rate(%)", "10.0" },
        { "roce", 0, "txDropped rate(%)", "4.0" },
        { "roce", 0, "funcId", "0" },
        { "ai_core_utilization", 0, "Device_id", "0" },
        { "ai_core_utilization", 0, "Core ID", "Core3" },
        { "ai_core_utilization", 0, "mac_ratio", "0.5" },
        { "ai_core_utilization", 0, "vec_ratio", "0.25" },
        { "ai_core_utilization", 0, "mte2_ratio", "0.75" },
        { "ai_core_utilization", 0, "memory_bound", "1.5" },
        { "ai_core_utilization", 1, "Device_id", "0" },
        { "ai_core_utilization", 1, "Core ID", "Core4" },
        { "ai_core_utilization", 1, "mac_ratio", "0.25" },
        { "ai_core_utilization", 1, "vec_ratio", "0.5" },
        { "ai_core_utilization", 1, "mte2_ratio", "0.25" },
        { "ai_core_utilization", 1, "memory_bound", "0.5" },
        { "ai_core_utilization", 2, "Device_id", "0" },
        { "ai_core_utilization", 2, "Core ID", "Average" },
        { "ai_core_utilization", 2, "mac_ratio", "0.375" },
        { "ai_core_utilization", 2, "vec_ratio", "0.375" },
        { "ai_core_utilization", 2, "mte2_ratio", "0.5" },
        { "ai_core_utilization", 2, "memory_bound", "1.333" },
        { "host_cpu_usage", 0, "Device_id", "host" },
        { "host_cpu_usage", 0, "Total Cpu Numbers", "4" },
        { "host_cpu_usage", 0, "Occupied Cpu Numbers", "2" },
        { "host_cpu_usage", 0, "Recommend Cpu Numbers", "1" },
        { "host_mem_usage", 0, "Device_id", "host" },
        { "host_mem_usage", 0, "Total Memory(KB)", "4000" },
        { "host_mem_usage", 0, "Peak Used Memory(KB)", "1600.0" },
        { "host_mem_usage", 0, "Recommend Memory(KB)", "2000.0" },
        { "host_network_usage", 0, "Device_id", "host" },
        { "host_network_usage", 0, "Netcard Speed(KB/s)", "976.5625" },
        { "host_network_usage", 0, "Peak Used Speed(KB/s)", "300.0" },
        { "host_network_usage", 0, "Recommend Speed(KB/s)", "375.0" },
        { "host_disk_usage", 0, "Device_id", "host" },
        { "host_disk_usage", 0, "Peak Disk Read(KB/s)", "20.0" },
        { "host_disk_usage", 0, "Recommend Disk Read(KB/s)", "25.0" },
        { "host_disk_usage", 0, "Peak Disk Write(KB/s)", "40.0" },
        { "host_disk_usage", 0, "Recommend Disk Write(KB/s)", "50.0" },
        { "host_numa_usage", 0, "Device_id", "host" },
        { "host_numa_usage", 0, "Node", "node0" },
        { "host_numa_usage", 0, "Peak Used Memory(KB)", "60" },
        { "host_numa_usage", 0, "Average Used Memory(KB)", "50.0" },
        { "host_numa_usage", 0, "Numa Hit", "30" },
        { "host_numa_usage", 0, "Numa Miss", "N/A" },
        { "host_numa_usage", 0, "Numa Foreign", "N/A" },
        { "host_numa_usage", 0, "Interleave Hit", "N/A" },
        { "host_numa_usage", 0, "Local Node", "N/A" },
        { "host_numa_usage", 0, "Other Node", "N/A" },
        { "host_roce_usage", 0, "Device_id", "host" },
        { "host_roce_usage", 0, "Port", "mlx5_0/1" },
        { "host_roce_usage", 0, "Rx(KB)", "2.0" },
        { "host_roce_usage", 0, "Tx(KB)", "N/A" },
        { "host_roce_usage", 0, "Rx Packets", "N/A" },
        { "host_roce_usage", 0, "Tx Packets", "N/A" },
        { "host_roce_usage", 0, "Rx Errors", "N/A" },
        { "host_roce_usage", 0, "Tx Discards", "N/A" },
        { "host_roce_usage", 0, "Out Of Sequence", "N/A" },
        { "host_roce_usage", 0, "Packet Sequence Errors", "N/A" },
        { "host_roce_usage", 0, "Ack Timeouts", "N/A" },
        { "host_roce_usage", 0, "CNP Sent", "N/A" },
        { "host_roce_usage", 0, "CNP Handled", "N/A" },
        { "host_roce_usage", 0, "RNR NAK Retries", "N/A" },
        { "os_runtime_statistic", 0, "Device_id", "host" },
        { "os_runtime_statistic", 0, "Process ID", "7" },
        { "os_runtime_statistic", 0, "Thread ID", "22" },
        { "os_runtime_statistic", 0, "Name", "read" },
        { "os_runtime_statistic", 0, "Time(%)", "0.75" },
        { "os_runtime_statistic", 0, "Time(us)", "12.0" },
        { "os_runtime_statistic", 0, "Count", "1" },
        { "os_runtime_statistic", 0, "Avg(us)", "12.0" },
        { "os_runtime_statistic", 0, "Max(us)", "12.0" },
        { "os_runtime_statistic", 0, "Min(us)", "12.0" },
        { "os_runtime_statistic", 1, "Device_id", "host" },
        { "os_runtime_statistic", 1, "Process ID", "7" },
        { "os_runtime_statistic", 1, "Thread ID", "21" },
        { "os_runtime_statistic", 1, "Name", "open" },
        { "os_runtime_statistic", 1, "Time(%)", "0.25" },
        { "os_runtime_statistic", 1, "Time(us)", "4.0" },
        { "os_runtime_statistic", 1, "Count", "2" },
        { "os_runtime_statistic", 1, "Avg(us)", "2.0" },
        { "os_runtime_statistic", 1, "Max(us)", "3.0" },
        { "os_runtime_statistic", 1, "Min(us)", "1.0" },
        { "cpu_usage", 0, "Device_id", "0" },
        { "cpu_usage", 0, "Cpu Type", "ctrlcpu" },
        { "cpu_usage", 0, "User(%)", "10.0" },
        { "cpu_usage", 0, "Sys(%)", "20.0" },
        { "cpu_usage", 0, "IoWait(%)", "30.0" },
        { "cpu_usage", 0, "Irq(%)", "5.0" },
        { "cpu_usage", 0, "Soft(%)", "15.0" },
        { "cpu_usage", 0, "Idle(%)", "20.0" },
        { "cpu_usage", 1, "Device_id", "host" },
        { "cpu_usage", 1, "Cpu Type", "host" },
        { "cpu_usage", 1, "User(%)", "50.0" },
        { "cpu_usage", 1, "Sys(%)", "25.0" },
        { "cpu_usage", 1, "IoWait(%)", "0.0" },
        { "cpu_usage", 1, "Irq(%)", "0.0" },
        { "cpu_usage", 1, "Soft(%)", "0.0" },
        { "cpu_usage", 1, "Idle(%)", "25.0" },
        { "process_cpu_usage", 0, "Device_id", "host" },
        { "process_cpu_usage", 0, "PID", "5" },
        { "process_cpu_usage", 0, "Name", "daemon" },
        { "process_cpu_usage", 0, "CPU(%)", "25.0" },
        { "sys_mem", 0, "Device_id", "host" },
        { "sys_mem", 0, "Memory Total(kB)", "100" },
        { "sys_mem", 0, "Memory Free(kB)", "200" },
        { "sys_mem", 0, "Buffers(kB)", "300" },
        { "sys_mem", 0, "Cached(kB)", "400" },
        { "sys_mem", 0, "Share Memory(kB)", "500" },
        { "sys_mem", 0, "Commit Limit(kB)", "600" },
        { "sys_mem", 0, "Committed AS(kB)", "700" },
        { "sys_mem", 0, "Huge Pages Total(pages)", "800" },
        { "sys_mem", 0, "Huge Pages Free(pages)", "N/A" },
        { "process_mem", 0, "Device_id", "host" },
        { "process_mem", 0, "PID", "5" },
        { "process_mem", 0, "Name", "daemon" },
        { "process_mem", 0, "Size(pages)", "10" },
        { "process_mem", 0, "Resident(pages)", "5" },
        { "process_mem", 0, "Shared(pages)", "2" },
        { "ai_cpu_pmu_events", 0, "Device_id", "0" },
        { "ai_cpu_pmu_events", 0, "Event", "0x11" },
        { "ai_cpu_pmu_events", 0, "Name", "Cpu_cycles" },
        { "ai_cpu_pmu_events", 0, "Count", "400" },
        { "ai_cpu_pmu_events", 1, "Device_id", "0" },
        { "ai_cpu_pmu_events", 1, "Event", "0x8" },
        { "ai_cpu_pmu_events", 1, "Name", "Inst_retired" },
        { "ai_cpu_pmu_events", 1, "Count", "50" },
        { "ai_cpu_top_function", 0, "Device_id", "0" },
        { "ai_cpu_top_function", 0, "Function", "main" },
        { "ai_cpu_top_function", 0, "Module", "a.so" },
        { "ai_cpu_top_function", 0, "Cycles", "300" },
        { "ai_cpu_top_function", 0, "Cycles(%)", "75.0" },
        { "ai_cpu_top_function", 1, "Device_id", "0" },
        { "ai_cpu_top_function", 1, "Function", "idle" },
        { "ai_cpu_top_function", 1, "Module", "a.so" },
        { "ai_cpu_top_function", 1, "Cycles", "100" },
        { "ai_cpu_top_function", 1, "Cycles(%)", "25.0" },
        { "ctrl_cpu_pmu_events", 0, "Device_id", "0" },
        { "ctrl_cpu_pmu_events", 0, "Event", "0x11" },
        { "ctrl_cpu_pmu_events", 0, "Name", "Cpu_cycles" },
        { "ctrl_cpu_pmu_events", 0, "Count", "400" },
        { "ctrl_cpu_pmu_events", 1, "Device_id", "0" },
        { "ctrl_cpu_pmu_events", 1, "Event", "0x8" },
        { "ctrl_cpu_pmu_events", 1, "Name", "Inst_retired" },
        { "ctrl_cpu_pmu_events", 1, "Count", "50" },
        { "ctrl_cpu_top_function", 0, "Device_id", "0" },
        { "ctrl_cpu_top_function", 0, "Function", "main" },
        { "ctrl_cpu_top_function", 0, "Module", "a.so" },
        { "ctrl_cpu_top_function", 0, "Cycles", "300" },
        { "ctrl_cpu_top_function", 0, "Cycles(%)", "75.0" },
        { "ctrl_cpu_top_function", 1, "Device_id", "0" },
        { "ctrl_cpu_top_function", 1, "Function", "idle" },
        { "ctrl_cpu_top_function", 1, "Module", "a.so" },
        { "ctrl_cpu_top_function", 1, "Cycles", "100" },
        { "ctrl_cpu_top_function", 1, "Cycles(%)", "25.0" },
        { "ts_cpu_pmu_events", 0, "Device_id", "0" },
        { "ts_cpu_pmu_events", 0, "Event", "0x11" },
        { "ts_cpu_pmu_events", 0, "Name", "Cpu_cycles" },
        { "ts_cpu_pmu_events", 0, "Count", "400" },
        { "ts_cpu_top_function", 0, "Device_id", "0" },
        { "ts_cpu_top_function", 0, "Function", "main" },
        { "ts_cpu_top_function", 0, "Cycles", "300" },
        { "ts_cpu_top_function", 0, "Cycles(%)", "75.0" },
        { "dvpp", 0, "Device_id", "0" },
        { "dvpp", 0, "Dvpp Id", "0" },
        { "dvpp", 0, "Engine Type", "VPC" },
        { "dvpp", 0, "Engine ID", "1" },
        { "dvpp", 0, "All Time(us)", "12.5" },
        { "dvpp", 0, "All Frame", "3.0" },
        { "dvpp", 0, "All Utilization(%)", "40%" },
    };
    const struct export x = { .profile = &profile, .options = &current, .mem = profile.mem };
    cells_check(table_build, &x, wanted, ROWS(wanted));
    (void)state;
}

static void reports_in_the_older_presentation(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "npu_mem", 0, "Device_id", "0" },
        { "npu_mem", 0, "event", "Device" },
        { "npu_mem", 0, "ddr(KB)", "1.0" },
        { "npu_mem", 0, "hbm(KB)", "3.5" },
        { "npu_mem", 0, "memory(KB)", "4.5" },
        { "npu_mem", 0, "timestamp(us)", "1.000\t" },
        { "npu_module_mem", 0, "Device_id", "0" },
        { "npu_module_mem", 0, "Component", "HCCL" },
        { "npu_module_mem", 0, "Timestamp(us)", "2.000\t" },
        { "npu_module_mem", 0, "Total Reserved(KB)", "2.5" },
        { "npu_module_mem", 0, "Device", "NPU:0" },
    };
    const struct export x = { .profile = &profile, .options = &current, .is_generic = true, .mem = profile.mem };
    cells_check(table_build, &x, wanted, ROWS(wanted));
    (void)state;
}

static void tables_of_the_database(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "HBM", 0, "deviceId", "0" },
        { "HBM", 0, "timestampNs", "1000" },
        { "HBM", 0, "bandwidth", "104857600" },
        { "HBM", 0, "hbmId", "0" },
        { "HBM", 0, "type", "'read" },
        { "HBM", 3, "deviceId", "0" },
        { "HBM", 3, "timestampNs", "2000" },
        { "HBM", 3, "bandwidth", "73400320" },
        { "HBM", 3, "hbmId", "1" },
        { "HBM", 3, "type", "'write" },
        { "DDR", 0, "deviceId", "0" },
        { "DDR", 0, "timestampNs", "1000" },
        { "DDR", 0, "read", "10485760" },
        { "DDR", 0, "write", "20971520" },
        { "LLC", 1, "deviceId", "0" },
        { "LLC", 1, "llcId", "1" },
        { "LLC", 1, "timestampNs", "1000" },
        { "LLC", 1, "hitRate", "25.0" },
        { "LLC", 1, "throughput", "31457280" },
        { "LLC", 1, "mode", "'read" },
        { "NPU_MEM", 0, "type", "'device" },
        { "NPU_MEM", 0, "ddr", "1024" },
        { "NPU_MEM", 0, "hbm", "3584" },
        { "NPU_MEM", 0, "timestampNs", "1000" },
        { "NPU_MEM", 0, "deviceId", "0" },
        { "NPU_MEM", 1, "type", "'app" },
        { "NPU_MEM", 1, "ddr", "2048" },
        { "NPU_MEM", 1, "hbm", "1024" },
        { "NPU_MEM", 1, "timestampNs", "2000" },
        { "NPU_MEM", 1, "deviceId", "0" },
        { "NPU_MODULE_MEM", 0, "moduleId", "7" },
        { "NPU_MODULE_MEM", 0, "timestampNs", "1000" },
        { "NPU_MODULE_MEM", 0, "totalReserved", "4096" },
        { "NPU_MODULE_MEM", 0, "deviceId", "0" },
        { "PCIE", 0, "deviceId", "0" },
        { "PCIE", 0, "timestampNs", "1000" },
        { "PCIE", 0, "txPostMin", "1048576000000" },
        { "PCIE", 0, "txPostMax", "3145728000000" },
        { "PCIE", 0, "txPostAvg", "2097152000000" },
        { "PCIE", 0, "txNonpostMin", "1048576000000" },
        { "PCIE", 0, "txNonpostMax", "3145728000000" },
        { "PCIE", 0, "txNonpostAvg", "2097152000000" },
        { "PCIE", 0, "txCplMin", "1048576000000" },
        { "PCIE", 0, "txCplMax", "3145728000000" },
        { "PCIE", 0, "txCplAvg", "2097152000000" },
        { "PCIE", 0, "txNonpostLatencyMin", "1048576" },
        { "PCIE", 0, "txNonpostLatencyMax", "3145728" },
        { "PCIE", 0, "txNonpostLatencyAvg", "2097152" },
        { "PCIE", 0, "rxPostMin", "1048576000000" },
        { "PCIE", 0, "rxPostMax", "3145728000000" },
        { "PCIE", 0, "rxPostAvg", "2097152000000" },
        { "PCIE", 0, "rxNonpostMin", "1048576000000" },
        { "PCIE", 0, "rxNonpostMax", "3145728000000" },
        { "PCIE", 0, "rxNonpostAvg", "2097152000000" },
        { "PCIE", 0, "rxCplMin", "1048576000000" },
        { "PCIE", 0, "rxCplMax", "3145728000000" },
        { "PCIE", 0, "rxCplAvg", "2097152000000" },
        { "HCCS", 0, "deviceId", "0" },
        { "HCCS", 0, "timestampNs", "1000" },
        { "HCCS", 0, "txThroughput", "5242880" },
        { "HCCS", 0, "rxThroughput", "6291456" },
        { "NIC", 0, "deviceId", "0" },
        { "NIC", 0, "timestampNs", "1000" },
        { "NIC", 0, "bandwidth", "104857600" },
        { "NIC", 0, "rxPacketRate", "7" },
        { "NIC", 0, "rxByteRate", "8" },
        { "NIC", 0, "rxPackets", "100" },
        { "NIC", 0, "rxBytes", "1000" },
        { "NIC", 0, "rxErrors", "10" },
        { "NIC", 0, "rxDropped", "20" },
        { "NIC", 0, "txPacketRate", "9" },
        { "NIC", 0, "txByteRate", "11" },
        { "NIC", 0, "txPackets", "200" },
        { "NIC", 0, "txBytes", "2000" },
        { "NIC", 0, "txErrors", "10" },
        { "NIC", 0, "txDropped", "50" },
        { "NIC", 0, "funcId", "2" },
        { "ROCE", 1, "deviceId", "0" },
        { "ROCE", 1, "timestampNs", "2000" },
        { "ROCE", 1, "bandwidth", "1048576" },
        { "ROCE", 1, "rxPacketRate", "1500" },
        { "ROCE", 1, "rxByteRate", "0" },
        { "ROCE", 1, "rxPackets", "0" },
        { "ROCE", 1, "rxBytes", "131072001" },
        { "ROCE", 1, "rxErrors", "300" },
        { "ROCE", 1, "rxDropped", "60" },
        { "ROCE", 1, "txPacketRate", "1500" },
        { "ROCE", 1, "txByteRate", "0" },
        { "ROCE", 1, "txPackets", "0" },
        { "ROCE", 1, "txBytes", "131072001" },
        { "ROCE", 1, "txErrors", "300" },
        { "ROCE", 1, "txDropped", "60" },
        { "ROCE", 1, "funcId", "0" },
        { "NETDEV_STATS", 0, "deviceId", "0" },
        { "NETDEV_STATS", 0, "timestampNs", "1000" },
        { "NETDEV_STATS", 0, "macTxPfcPkt", "10" },
        { "NETDEV_STATS", 0, "macRxPfcPkt", "20" },
        { "NETDEV_STATS", 0, "macTxByte", "30" },
        { "NETDEV_STATS", 0, "macTxBandwidth", "40" },
        { "NETDEV_STATS", 0, "macRxByte", "50" },
        { "NETDEV_STATS", 0, "macRxBandwidth", "60" },
        { "NETDEV_STATS", 0, "macTxBadByte", "70" },
        { "NETDEV_STATS", 0, "macRxBadByte", "80" },
        { "NETDEV_STATS", 0, "roceTxPkt", "90" },
        { "NETDEV_STATS", 0, "roceRxPkt", "100" },
        { "NETDEV_STATS", 0, "roceTxErrPkt", "110" },
        { "NETDEV_STATS", 0, "roceRxErrPkt", "120" },
        { "NETDEV_STATS", 0, "roceTxCnpPkt", "130" },
        { "NETDEV_STATS", 0, "roceRxCnpPkt", "140" },
        { "NETDEV_STATS", 0, "roceNewPktRty", "150" },
        { "NETDEV_STATS", 0, "nicTxByte", "160" },
        { "NETDEV_STATS", 0, "nicTxBandwidth", "170" },
        { "NETDEV_STATS", 0, "nicRxByte", "180" },
        { "NETDEV_STATS", 0, "nicRxBandwidth", "190" },
        { "SOC_BANDWIDTH_LEVEL", 0, "l2BufferBwLevel", "5" },
        { "SOC_BANDWIDTH_LEVEL", 0, "mataBwLevel", "9" },
        { "SOC_BANDWIDTH_LEVEL", 0, "timestampNs", "1000" },
        { "SOC_BANDWIDTH_LEVEL", 0, "deviceId", "0" },
        { "ACC_PMU", 0, "accId", "6" },
        { "ACC_PMU", 0, "readBwLevel", "20" },
        { "ACC_PMU", 0, "writeBwLevel", "10" },
        { "ACC_PMU", 0, "readOstLevel", "40" },
        { "ACC_PMU", 0, "writeOstLevel", "30" },
        { "ACC_PMU", 0, "timestampNs", "1000" },
        { "ACC_PMU", 0, "deviceId", "0" },
        { "QOS", 0, "deviceId", "0" },
        { "QOS", 0, "eventName", "'QoS AIC" },
        { "QOS", 0, "bandwidth", "3145728" },
        { "QOS", 0, "timestampNs", "1000" },
        { "QOS", 0, "dieId", "-1" },
        { "SIO", 0, "deviceId", "0" },
        { "SIO", 0, "name", "'die 1" },
        { "SIO", 0, "timestampNs", "1000" },
        { "SIO", 0, "rxReq", "1048576" },
        { "SIO", 0, "rxRsp", "2097152" },
        { "SIO", 0, "rxSnp", "3145728" },
        { "SIO", 0, "rxDat", "4194304" },
        { "SIO", 0, "txReq", "5242880" },
        { "SIO", 0, "txRsp", "6291456" },
        { "SIO", 0, "txSnp", "7340032" },
        { "SIO", 0, "txDat", "8388608" },
        { "SAMPLE_PMU_SUMMARY", 0, "deviceId", "0" },
        { "SAMPLE_PMU_SUMMARY", 0, "metric", "'total_time" },
        { "SAMPLE_PMU_SUMMARY", 0, "value", "2500000" },
        { "SAMPLE_PMU_SUMMARY", 0, "coreId", "3" },
        { "SAMPLE_PMU_SUMMARY", 0, "coreType", "'AIC" },
        { "SAMPLE_PMU_SUMMARY", 1, "deviceId", "0" },
        { "SAMPLE_PMU_SUMMARY", 1, "metric", "'mac_ratio" },
        { "SAMPLE_PMU_SUMMARY", 1, "value", "0.5" },
        { "SAMPLE_PMU_SUMMARY", 1, "coreId", "3" },
        { "SAMPLE_PMU_SUMMARY", 1, "coreType", "'AIC" },
        { "CPU_USAGE", 0, "timestampNs", "1000" },
        { "CPU_USAGE", 0, "cpuId", "0" },
        { "CPU_USAGE", 0, "usage", "50" },
        { "CPU_USAGE", 1, "timestampNs", "1000" },
        { "CPU_USAGE", 1, "cpuId", "1" },
        { "CPU_USAGE", 1, "usage", "0" },
        { "HOST_MEM_USAGE", 1, "timestampNs", "2000" },
        { "HOST_MEM_USAGE", 1, "usage", "40" },
        { "HOST_NETWORK_USAGE", 1, "timestampNs", "2000" },
        { "HOST_NETWORK_USAGE", 1, "usage", "2" },
        { "HOST_NETWORK_USAGE", 1, "speed", "307200" },
        { "HOST_DISK_USAGE", 0, "timestampNs", "1000" },
        { "HOST_DISK_USAGE", 0, "readRate", "10240" },
        { "HOST_DISK_USAGE", 0, "writeRate", "30720" },
        { "HOST_DISK_USAGE", 0, "usage", "5" },
        { "OSRT_API", 2, "name", "'read" },
        { "OSRT_API", 2, "globalTid", "30064771094" },
        { "OSRT_API", 2, "startNs", "5000" },
        { "OSRT_API", 2, "endNs", "17000" },
    };
    static const struct db_writer writer[] = { { usage_db, NULL }, { counters_db, NULL }, { core_db, NULL } };
    const struct export x = { .profile = &profile, .options = &current, .mem = profile.mem };
    const char *path = folder_path("a.db");
    struct error e = { 0 };
    struct db *db = db_open(path, profile.names, &e);
    assert_non_null(db);
    for (size_t i = 0; i < ROWS(writer); i++)
        assert_true(writer[i].write(&x, db, &e));
    assert_true(db_close(db, &e));
    db_cells_check(path, wanted, ROWS(wanted));
    (void)state;
}

static void a_device_that_counted_other_metrics_has_none_of_the_first_ones(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "ai_core_utilization", 3, "Device_id", "1" },
        { "ai_core_utilization", 3, "Core ID", "Core0" },
        { "ai_core_utilization", 3, "mac_ratio", "0.125" },
        { "ai_core_utilization", 3, "vec_ratio", "N/A" },
        { "ai_core_utilization", 3, "mte2_ratio", "N/A" },
        { "ai_core_utilization", 3, "memory_bound", "N/A" },
    };
    struct device two[] = { device, device };
    struct profile p = profile;
    two[1].source.device = 1;
    two[1].counters.core[CORE_AIC] =
        (struct core_metrics){ .n_cores = 1,
                               .n_metrics = 3,
                               .core = U16{ 0 },
                               .metric = (const char *[]){ "total_time(ms)", "mac_ratio", "scalar_ratio" },
                               .value = F64{ 9, 0.125, 0.5 } };
    p.device = two;
    p.n_devices = ROWS(two);
    const struct export x = { .profile = &p, .options = &current, .mem = profile.mem };
    cells_check(table_build, &x, wanted, ROWS(wanted));
    (void)state;
}
/* clang-format on */

/* The counters of a process of the timeline, as text. */
static void draw(const struct export *x, const struct counter_process *c, struct out *o)
{
    struct error e = { 0 };
    struct trace t = { .out = o, .names = profile.names, .device_word = "NPU" };
    assert_true(out_open_memory(o, &e));
    assert_true(counters_draw(x, c, &t, &e));
    out_char(o, '\0');
}

static void utilization_of_cores_needs_their_frequency(void **state)
{
    static const struct {
        double mhz;
        const char *text; /* NULL: none is drawn */
    } row[] = { { 1000, "\"Utilization(%)\":\"50.000000\"" }, { 0, NULL } };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct device one = device;
        struct profile p = profile;
        struct samples *s = &one.counters.rate[SAMPLER_CORE];
        struct out o;
        *s = sheet(1, (int64_t[]){ 1000 }, SAMPLES_MOST_COLUMNS, (double[SAMPLES_MOST_COLUMNS]){ 0 });
        ((double *)s->column[CORE_CYCLES].at)[0] = 1000;
        ((double *)s->column[CORE_RATE_GAP].at)[0] = 2000;
        one.source.aic_mhz = row[i].mhz;
        p.device = &one;
        const struct export x = { .profile = &p, .options = &current, .is_generic = true, .mem = profile.mem };
        draw(&x, &core_process, &o);
        print_message("  %g MHz\n", row[i].mhz);
        assert_true(strstr(o.buf, "AI Core Utilization"));
        assert_true(row[i].text ? strstr(o.buf, row[i].text) != NULL : strstr(o.buf, "Utilization(%)") == NULL);
        out_discard(&o);
    }
    (void)state;
}

static void components_of_all_devices_are_in_one_order(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "npu_module_mem", 0, "Component", "HCCL" },       { "npu_module_mem", 0, "Timestamp(us)", "1.500\t" },
        { "npu_module_mem", 0, "Device", "NPU:1" },         { "npu_module_mem", 1, "Component", "HCCL" },
        { "npu_module_mem", 1, "Device", "NPU:0" },         { "npu_module_mem", 2, "Component", "RUNTIME" },
        { "npu_module_mem", 2, "Device", "NPU:0" },         { "npu_module_mem", 3, "Timestamp(us)", "1.000\t" },
        { "npu_module_mem", 3, "Device", "NPU:1" },         { "npu_module_mem", 4, "Timestamp(us)", "1.700\t" },
        { "npu_module_mem", 5, "Component", "Unknown" },    { "npu_module_mem", 0, "Device_id", "1" },
        { "npu_module_mem", 3, "Total Reserved(KB)", "0" },
    };
    struct device both[] = { device, device };
    both[1].source.device = 1;
    both[1].counters.raw[SAMPLER_MODULE_MEM] =
        sheet(3, (int64_t[]){ 1000, 1500, 1700 }, MODULE_MEM_FIELDS, (double[]){ 0, 7, 1, 0, 3, 2, 0, 7, 3 });
    struct profile p = profile;
    p.device = both;
    p.n_devices = 2;
    const struct export x = { .profile = &p, .options = &current, .mem = profile.mem };
    cells_check(table_build, &x, wanted, ROWS(wanted));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_of_samplers),
        cmocka_unit_test(reports_in_the_older_presentation),
        cmocka_unit_test(components_of_all_devices_are_in_one_order),
        cmocka_unit_test_setup_teardown(tables_of_the_database, folder_make, folder_remove),
        cmocka_unit_test(a_device_that_counted_other_metrics_has_none_of_the_first_ones),
        cmocka_unit_test(utilization_of_cores_needs_their_frequency),
    };
    return cmocka_run_group_tests(tests, profile_make, profile_unmake);
}
