/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/sampler.h"

/* clang-format off */
const struct layout hbm_layout = {
    .name = "hbm", .size = 24, .n = TRAFFIC_FIELDS,
    .field = {
        [TRAFFIC_TIME] = { 0, W64, "time_us" },
        [TRAFFIC_COUNT] = { 8, W64, "count" },
        [TRAFFIC_EVENT] = { 16, W32, "event" },
        [TRAFFIC_UNIT] = { 20, W32, "unit" },
    },
};

const struct layout hbm_v2_layout = {
    .name = "hbm", .size = 32, .n = TRAFFIC_FIELDS,
    .field = {
        [TRAFFIC_TIME] = { 24, W64, "time_ns" },
        [TRAFFIC_COUNT] = { 16, W64, "count" },
        [TRAFFIC_EVENT] = { 8, W32, "event" },
        [TRAFFIC_UNIT] = { 12, W32, "unit" },
    },
};

const struct layout llc_layout = {
    .name = "llc", .size = 24, .n = TRAFFIC_FIELDS,
    .field = {
        [TRAFFIC_TIME] = { 0, W64, "time_us" },
        [TRAFFIC_COUNT] = { 8, W64, "count" },
        [TRAFFIC_EVENT] = { 16, W32, "event" },
        [TRAFFIC_UNIT] = { 20, W32, "unit" },
    },
};

const struct layout llc_v2_layout = {
    .name = "llc", .size = 24, .n = TRAFFIC_FIELDS,
    .field = {
        [TRAFFIC_TIME] = { 16, W64, "time_ns" },
        [TRAFFIC_COUNT] = { 4, W32, "count" },
        [TRAFFIC_EVENT] = { 8, W32, "event" },
        [TRAFFIC_UNIT] = { 12, W32, "unit" },
    },
};

const struct layout ddr_layout = {
    .name = "ddr", .size = 20, .n = DDR_FIELDS,
    .field = {
        [TRAFFIC_TIME] = { 0, W32, "time_us" },
        [TRAFFIC_COUNT] = { 4, W32, "count" },
        [TRAFFIC_EVENT] = { 8, W32, "event" },
        [TRAFFIC_UNIT] = { 12, W32, "unit" },
        [DDR_MASTER] = { 16, W32, "master" },
    },
};

const struct layout npu_mem_layout = {
    .name = "npu_mem", .size = 32, .n = NPU_MEM_FIELDS,
    .field = {
        [NPU_MEM_TIME] = { 0, W32, "time_us" },
        [NPU_MEM_EVENT] = { 4, W32, "event" },
        [NPU_MEM_DDR] = { 16, W64, "ddr_bytes" },
        [NPU_MEM_HBM] = { 24, W64, "hbm_bytes" },
    },
};

const struct layout npu_mem_v2_layout = {
    .name = "npu_mem", .size = 32, .n = NPU_MEM_FIELDS,
    .field = {
        [NPU_MEM_TIME] = { 8, W64, "time_us" },
        [NPU_MEM_EVENT] = { 4, W32, "event" },
        [NPU_MEM_DDR] = { 16, W64, "ddr_bytes" },
        [NPU_MEM_HBM] = { 24, W64, "hbm_bytes" },
    },
};

const struct layout module_mem_layout = {
    .name = "npu_module_mem", .size = 24, .n = MODULE_MEM_FIELDS,
    .field = {
        [MODULE_MEM_TIME] = { 8, W64, "host_tick" },
        [MODULE_MEM_MODULE] = { 0, W32, "module" },
        [MODULE_MEM_BYTES] = { 16, W64, "bytes" },
    },
};

#define PCIE_THREE(value, name)                                                 \
    [PCIE_FIRST + (value) * 3 + PCIE_MIN] = { 12 + (value) * 12, W32, name "_min" },     \
    [PCIE_FIRST + (value) * 3 + PCIE_MAX] = { 12 + (value) * 12 + 4, W32, name "_max" }, \
    [PCIE_FIRST + (value) * 3 + PCIE_AVG] = { 12 + (value) * 12 + 8, W32, name "_avg" }

const struct layout pcie_layout = {
    .name = "pcie", .size = 96, .n = PCIE_FIELDS,
    .field = {
        [PCIE_TIME] = { 0, W64, "time_ns" },
        [PCIE_DEVICE] = { 8, W32, "device" },
        PCIE_THREE(PCIE_TX_POST, "tx_post"),
        PCIE_THREE(PCIE_TX_NONPOST, "tx_nonpost"),
        PCIE_THREE(PCIE_TX_CPL, "tx_cpl"),
        PCIE_THREE(PCIE_TX_LATENCY, "tx_nonpost_latency"),
        PCIE_THREE(PCIE_RX_POST, "rx_post"),
        PCIE_THREE(PCIE_RX_NONPOST, "rx_nonpost"),
        PCIE_THREE(PCIE_RX_CPL, "rx_cpl"),
    },
};

