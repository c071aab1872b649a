/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h - records of the samplers of a device, each with its own rate: memory, links, power, cores.
 *
 * Most write records of a fixed size (struct layout), some write lines of words (struct lines). The first field of a
 * record and the first word of a line is its time, unless the comment says otherwise. Two versions of a record have the
 * same names of fields and differ in offsets and widths.
 */
#ifndef ASCOPE_RAW_SAMPLER_H
#define ASCOPE_RAW_SAMPLER_H

#include "raw/layout.h"

/* Traffic of a memory since the sample before: hbm.data, llc.data and ddr.data. In version 1.0 (and always for DDR) the
 * time is in µs since the device's clock was read, in version 2.0 it is ns of the wall clock. */
enum { TRAFFIC_TIME, TRAFFIC_COUNT, TRAFFIC_EVENT, TRAFFIC_UNIT, TRAFFIC_FIELDS };
enum { DDR_MASTER = TRAFFIC_FIELDS, DDR_FIELDS }; /* the unit of DDR is a controller */
enum { TRAFFIC_READ = 0 };                        /* events of HBM and DDR; any other one is a write */
static const uint32_t DDR_MASTER_ALL = UINT32_MAX;
extern const struct layout hbm_layout, hbm_v2_layout, llc_layout, llc_v2_layout, ddr_layout;

/* Memory in use: npu_mem.data and npu_mem.app. Time in µs since the device's clock was read. */
enum { NPU_MEM_TIME, NPU_MEM_EVENT, NPU_MEM_DDR, NPU_MEM_HBM, NPU_MEM_FIELDS };
enum { NPU_MEM_OF_APP = 0, NPU_MEM_OF_DEVICE = 1 };
extern const struct layout npu_mem_layout, npu_mem_v2_layout;

/* Memory that a software module holds; -1 when it does not know. Time in ticks of the host's counter. */
enum { MODULE_MEM_TIME, MODULE_MEM_MODULE, MODULE_MEM_BYTES, MODULE_MEM_FIELDS };
extern const struct layout module_mem_layout;

/* PCIe traffic: least, greatest and mean of seven values, in bytes/µs (the latency in ns). Time in ns of the device's
 * monotonic clock. */
enum pcie_value {
    PCIE_TX_POST,
    PCIE_TX_NONPOST,
    PCIE_TX_CPL,
    PCIE_TX_LATENCY,
    PCIE_RX_POST,
    PCIE_RX_NONPOST,
    PCIE_RX_CPL,
    PCIE_VALUES
};
enum { PCIE_MIN, PCIE_MAX, PCIE_AVG, PCIE_STATISTICS };
enum { PCIE_TIME, PCIE_DEVICE, PCIE_FIRST, PCIE_FIELDS = PCIE_FIRST + PCIE_VALUES * PCIE_STATISTICS };
enum { PCIE_NO_SAMPLE = 0xFFFFF }; /* this as the least value: there was none */
extern const struct layout pcie_layout;

/* Bandwidth of each watched requester in MB/s; sample.json names them (qosEvents). Time in ticks. */
enum { QOS_TIME, QOS_FIRST, QOS_VALUES = 10, QOS_FIELDS = QOS_FIRST + QOS_VALUES };
extern const struct layout qos_layout;

/* The same of a die, among the records of the SoC. */
enum { QOS_DIE_VALUES = 8, QOS_DIE_HEAD = QOS_FIRST + QOS_DIE_VALUES, QOS_DIE_FIELDS };
extern const struct layout qos_die_layout;

/* Records of the SoC, distinguished by the function in the low bits of the head. Times in ticks. */
enum { SOC_TIME, SOC_HEAD, SOC_ID, SOC_FIRST };
enum { SOC_HEAD_TYPE_SHIFT = 10 };
enum { SIO_VALUES = 8, SIO_FIELDS = SOC_FIRST + SIO_VALUES }; /* bytes: req, rsp, snp, dat received, then sent */
enum { ACC_WRITE_BW = SOC_FIRST, ACC_READ_BW, ACC_WRITE_OST, ACC_READ_OST, ACC_FIELDS };
enum { TRANS_IN = SOC_FIRST, TRANS_OUT, TRANS_FIELDS }; /* PA link: received, sent; PCIe: written, read */
enum { TRANS_PA_LINK = 0x3F, TRANS_PCIE = 0x22 };       /* the type in the head */
enum { SOC_LEVELS = SOC_FIRST, SOC_BW_FIELDS };         /* two bandwidth levels: bits 0 to 2, bits 3 to 10 */
enum { POWER_FREQ = SOC_FIRST, POWER_FIELDS };          /* MHz of a die's cores; the die is the type in the head */
extern const struct layout sio_layout, acc_pmu_layout, chip_trans_layout, soc_bw_layout, low_power_layout;
/* Of chips whose records of the SoC are of a die, which is the type in the head: with one field more. A PCIe transfer
 * of TRANS_NO_SAMPLE was not measured. */
