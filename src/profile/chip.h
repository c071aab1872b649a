/* chip.h - what differs from chip to chip. A new chip is a row in chip.c; no code asks for a platform number. */
#ifndef ASCOPE_PROFILE_CHIP_H
#define ASCOPE_PROFILE_CHIP_H

#include <stdbool.h>
#include <stdint.h>

/* How a chip logs its tasks. */
enum task_log {
    TASK_LOG_UNREAD, /* in a form that this version does not read: everything else is exported */
    TASK_LOG_STARS,  /* stars_soc.data, records of 64 bytes */
    TASK_LOG_SHORT,  /* the same with records of 32 bytes, and ids of 32 bits without a stream */
    TASK_LOG_HWTS,   /* hwts.data, and hwts.aiv_data where vector cores are apart */
};

/* Events of a task whose sums give rates; 0 ends a list, and a chip without requests counts nothing of the kind. */
enum { RATE_REQUEST, RATE_HIT, RATE_OTHER, RATE_SUMS };
enum { RATE_EVENTS = 2 };
struct rate_events {
    uint16_t of[RATE_SUMS][RATE_EVENTS];
};

enum { CHIP_UNREAD = 6 };
struct chip {
    int platform;                        /* platform_version of info.json */
    const char *name;                    /* "Ascend910B", or "UNKNOWN": as databases call it */
    const char *product;                 /* for people: "Atlas A2 (910B) or A3 (910_93)" */
    const char *unread[CHIP_UNREAD + 1]; /* families of records that it writes in a form of its own, not read here */
    enum task_log task_log;
    bool tracks_ai_cpu;     /* kernels of the AI CPU are in the scheduler's track, not in the log */
    bool tracks_tasks;      /* there is no log: the scheduler's track has all tasks, in records of several lengths */
    bool tracks_models;     /* tasks that the scheduler runs by itself are in its track only */
    bool logs_no_types;     /* what its log says of the type of a task has no names */
    bool has_one_core;      /* cube and vector unit are one core with one set of counters */
    bool has_narrow_vector; /* its vector unit does fewer operations in a cycle */
    bool has_half_vector;   /* the same, of numbers of 32 bits only */
    bool counts_no_vector;  /* its core cannot tell what its vector unit does */
    bool is_native;         /* whole collections are presented in the newer way: see struct export */
    bool has_wide_ids;      /* 32 bits, each used once: no batches, and no contexts below them */
    bool has_unique_ids;    /* a task has one id in the whole collection, so all of it can be exported at once */
    bool is_stars;          /* the scheduler is STARS */
    uint8_t last_cube_core; /* sampled cores above it are vector cores */
    uint8_t llc_units;      /* parts of the last-level cache that reports show */
    uint16_t ddr_bits;      /* width of the bus to the DDR memory */
    bool draws_freq, stores_freq, draws_voltage; /* of the AI cores: in the timeline, in the database */
    bool pcie_is_last;                           /* the PCIe report shows the last sample, not the mean */
    bool counts_l2_bw, counts_mte_bw;            /* sampled cores can tell this traffic */
    struct rate_events l2;                       /* others: lines that had to make room */
    struct rate_events smmu;                     /* others: addresses that no table had */
};

bool chip_reads(const struct chip *c,
                const char *family);      /* false: in a form of its own, which this version cannot read */
const struct chip *chip_of(int platform); /* never NULL: an unknown number has a row, too */

#endif
