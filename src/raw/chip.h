/* SPDX-License-Identifier: Apache-2.0 */
/* chip.h - differences between chips, for readers, recorder and simulator.
 *
 * A new chip is a row in chip.c; no other code compares platform numbers.
 */
#ifndef ASCOPE_RAW_CHIP_H
#define ASCOPE_RAW_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Chips of one group have the same units and write the same records: one bit each, so that a set of them is a number. */
enum chip_group {
    ON_910 = 1,
    ON_310P = 2,
    ON_MDC = 4,
    ON_A2 = 8, /* and A3, which is two dies of it in one case */
    ON_310B = 16,
    ON_950 = 32, /* its STARS writes records of its own */
    ON_310 = 64,
    ON_NANO = 128,
    ON_UNKNOWN = 256, /* a chip that has no row */
    ON_CUDA = 512,    /* GPUs of NVIDIA, which are recorded by ascope alone */
    ON_MSPTI = 1024,  /* NPUs of any kind, as MSPTI reports them to ascope */
    ON_STARS = ON_A2 | ON_310B,
    ON_HWTS = ON_310 | ON_910 | ON_310P | ON_MDC,
    ON_ALL = ON_HWTS | ON_STARS | ON_950, /* whose tasks are read */
    ON_EVERY = ON_ALL | ON_NANO | ON_UNKNOWN | ON_CUDA | ON_MSPTI,
};

/* How a chip logs its tasks. */
enum task_log {
    TASK_LOG_UNREAD, /* in a form that this version does not read: everything else is exported */
    TASK_LOG_STARS,  /* stars_soc.data, records of 64 bytes */
    TASK_LOG_SHORT,  /* the same with records of 32 bytes, and ids of 32 bits without a stream */
    TASK_LOG_HWTS,   /* hwts.data, and hwts.aiv_data where vector cores are apart */
    TASK_LOG_CUDA,   /* ascope_cuda.data: whole tasks, and the calls that launched them by correlation id */
};

/* platform_version of collections of ours; the vendor of NPUs has no such number. */
enum { PLATFORM_CUDA = 10000, PLATFORM_MSPTI };

/* The usual names of the parts of a system with this chip. */
struct chip_words {
    const char *device;      /* "NPU" */
    const char *stack;       /* the software between the framework and the device: "CANN" */
    const char *hardware;    /* "Ascend Hardware" */
    const char *collectives; /* the library of collectives: "HCCL" */
};

/* Events of a task whose sums give rates; 0 ends a list (EVENT_ZERO stands for event 0), and a chip without requests
 * counts nothing of the kind. */
enum { RATE_REQUEST, RATE_HIT, RATE_OTHER, RATE_SUMS };
enum { RATE_EVENTS = 2, EVENT_ZERO = UINT16_MAX };
struct rate_events {
    uint16_t of[RATE_SUMS][RATE_EVENTS];
};

enum { CHIP_NAMES = 3 };
struct chip {
    int platform; /* platform_version of info.json; a chip of several products has a row for each */
    enum chip_group group;
    const char *name;                    /* "Ascend910B", or "UNKNOWN": as databases call it */
    const char *product;                 /* for people: "Atlas A2 (910B) or A3 (910_93)" */
    const char *spoken[CHIP_NAMES];      /* usual names: "A2", "910B"; none: it cannot be simulated by name */
    uint32_t n_cube, n_vector, core_mhz; /* AI cores, vector cores, their clock; 0: unknown, and not simulated */
    uint32_t memory_gbs;   /* 10^9 bytes/s, as published of a device with these cores and this clock; 0: unknown */
    bool has_two_dies;     /* each is a device, and there are links between them */
    const char *l2_events; /* that collectors ask for: all requests, two halves, hits in each, victims, two more */
    enum task_log task_log;
    bool tracks_ai_cpu;     /* kernels of the AI CPU are in the scheduler's track, not in the log */
    bool tracks_tasks;      /* there is no log: the scheduler's track has all tasks, in records of several lengths */
    bool tracks_models;     /* tasks that the scheduler runs by itself are in its track only */
    bool logs_no_types;     /* the types of tasks in its log have no names */
    bool has_one_core;      /* cube and vector unit are one core with one set of counters */
    bool has_narrow_vector; /* its vector unit does fewer operations in a cycle */
    bool has_half_vector;   /* the same, of numbers of 32 bits only */
    bool counts_no_vector;  /* its core cannot report what its vector unit does */
    bool counts_ten;        /* each core has ten counters, with events, names and records of their own */
    bool is_native;         /* whole collections are presented in the newer way: see struct export */
    bool has_wide_ids;      /* 32 bits, each used once: no batches, and no contexts below them */
    bool has_unique_ids;    /* a task has one id in the whole collection, so all of it can be exported at once */
    bool is_stars;          /* the scheduler is STARS */
    uint8_t last_cube_core; /* sampled cores above it are vector cores */
    uint8_t llc_units;      /* parts of the last-level cache that reports show */
    uint16_t ddr_bits;      /* width of the bus to the DDR memory */
    bool draws_freq, stores_freq, draws_voltage; /* of the AI cores: in the timeline, in the database */
    bool has_ccu;                                /* collective communication units */
    bool stores_die_freq;                        /* of the cores of each die, in both */
    bool pcie_is_last;                           /* the PCIe report shows the last sample, not the mean */
    bool counts_l2_bw, counts_mte_bw;            /* sampled cores can report this traffic */
    struct rate_events l2;                       /* others: lines that had to make room */
    struct rate_events smmu;                     /* others: addresses that no table had */
};

const struct chip *chip_of(int platform); /* never NULL: an unknown number has a row, too */
const struct chip_words *chip_words(const struct chip *c);

/* The chips that can be simulated, numbered from 0; NULL: there are no more. */
const struct chip *chip_simulated(size_t i);
const char *chip_word(size_t i);                /* the names of those that have one; NULL: no more */
const struct chip *chip_find(const char *name); /* by a name, with or without "Ascend", or by its number; NULL: none */

#endif
