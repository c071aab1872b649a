/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - where device records come from: one small interface, and one row of device_kinds for each kind of device.
 *
 * Nothing here knows a vendor: a kind describes what all devices have, and adds what only its own have in a part that others leave
 * out. A kind puts its records into rings (ring.h), from threads of its own, or has an engine that writes files (begin).
 * collect/devices.h chooses among the kinds.
 */
#ifndef ASCOPE_DEVICE_DEVICE_H
#define ASCOPE_DEVICE_DEVICE_H

#include <limits.h>

#include "ascope/session.h"
#include "base/error.h"
#include "base/finding.h"

/* A device's clock and the host's at one instant. */
struct device_reading {
    uint64_t host_count, host_mono_raw_ns; /* of the host, in the middle of the reading */
    uint64_t device_count, device_mono_ns;
    uint64_t uncertainty_ns;
};

/* What only an Ascend NPU has, for info.json.N and for the names of its counters. */
struct npu_description {
    int platform; /* 5: 910B; see chip.h */
    uint32_t n_cube, n_vector, n_ai_cpu;
    uint32_t core_mhz, vector_mhz;
};

/* What only a GPU has. 0: unknown. */
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
    const struct npu_description *npu; /* NULL: it is no NPU; else valid as long as the process lives */
    const struct gpu_description *gpu; /* the same of a GPU; more of it may be known when it stops */
};

/* Where the engine of a kind writes. */
struct device_place {
    char prof[PATH_MAX]; /* its PROF directory; "": it has made none yet, or none that could be found */
    bool counts_ns;      /* its records of the host have times of the raw monotonic clock, not of the CPU's counter */
};

struct device_kind {
    const char *name, *what; /* what: for lists, "a simulated NPU" */
    bool is_real;            /* "auto" may take it */
    bool (*is_used)(
        struct error *e); /* "auto" asks first: the program uses such devices; else e says why not. NULL: yes */
    unsigned (*probe)(struct error *e); /* how many there are; 0: none, and e may say why */
    bool (*describe)(unsigned index, struct device_description *out, struct error *e);
    /* After stop: the device was one that the program might have used, it has used others, and is forgotten; those behind it have an
     * index less. NULL: there are no such ones. */
    bool (*forget)(unsigned index);
    bool (*read_clock)(unsigned index, struct device_reading *out, struct error *e);
    bool (*start)(const struct ascope_options *o,
                  struct error *e); /* records from now on; after a warm-up nothing is missing */
    /* Instead of start, where an engine of the vendor's writes a PROF directory by itself, below `dir`; the session puts its own
     * files beside those. To warm up, and then again to start; or to start at once. False: e says why, and it is given up. */
    bool (*begin)(const struct ascope_options *o, const char *dir, bool warms_up, struct device_place *out,
                  struct error *e);
    void (*kept)(void); /* what it records is kept from now on: it has started, or was warm; NULL: nothing to do */
    bool (*stop)(
        struct error
            *e); /* waits for what was launched; everything is in the rings. False: it cannot be asked any more */
    void (*mark)(void *stream, uint64_t id); /* see device_mark() of devices.h */
    void *(*stream)(void);                   /* see ascope_current_stream(); NULL: it records no marks now */
    bool (*op_args)(const char *dir,
                    struct error *e); /* after stop: what operators were called with; NULL: it cannot */
    /* For `ascope doctor`: one finding for each thing that it needs or looks for (libraries, driver, devices), with where it
     * looked. Also without a device, and without starting one; takes a second at most. NULL: probe() says everything. */
    void (*examine)(finding_report *report, void *to);
};
extern const struct device_kind *const device_kinds[]; /* ends with NULL */

#endif