enum { SIO_DIE = SIO_FIELDS, SIO_DIE_FIELDS, TRANS_DIE = TRANS_FIELDS, TRANS_DIE_FIELDS };
static const uint64_t TRANS_NO_SAMPLE = UINT64_MAX;
extern const struct layout sio_die_layout, chip_trans_die_layout;

/* Changes of a frequency (lpmFreqConv.data, MHz) or of a quantity (lpmInfoConv.data: kind below), many to a record. The
 * entries follow at LPM_FIRST, LPM_COUNT of them. Time in ticks. */
enum { LPM_COUNT, LPM_KIND, LPM_FIELDS }; /* no time of its own */
enum lpm_kind { LPM_FREQ, LPM_CORE_VOLTAGE, LPM_BUS_VOLTAGE, LPM_KINDS };
enum { LPM_FIRST = 8, LPM_MOST = 55 };
extern const struct layout lpm_layout;
enum { LPM_ENTRY_TIME, LPM_ENTRY_VALUE, LPM_ENTRY_FIELDS };
extern const struct layout lpm_entry_layout;

/* Ports of the unified bus: ub.data. Time in µs since the device's clock was read. */
enum { UB_TIME, UB_PORT, UB_RX, UB_TX, UB_FIELDS };
extern const struct layout ub_layout;

/* Counters of an AI core since the sample before; sample.json names the events. Time in ns of the device's monotonic
 * clock. A record whose mode is 0 ends the data. */
enum {
    CORE_TIME,
    CORE_MODE,
    CORE_CYCLES,
    CORE_COUNT, /* how many of the events are counted */
    CORE_ID,
    CORE_EVENT,
    CORE_EVENTS = 8,
    CORE_MOST_EVENTS = 10, /* of chips that count ten, whose times are ticks */
    CORE_FIELDS = CORE_EVENT + CORE_EVENTS,
    CORE_TEN_FIELDS = CORE_EVENT + CORE_MOST_EVENTS
};
extern const struct layout core_sample_layout, core_sample_ten_layout;

/* Lines of decimal numbers, the first of which is the time and may end in a colon. */
enum { LINES_MOST_WORDS = 16 };
struct lines {
    const char *name;
    const char *heading; /* a line that holds this text names the columns; NULL: there is none */
    uint8_t n_least;     /* fewer words: damaged; those that may be left out count as 0 */
    uint8_t n;           /* words after these are passed over */
    const char *word[LINES_MOST_WORDS];
};

/* nic.data and roce.data. Time in ns of the device's monotonic clock; bandwidth in Mb/s. */
enum {
    PORT_TIME,
    PORT_BANDWIDTH,
    PORT_RX_PACKET_RATE,
    PORT_RX_BYTE_RATE,
    PORT_RX_PACKETS,
    PORT_RX_BYTES,
    PORT_RX_ERRORS,
    PORT_RX_DROPPED,
    PORT_TX_PACKET_RATE,
    PORT_TX_BYTE_RATE,
    PORT_TX_PACKETS,
    PORT_TX_BYTES,
    PORT_TX_ERRORS,
    PORT_TX_DROPPED,
    PORT_FUNCTION,
    PORT_WORDS
};
extern const struct lines port_lines;

/* hccs.data: bytes since the start. Time as above. */
enum { HCCS_TIME, HCCS_TX, HCCS_RX, HCCS_WORDS };
extern const struct lines hccs_lines;

/* netdev_stats.data: counts since the start. Time in ns of the host's monotonic clock. */
enum {
    NETDEV_TIME,
    NETDEV_MAC_TX_PFC,
    NETDEV_MAC_RX_PFC,
    NETDEV_MAC_TX_BYTES,
    NETDEV_MAC_RX_BYTES,
    NETDEV_MAC_TX_BAD,
    NETDEV_MAC_RX_BAD,
    NETDEV_ROCE_TX,
    NETDEV_ROCE_RX,
    NETDEV_ROCE_TX_ERR,
    NETDEV_ROCE_RX_ERR,
    NETDEV_ROCE_TX_CNP,
    NETDEV_ROCE_RX_CNP,
    NETDEV_ROCE_RETRY,
    NETDEV_NIC_TX_BYTES,
    NETDEV_NIC_RX_BYTES,
    NETDEV_WORDS
};
extern const struct lines netdev_lines;

#endif