#define QOS_BW(i) [QOS_FIRST + (i)] = { 24 + (i) * 4, W32, "bandwidth_" #i }

const struct layout qos_layout = {
    .name = "qos", .size = 64, .n = QOS_FIELDS,
    .field = {
        [QOS_TIME] = { 16, W64, "tick" },
        QOS_BW(0), QOS_BW(1), QOS_BW(2), QOS_BW(3), QOS_BW(4),
        QOS_BW(5), QOS_BW(6), QOS_BW(7), QOS_BW(8), QOS_BW(9),
    },
};

#define SOC_RECORD(function) .magic = { 2, W16, 0xFFFF, 0x6BD3 }, .kind = { 0, W16, 63, (function) }
#define SOC_HEADING                     \
    [SOC_TIME] = { 8, W64, "tick" },    \
    [SOC_HEAD] = { 0, W16, "head" },    \
    [SOC_ID] = { 18, W16, "id" }

const struct layout sio_layout = {
    .name = "sio", .size = 64, SOC_RECORD(25), .n = SIO_FIELDS,
    .field = {
        SOC_HEADING,
        [SOC_FIRST] = { 32, W32, "req_rx" },
        [SOC_FIRST + 1] = { 36, W32, "rsp_rx" },
        [SOC_FIRST + 2] = { 40, W32, "snp_rx" },
        [SOC_FIRST + 3] = { 44, W32, "dat_rx" },
        [SOC_FIRST + 4] = { 48, W32, "req_tx" },
        [SOC_FIRST + 5] = { 52, W32, "rsp_tx" },
        [SOC_FIRST + 6] = { 56, W32, "snp_tx" },
        [SOC_FIRST + 7] = { 60, W32, "dat_tx" },
    },
};

const struct layout sio_die_layout = {
    .name = "sio_die", .size = 64, SOC_RECORD(25), .n = SIO_DIE_FIELDS,
    .field = {
        SOC_HEADING,
        [SOC_FIRST] = { 28, W32, "req_rx" },
        [SOC_FIRST + 1] = { 32, W32, "rsp_rx" },
        [SOC_FIRST + 2] = { 36, W32, "snp_rx" },
        [SOC_FIRST + 3] = { 40, W32, "dat_rx" },
        [SOC_FIRST + 4] = { 48, W32, "req_tx" },
        [SOC_FIRST + 5] = { 52, W32, "rsp_tx" },
        [SOC_FIRST + 6] = { 56, W32, "snp_tx" },
        [SOC_FIRST + 7] = { 60, W32, "dat_tx" },
        [SIO_DIE] = { 0, W16, "die" },
    },
};

#define QOS_DIE_BW(i) [QOS_FIRST + (i)] = { 32 + (i) * 4, W32, "bandwidth_" #i }

const struct layout qos_die_layout = {
    .name = "qos_die", .size = 64, SOC_RECORD(24), .n = QOS_DIE_FIELDS,
    .field = {
        [QOS_TIME] = { 8, W64, "tick" },
        QOS_DIE_BW(0), QOS_DIE_BW(1), QOS_DIE_BW(2), QOS_DIE_BW(3),
        QOS_DIE_BW(4), QOS_DIE_BW(5), QOS_DIE_BW(6), QOS_DIE_BW(7),
        [QOS_DIE_HEAD] = { 0, W16, "die" },
    },
};

const struct layout chip_trans_die_layout = {
    .name = "chip_trans_die", .size = 64, SOC_RECORD(27), .n = TRANS_DIE_FIELDS,
    .field = {
        SOC_HEADING,
        [TRANS_IN] = { 16, W64, "write" },
        [TRANS_OUT] = { 24, W64, "read" },
        [TRANS_DIE] = { 0, W16, "die" },
    },
};

const struct layout acc_pmu_layout = {
    .name = "acc_pmu", .size = 64, SOC_RECORD(26), .n = ACC_FIELDS,
    .field = {
        SOC_HEADING,
        [ACC_WRITE_BW] = { 32, W64, "write_bandwidth" },
        [ACC_READ_BW] = { 40, W64, "read_bandwidth" },
        [ACC_WRITE_OST] = { 48, W64, "write_ost" },
        [ACC_READ_OST] = { 56, W64, "read_ost" },
    },
};

const struct layout chip_trans_layout = {
    .name = "chip_trans", .size = 64, SOC_RECORD(27), .n = TRANS_FIELDS,
    .field = {
        SOC_HEADING,
        [TRANS_IN] = { 32, W64, "rx_or_write" },
        [TRANS_OUT] = { 40, W64, "tx_or_read" },
    },
};

const struct layout soc_bw_layout = {
    .name = "soc_bandwidth", .size = 64, SOC_RECORD(28), .n = SOC_BW_FIELDS,
    .field = {
        SOC_HEADING,
        [SOC_LEVELS] = { 32, W16, "levels" },
    },
};

