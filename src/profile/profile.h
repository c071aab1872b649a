/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - all data of one PROF directory, in memory.
 *
 * load/ fills the raw tables, analyse/ adds what is derived from them, export/ only reads. A table is one array per
 * column; its comment has the order of its rows. Names are ids of `names`.
 */
#ifndef ASCOPE_PROFILE_PROFILE_H
#define ASCOPE_PROFILE_PROFILE_H

#include "base/memory/names.h"
#include "profile/aicpu_comm.h"
#include "profile/calls.h"
#include "profile/unit_trace.h"
#include "profile/source.h"
#include "profile/collector.h"
#include "profile/comm.h"
#include "profile/counters.h"
#include "profile/dictionary.h"
#include "profile/gpu_tasks.h"
#include "profile/graph_capture.h"
#include "profile/known.h"
#include "profile/pmu.h"
#include "profile/steps.h"
#include "profile/tasks.h"
#include "profile/usage.h"

/* One device_N folder. */
struct device {
    struct source source;
    struct gpu_tasks gpu;         /* as CUPTI reported it; empty: it is no GPU */
    struct device_log log;        /* as the scheduler wrote it */
    struct tasks tasks;           /* host and device halves joined; sorted by start */
    struct pmu pmu;               /* counters of tasks */
    struct steps steps;           /* iterations */
    struct communication comm;    /* collectives that ran here */
    struct aicpu_comm aicpu_comm; /* recorded by the AI CPUs, of those that they scheduled */
    struct overlap overlap;       /* of computing and communication */
    struct counters counters;     /* hardware samplers */
    struct ccu ccu;               /* collective communication units */
    struct unit_trace units;      /* instruction traces */
    struct usage usage;           /* of the device's own operating system */
};

/* The number of a task's stream. Streams of GPUs have numbers of 32 bits: their tasks.stream is a position in
 * gpu.stream_id. */
static inline uint32_t task_stream_id(const struct device *d, size_t row)
{
    return d->gpu.n > 0 ? d->gpu.stream[d->tasks.task[row]] : d->tasks.stream[row];
}

/* The host folder; absent (source.path == NULL) when only a device was sampled. */
struct host {
    struct source source;
    struct calls calls;
    struct arena *calls_mem; /* of their columns */
    struct losses calls_lost;
    struct host_records records; /* records that belong to the calls */
    struct ops ops;              /* compute operators */
    struct host_tasks tasks;     /* tasks as they were handed to the devices */
    struct comm_requests comm;   /* collectives as they were launched */
    struct usage usage;
};

/* What takes time and memory, and not every question needs. One that leaves a part out does not read its files: its
 * tables, and those that are made of it, are empty, and damage in its files is not noticed. */
enum profile_part {
    PROFILE_COUNTED = 1 << 0, /* counters of tasks: device.pmu */
    PROFILE_SAMPLED = 1 << 1, /* host.usage, device.usage, device.counters except clocks, device.units */
    PROFILE_MEMORY = 1 << 2,  /* host.records.op_memory, static_memory */
    PROFILE_TENSORS = 1 << 3, /* shapes, types and formats of operators */
    PROFILE_TASKS = 1 << 4,   /* device.tasks, and what is made of them: copies, collectives, overlap */
};

struct profile {
    const char *path;           /* of PROF_XXX */
    unsigned without;           /* enum profile_part: what was left out */
    struct collector collector; /* of the ascope.json in the PROF directory, if there is one */
    struct names *names;
    struct dictionary dictionary; /* of the hashes and type numbers in host records */
    struct host host;
    struct device *device; /* by ascending device id */
    size_t n_devices;
    uint32_t n_global_ids;         /* of tasks; marks on devices are numbered after them */
    struct graph_capture captured; /* of the framework whose device this is */
    int platform;
    const struct chip *chip;
    bool is_level0;
    bool has_unique_ids; /* a task id is only reused after a flip record */
    struct arena *mem;
    struct losses lost; /* of all sources together, filled at the end of the analysis */
};

static inline bool profile_has_host(const struct profile *p)
{
    return p->host.source.path != NULL;
}

/* The source whose settings count for the whole profile: the host's, or the first device's. */
static inline const struct source *profile_main_source(const struct profile *p)
{
    return profile_has_host(p) ? &p->host.source : &p->device[0].source;
}

static inline bool profile_is_simulated(const struct profile *p)
{
    return p->collector.is_simulated || source_is_simulated(profile_main_source(p));
}

#endif
