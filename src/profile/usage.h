/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - utilisation of an operating system, the host's or a device's: CPUs, memory, disk, network, calls.
 *
 * The host's process is recorded over time (gauges, OS calls). Of everything else the reports show sums and means only,
 * which is what is kept: a few rows, however long the collection was. Everything is in the source's arena.
 */
#ifndef ASCOPE_PROFILE_USAGE_H
#define ASCOPE_PROFILE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/names.h"

/* CPU time of the threads of the sampled processes, from the first sample to the last one. A thread that began in
 * between counts from its begin. */
enum { USE_NAME_BYTES = 32 }; /* longer names are cut */
struct thread_time {
    uint64_t id;
    char name[USE_NAME_BYTES]; /* in its last sample */
    uint64_t user_ticks, sys_ticks;
};
struct thread_times { /* by ascending id */
    size_t n;
    struct thread_time *at;
};
struct card_use {
    char name[USE_NAME_BYTES];
    uint64_t received, sent; /* bytes */
};
struct card_uses { /* in the order of their appearance */
    size_t n;
    struct card_use *at;
};

/* Something that is sampled about every 20 ms: one row for each period between two samples, in file order. */
enum gauge_kind { GAUGE_CPU, GAUGE_MEMORY, GAUGE_NETWORK, GAUGE_DISK, GAUGES };
static const uint32_t CPU_AVERAGE = UINT32_MAX; /* instead of the number of a CPU: the average over all of them */
struct gauge {
    bool is_sampled; /* its file exists, even if it has no complete period */
    size_t n;
    int64_t *begin_ns;           /* of the period, wall clock */
    double *percent;             /* in use */
    uint32_t *cpu;               /* GAUGE_CPU: which one, or CPU_AVERAGE */
    double *speed[2];            /* KB/s. GAUGE_NETWORK: both ways together; GAUGE_DISK: read, written */
    double period_s;             /* GAUGE_DISK: length of each period */
    struct thread_times threads; /* GAUGE_CPU */
    struct card_uses cards;      /* GAUGE_NETWORK: all of them, whatever their speed */
};

/* System and pthread calls, in file order. */
struct os_calls {
    size_t n;
    name_id *name;
    uint32_t *thread;
    int64_t *begin_ns; /* wall clock */
    uint64_t *dur_ns;
};

/* What the kernel's clock ticks were spent on, as /proc/stat counts them, summed over all samples. */
enum cpu_time {
    TIME_USER,
    TIME_NICE,
    TIME_SYS,
    TIME_IDLE,
    TIME_IOWAIT,
    TIME_IRQ,
    TIME_SOFT,
    TIME_STEAL,
    TIME_GUEST,
    TIME_GUEST_NICE,
    CPU_TIMES
};
enum cpu_kind { CPU_AI, CPU_CTRL, CPU_HOST, CPU_KINDS };
struct cpu_ticks {
    bool is_sampled;
    double of[CPU_TIMES];
};

/* Lines of /proc/meminfo, summed over n samples. */
enum mem_line {
    MEM_TOTAL,
    MEM_FREE,
    MEM_BUFFERS,
    MEM_CACHED,
    MEM_SHARED,
    MEM_COMMIT_LIMIT,
    MEM_COMMITTED,
    MEM_HUGE_TOTAL,
    MEM_HUGE_FREE,
    MEM_LINES
};
struct mem_lines {
    uint64_t n, sum[MEM_LINES], n_with[MEM_LINES]; /* n_with: the samples that have the line */
};

/* One process, summed over n samples. */
enum process_report { PROCESS_CPU, PROCESS_MEMORY, PROCESS_REPORTS };
enum mem_pages { PAGES_SIZE, PAGES_RESIDENT, PAGES_SHARED, PAGES };
struct process_use {
    uint64_t pid, n;
    name_id name; /* in its last sample */
    union {
        double cpu_share;      /* PROCESS_CPU: of all ticks of the machine, from its boot to the sample; 0 to 1 */
        uint64_t pages[PAGES]; /* PROCESS_MEMORY */
    };
};
struct process_uses { /* by ascending pid */
    size_t n;
    struct process_use *at;
};

/* Where the device's own CPUs spend their cycles: one row for each sample and event, in file order. */
enum sampled_cpu { SAMPLED_AI, SAMPLED_CTRL, SAMPLED_TS, SAMPLED_CPUS };
struct cpu_samples {
    size_t n;
    uint32_t *event;
    uint64_t *count;
    name_id *function, *module;
};

/* Units that code and decode pictures and video, by ascending (dvpp, type, unit). */
struct dvpp_unit {
    uint16_t dvpp, type, unit;
    double busy_us, frames; /* from the first sample to the last one */
    name_id percent;        /* of the last sample, as the device wrote it */
};
struct dvpp_units {
    size_t n;
    struct dvpp_unit *at;
};

/* Counters of the host's memory nodes and RDMA ports, in the order in which they appear. */
enum host_counts_kind { COUNTS_NUMA, COUNTS_ROCE, HOST_COUNTS };
struct host_count {
    name_id thing, counter;
    uint64_t n, first, last, most; /* of its n samples */
    double sum;
};
struct host_counts {
    size_t n;
    struct host_count *at;
};

struct usage {
    struct gauge gauge[GAUGES]; /* host only, as are the calls */
    struct os_calls calls;
    struct cpu_ticks ticks[CPU_KINDS];
    struct mem_lines memory;
    struct process_uses process[PROCESS_REPORTS];
    struct host_counts counts[HOST_COUNTS];   /* host only */
    struct cpu_samples samples[SAMPLED_CPUS]; /* devices only, as are the units */
    struct dvpp_units dvpp;
};

#endif
