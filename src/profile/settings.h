/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - the contents of info.json and sample.json of one directory, decoded once by load/prof/settings_load.c.
 *
 * Texts are "" and numbers 0 where the file has no value or one of another type. Their lifetime is that of the source.
 */
#ifndef ASCOPE_PROFILE_SETTINGS_H
#define ASCOPE_PROFILE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/metrics.h"

struct net_card {
    const char *name;
    double mbits; /* per second; 0 or less: not connected, or unknown */
};

struct settings {
    const char *version;             /* of the format: "1.0", "2.0" */
    const char *job;                 /* jobInfo */
    const char *devices;             /* "0" */
    const char *hostname, *host_uid; /* of the machine that collected */
    const char *host_mhz;            /* of the host counter, as written */
    const char *ai_cpus, *ctrl_cpus; /* CPUs of a device by what they do: "1,2,3" */
    unsigned cann_major, cann_minor; /* of the release */
    int64_t rank;                    /* -1: none */
    int64_t driver;                  /* drvVersion */
    int64_t n_cpus, ticks_per_s, memory_kb;
    struct net_card *card;
    size_t n_cards;

    bool is_level0;
    bool is_dynamic;                /* the collection was started while the program ran */
    bool samples_cores;             /* counters of cores are sampled; never together with counts_tasks */
    bool counts_tasks;              /* counters of cores are read for each task */
    bool llc_is_read, llc_is_write; /* which traffic of the last level cache was counted; neither: unknown */
    const char *metrics[CORES];     /* the group of counters of the cores: "PipeUtilization" */
    const char *events[CORES];      /* the same as a list: "0x8,0xa" */
    const char *l2_events;          /* of tasks */
    const char *npu_events;         /* "HA:0x0;SMMU:0x2,0x8a" */
    const char *qos_events;         /* names, separated by commas */
    const char *ts_cpu_events;      /* of the scheduler's CPU: "0x11,0x8" */
    int64_t disk_samples_per_s;     /* 50 unless it is set */
};

#endif
