/* SPDX-License-Identifier: Apache-2.0 */
/* generate.h - profiling data without a device.
 *
 * Writes PROF directories in the collectors' own format, of any size, from a seed: a training job on simulated devices.
 * Host threads launch operators (acl call around a node launch around a runtime call), the device runs them later on
 * its streams, in order; around them are copies, collectives over eight ranks, a loaded and a captured graph, user
 * marks, memory, hardware counters and usage of the operating systems. Records are made from the layout tables that the
 * readers use, and every join that an analysis makes finds its other half.
 *
 * A process of PyTorch has a *_ascend_pt directory around it: operators of a network forward and backward, the queue
 * through which they reach the device, the memory that they take, calls of Python. One of MindSpore has a *_ascend_ms
 * directory, and a dataset pipeline.
 *
 * Several processes are the ranks of one job: they belong to groups, run the same collectives in the same order, and
 * wait for each other; what is to be wrong with the job is said by `trouble`. sim_job.h has the details. A job has one
 * device a rank and neither graphs nor collectives of the AI CPU.
 *
 * Same options, same bytes: no clock, no environment. Memory does not grow with the number of kernels. The data says
 * what it is: host name "ascope-sim", process name "ascope-sim" (MindSpore: python3, as its analysis expects), job info
 * "simulated"; the framework's part in its metadata.
 */
#ifndef ASCOPE_SIM_JOB_GENERATE_H
#define ASCOPE_SIM_JOB_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/error.h"

enum { SIM_DEVICES_MOST = 16, SIM_PROCESSES_MOST = 4096 };

enum sim_framework { SIM_NO_FRAMEWORK, SIM_PYTORCH, SIM_MINDSPORE };
enum sim_generation { SIM_MS_N, SIM_MS_S, SIM_MS_GENERATIONS }; /* of MindSpore's files: 2.6 and later, before */
enum sim_jit { SIM_EAGER, SIM_JIT_O0, SIM_JIT_O1, SIM_JIT_O2 }; /* how MindSpore runs the network */

/* Each is a list with commas; sim_faults.c has the forms of its entries. */
enum sim_trouble {
    SIM_SLOW_STEP,
    SIM_SLOW_RANK,
    SIM_SLOW_LINK,
    SIM_STALL,
    SIM_LATE_HOST,
    SIM_MISSING_RANK,
    SIM_CLOCK_OFFSET,
    SIM_TROUBLES
};

struct sim_options {
    const char
        *out_dir; /* is created; one directory for each process is created in it: PROF_XXX, X_ascend_pt, X_ascend_ms */
    uint64_t seed;
    uint64_t noise_seed;         /* of random variation between runs; 0: derived from the seed */
    unsigned jitter;             /* percent by which the times of a job vary; 0: the default variation */
    const char *slow_operator;   /* "MatMulV2:1.5": its kernels take so many times as long; NULL: none */
    uint64_t kernels;            /* operators launched one by one, over all processes and devices */
    unsigned framework;          /* enum sim_framework */
    unsigned ms_generation, jit; /* of MindSpore: enum sim_generation, enum sim_jit */
    uint64_t operators;  /* of PyTorch, over all processes, at least one for each kernel; 0: five. Without kernels it
                             has no PROF directory */
    uint32_t steps;      /* they are spread over so many training steps */
    uint32_t devices;    /* of one process */
    uint32_t processes;  /* each has its own devices and its own PROF directory */
    uint32_t tp, pp, dp; /* sizes of the groups of a job; 0: 1, and dp is what is left */
    uint32_t host_ranks; /* so many ranks share a host, whose links are faster; 0: 8 */
    const char *trouble[SIM_TROUBLES];
    unsigned n_threads;                            /* that write ranks; 0: one */
    void (*made)(void *context, const char *path); /* called for every directory, in order; may be NULL */
    void *context;
    const char *chip;     /* a name of raw/chip.c, or the number that info.json has */
    uint32_t counter_mhz; /* of the devices' counter; 48 makes fractions of a nanosecond */
    const char *metrics;  /* group of AI core counters: PipeUtilization, Memory, ... */
    size_t slice_bytes;
    bool comm;         /* collectives */
    bool kfc;          /* half of the collectives are run by the AI CPU */
    bool graphs;       /* a loaded graph and a captured one, both run in every step */
    bool late;         /* the graph was captured before the collection began: only the runtime reports its operators */
    bool copies;       /* host to device and back */
    bool marks;        /* ranges and points that a user put into the program */
    bool samplers;     /* hardware counters, host and device operating system */
    bool sample_based; /* AI core counters by time instead of by task */
    bool tiling; /* some kernels learn on the device how many blocks they need; the reference then loses operators */
    bool level0; /* names and times only, as in a collection at level 0 */
};

/* 150 kernels in 3 steps on one device, with everything in it. */
extern const struct sim_options sim_defaults;

uint32_t sim_ranks(const struct sim_options *o); /* of the job that the options describe; 1: no job, or a job of one */

/* The default of `kfc`: whether the AI CPUs of a chip run collectives. */
bool sim_chip_has_kfc(const char *chip);

/* Writes the directory of the last process to path_out. On false, what was written so far stays where it is. */
bool sim_write(const struct sim_options *o, char *path_out, size_t size, struct error *e);

/* The size of part `which` when `all` is divided into parts as evenly as possible. */
uint64_t sim_share(uint64_t all, uint64_t parts, uint64_t which);

#endif
