/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - the interface of a kind of device, and device_kinds, which has a row for each kind.
 *
 * The interface does not depend on a vendor: a description has what all devices have, and an optional part for what
 * only NPUs or only GPUs have. A kind puts its records into rings (ring.h) from threads of its own, or starts an engine
 * of the vendor that writes files (begin). collect/session/devices.h chooses among the kinds.
 */
#ifndef ASCOPE_DEVICE_DEVICE_H
#define ASCOPE_DEVICE_DEVICE_H

#include <limits.h>

#include "ascope/session.h"
#include "base/text/error.h"
#include "base/text/finding.h"

/* The clocks of a device and of the host at one instant. */
struct device_reading {
    uint64_t host_count, host_mono_raw_ns; /* of the host, in the middle between before and after */
    uint64_t device_count, device_mono_ns;
    uint64_t uncertainty_ns;
};

/* Properties of Ascend NPUs, for info.json.N and for the names of counters. */
struct npu_description {
    int platform; /* 5: 910B; see chip.h */
    uint32_t n_cube, n_vector, n_ai_cpu;
    uint32_t core_mhz, vector_mhz;
};

/* Properties of GPUs. 0: unknown. */
struct gpu_description {
    char name[96]; /* "NVIDIA H200" */
    uint32_t n_sm, core_mhz, memory_mhz, bus_bits, capability[2];
    uint32_t sm_threads, sm_registers, sm_shared_bytes, sm_blocks, warp_threads, block_reserved_bytes;
    uint64_t memory_bytes;
};

struct device_description {
    int id;
    const char *name; /* of the kind: "sim" */
    double counter_mhz;
    bool is_simulated;
    const struct npu_description *npu; /* NULL: it is no NPU; else valid until the process ends */
    const struct gpu_description *gpu; /* the same for a GPU; more of its fields may be set after stop */
};

/* Where an engine of the vendor writes. */
struct device_place {
    char prof[PATH_MAX]; /* its PROF directory; "": it was not created yet, or was not found */
    bool counts_ns;      /* times of its host records are of CLOCK_MONOTONIC_RAW, not of the CPU's counter */
};

struct device_kind {
    const char *name, *what; /* what: for lists, "a simulated NPU" */
    bool is_real;            /* device "auto" may choose it */
    /* Asked first for "auto": whether the program uses such devices. False: e has the reason. NULL: it always does. */
    bool (*is_used)(struct error *e);
    unsigned (*probe)(struct error *e); /* the number of devices; 0: none, and e may have the reason */
    bool (*describe)(unsigned index, struct device_description *out, struct error *e);
    /* After stop: drops a device that was recorded on a guess, because nothing was known of any, if the program used
     * others. Those behind it have an index less. False: it is kept. NULL: the kind does not guess. */
    bool (*forget)(unsigned index);
    bool (*read_clock)(unsigned index, struct device_reading *out, struct error *e);
    /* Records from now on; it may be a warm-up, until kept() is called. */
    bool (*start)(const struct ascope_options *o, struct error *e);
    /* Instead of start, for an engine of the vendor that writes a PROF directory below `dir` by itself; the session
     * adds its own files there. Called to warm up and again to start, or once to start. False: e has the reason, and
     * the device is given up. */
    bool (*begin)(const struct ascope_options *o, const char *dir, bool warms_up, struct device_place *out,
                  struct error *e);
    const struct device_kind *in_rings; /* with begin: the kind that has these devices' records in rings. NULL: none */
    void (*kept)(void); /* records are kept from now on: the warm-up is over, or there was none. NULL: nothing to do */
    /* Waits until what was launched has ended and all its records are in the rings. False: the device does not answer
     * any more. */
    bool (*stop)(struct error *e);
    /* While it is on, nodes of captured graphs are reported to graph_nodes.h, with or without a session. NULL: the kind has
     * no graphs. */
    bool (*watch_graphs)(bool is_on, struct error *e);
    void (*mark)(void *stream, uint64_t id); /* see device_mark() of devices.h */
    void *(*stream)(void);                   /* see ascope_current_stream(); returns NULL: it records no marks now */
    /* After stop: writes the arguments of operators to files in `dir`. NULL: the kind does not record them. */
    bool (*op_args)(const char *dir, struct error *e);
    /* For `ascope doctor`: reports a finding for each thing that the kind needs (libraries, driver, devices), with
     * where it looked. Works without a device, starts nothing, and takes a second at most. NULL: probe() reports
     * everything. */
    void (*examine)(finding_report *report, void *to);
};
extern const struct device_kind *const device_kinds[]; /* ends with NULL */

#endif
