/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - samples of a device: memory, links, power, cores.
 *
 * Each family of samples is one table. raw[] has the fields as they were recorded, numbered as in raw/sampler.h; rate[]
 * has what is derived from them (bandwidths, rates, points of a curve), numbered below. Both are sorted by time, equal
 * times in the order of the file.
 */
#ifndef ASCOPE_PROFILE_COUNTERS_H
#define ASCOPE_PROFILE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/names.h"
#include "profile/metrics.h"

enum sampler {
    SAMPLER_HBM,
    SAMPLER_DDR,
    SAMPLER_LLC,
    SAMPLER_NPU_MEM_APP, /* by application and by device: two files, one kind of record */
    SAMPLER_NPU_MEM,
    SAMPLER_MODULE_MEM,
    SAMPLER_PCIE,
    SAMPLER_HCCS,
    SAMPLER_NIC,
    SAMPLER_ROCE,
    SAMPLER_NETDEV,
    SAMPLER_QOS,
    SAMPLER_UB,
    SAMPLER_SIO,
    SAMPLER_ACC,     /* raw: from the SoC's own stream; rate: of both streams */
    SAMPLER_ACC_LOG, /* from the stream of the task log */
    SAMPLER_CHIP_TRANS,
    SAMPLER_SOC_BW,
    SAMPLER_LOW_POWER,
    SAMPLER_FREQ, /* the three changes of lpm: LPM_ENTRY_* */
    SAMPLER_CORE_VOLTAGE,
    SAMPLER_BUS_VOLTAGE,
    SAMPLER_CORE,        /* sampled AI cores; on chips with one stream for both kinds, vector cores too */
    SAMPLER_VECTOR_CORE, /* vector cores with a stream of their own */
    SAMPLER_GPU_MEMORY,  /* raw: with one column more, CUDA_MEMORY_HELD */
    SAMPLER_GPU,         /* clocks, power, memory and links of a GPU */
    SAMPLERS
};

enum { SAMPLES_MOST_COLUMNS = 32 };

struct samples {
    size_t n;
    size_t
        n_early; /* so many first rows are from before the collection began: rates use them, results do not show them */
    int64_t *at_ns; /* wall clock */
    struct {
        void *at;
        uint8_t width; /* of an element, in bytes */
        bool is_real;  /* elements are doubles */
    } column[SAMPLES_MOST_COLUMNS];
};

static inline uint64_t samples_uint(const struct samples *s, unsigned column, size_t row)
{
    const void *at = s->column[column].at;
    if (s->column[column].is_real)
        return (uint64_t)((const double *)at)[row];
    switch (s->column[column].width) {
    case 1: return ((const uint8_t *)at)[row];
    case 2: return ((const uint16_t *)at)[row];
    case 4: return ((const uint32_t *)at)[row];
    default: return ((const uint64_t *)at)[row];
    }
}

static inline double samples_real(const struct samples *s, unsigned column, size_t row)
{
    if (s->column[column].is_real)
        return ((const double *)s->column[column].at)[row];
    return (double)samples_uint(s, column, row);
}

/* Columns of rate[]. MB are 2^20 bytes. Tables that are not named here have none. */
enum { HBM_RATE_UNIT, HBM_RATE_IS_WRITE, HBM_RATE_MBS, HBM_RATE_COLUMNS };
enum { DDR_RATE_READ_MBS, DDR_RATE_WRITE_MBS, DDR_RATE_COLUMNS };
enum { LLC_RATE_UNIT, LLC_RATE_IS_WRITE, LLC_RATE_HITS, LLC_RATE_MBS, LLC_RATE_COLUMNS }; /* hits as a fraction */
enum { HCCS_RATE_TX_MBS, HCCS_RATE_RX_MBS, HCCS_RATE_COLUMNS };
enum { PORT_RATE_EFFICIENCY, PORT_RATE_PACKETS, PORT_RATE_ERRORS, PORT_RATE_DROPPED, PORT_RATES };
enum {
    PORT_RATE_FUNCTION,
    PORT_RATE_RX,
    PORT_RATE_TX = PORT_RATE_RX + PORT_RATES,
    PORT_RATE_COLUMNS = PORT_RATE_TX + PORT_RATES
};
enum { NETDEV_RATE_FIRST, NETDEV_RATE_COLUMNS = 19 }; /* as the db table has them: growth, and bytes/s after bytes */
enum { SIO_RATE_DIE, SIO_RATE_FIRST, SIO_RATE_COLUMNS = SIO_RATE_FIRST + 8 }; /* MB/s, in the order of the record */
/* One row for each sample and event. The die: QOS_NO_DIE if it is not known. */
enum { QOS_RATE_EVENT, QOS_RATE_MBS, QOS_RATE_DIE, QOS_RATE_COLUMNS };
static const uint64_t QOS_NO_DIE = UINT32_MAX;
/* The two tables of cores have the columns of the record and two more: ns since the previous sample of the core
 * (CORE_NO_GAP for its first one), and the kind of the core. */
enum { CORE_RATE_GAP = SAMPLES_MOST_COLUMNS - 2, CORE_RATE_KIND };
static const uint64_t CORE_NO_GAP = UINT64_MAX;
/* rate[SAMPLER_ACC] has the columns of the record, rate[SAMPLER_FREQ] and the voltages those of an entry. */

enum { CUDA_MEMORY_HELD = SAMPLES_MOST_COLUMNS - 1 }; /* bytes of that kind, afterwards */

enum { QOS_MOST_EVENTS = 10, PORT_MOST_FUNCTIONS = 64 };

/* The counters of all samples of a core, as metrics. */
struct core_metrics {
    size_t n_cores, n_metrics;
    uint16_t *core;      /* ascending */
    const char **metric; /* "l1_read_bw(GB/s)"; the first is total_time(ms) */
    double *value;       /* n_cores * n_metrics */
};

struct counters {
    struct samples raw[SAMPLERS], rate[SAMPLERS];
    bool llc_is_write;
    name_id qos_event[QOS_MOST_EVENTS]; /* "QoS AIC" */
    size_t n_qos_events;
    struct core_metrics core[CORES];
};

#endif