/* Twenty words follow at 24, the two of each pair in the wrong order: word 10 is the twelfth. */
const struct layout low_power_layout = {
    .name = "low_power", .size = 64, SOC_RECORD(29), .n = POWER_FIELDS,
    .field = {
        SOC_HEADING,
        [POWER_FREQ] = { 24 + 11 * 2, W16, "freq_mhz" },
    },
};

const struct layout lpm_layout = {
    .name = "lpm", .size = LPM_FIRST + LPM_MOST * 16, .keeps_rest = true, .n = LPM_FIELDS,
    .field = {
        [LPM_COUNT] = { 0, W32, "count" },
        [LPM_KIND] = { 4, W32, "kind" },
    },
};

const struct layout lpm_entry_layout = {
    .name = "lpm_entry", .size = 16, .n = LPM_ENTRY_FIELDS,
    .field = {
        [LPM_ENTRY_TIME] = { 0, W64, "tick" },
        [LPM_ENTRY_VALUE] = { 8, W32, "value" },
    },
};

/* Rates, bytes, packets, errors and drops of each way follow. */
const struct layout ub_layout = {
    .name = "ub", .size = 128, .n = UB_FIELDS,
    .field = {
        [UB_TIME] = { 8, W64, "time_us" },
        [UB_PORT] = { 4, W16, "port" },
        [UB_RX] = { 16, W64, "udma_rx" },
        [UB_TX] = { 24, W64, "udma_tx" },
    },
};

const struct layout core_sample_layout = {
    .name = "core_sample", .size = 96, .n = CORE_FIELDS,
    .field = {
        [CORE_TIME] = { 80, W64, "time_ns" },
        [CORE_MODE] = { 0, W8, "mode" },
        [CORE_CYCLES] = { 72, W64, "cycles" },
        [CORE_COUNT] = { 88, W8, "n_events" },
        [CORE_ID] = { 89, W8, "core" },
        [CORE_EVENT] = { 8, W64, "event_0" },
        [CORE_EVENT + 1] = { 16, W64, "event_1" },
        [CORE_EVENT + 2] = { 24, W64, "event_2" },
        [CORE_EVENT + 3] = { 32, W64, "event_3" },
        [CORE_EVENT + 4] = { 40, W64, "event_4" },
        [CORE_EVENT + 5] = { 48, W64, "event_5" },
        [CORE_EVENT + 6] = { 56, W64, "event_6" },
        [CORE_EVENT + 7] = { 64, W64, "event_7" },
    },
};

#define CORE_TEN(i) [CORE_EVENT + (i)] = { 8 + (i) * 8, W64, "event_" #i }

const struct layout core_sample_ten_layout = {
    .name = "core_sample_ten", .size = 112, .n = CORE_TEN_FIELDS,
    .field = {
        [CORE_TIME] = { 96, W64, "tick" },
        [CORE_MODE] = { 0, W8, "mode" },
        [CORE_CYCLES] = { 88, W64, "cycles" },
        [CORE_COUNT] = { 104, W8, "n_events" },
        [CORE_ID] = { 105, W8, "core" },
        CORE_TEN(0), CORE_TEN(1), CORE_TEN(2), CORE_TEN(3), CORE_TEN(4),
        CORE_TEN(5), CORE_TEN(6), CORE_TEN(7), CORE_TEN(8), CORE_TEN(9),
    },
};

const struct lines port_lines = {
    .name = "port", .heading = "rxPacket/s", .n_least = PORT_FUNCTION, .n = PORT_WORDS,
    .word = {
        "time_ns", "bandwidth", "rxPacket/s", "rxByte/s", "rxPackets", "rxBytes", "rxErrors", "rxDropped",
        "txPacket/s", "txByte/s", "txPackets", "txBytes", "txErrors", "txDropped", "funcId",
    },
};

const struct lines hccs_lines = {
    .name = "hccs", .heading = "mount", /* txAmount, or tx(amount) */ .n_least = HCCS_WORDS, .n = HCCS_WORDS,
    .word = { "time_ns", "txAmount", "rxAmount" },
};

const struct lines netdev_lines = {
    .name = "netdev_stats", .n_least = NETDEV_WORDS, .n = NETDEV_WORDS,
    .word = {
        "time_ns", "mac_tx_pfc_pkt", "mac_rx_pfc_pkt", "mac_tx_total_oct", "mac_rx_total_oct", "mac_tx_bad_oct",
        "mac_rx_bad_oct", "roce_tx_all_pkt", "roce_rx_all_pkt", "roce_tx_err_pkt", "roce_rx_err_pkt",
        "roce_tx_cnp_pkt", "roce_rx_cnp_pkt", "roce_new_pkt_rty", "nic_tx_all_oct", "nic_rx_all_oct",
    },
};
/* clang-format on */
