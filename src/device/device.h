/* device.h - where device records come from. One small interface, one row of device_kinds for each kind of device.
 *
 * "auto" asks the real kinds in order and takes the first that is there; it never takes the simulated one, which has to be named.
 * "none" is no device: the host is recorded alone. A kind puts its records into rings (ring.h), from threads of its own.
 */
#ifndef ASCOPE_DEVICE_DEVICE_H
#define ASCOPE_DEVICE_DEVICE_H

#include "ascope/session.h"
#include "base/error.h"

/* A device's clock and the host's at one instant. */
struct device_reading {
    uint64_t host_count, host_mono_raw_ns; /* of the host, in the middle of the reading */
    uint64_t device_count, device_mono_ns;
    uint64_t uncertainty_ns;
};

/* What info.json.N says about a device. */
struct device_description {
    int id;
    uint32_t platform; /* "5": 910B */
    uint32_t n_cube, n_vector, n_ai_cpu;
    double counter_mhz;
    uint32_t core_mhz, vector_mhz;
    const char *name; /* of the kind: "sim" */
    bool is_simulated;
};

struct device_kind {
    const char *name, *what;            /* what: for lists, "a simulated NPU" */
    bool is_real;                       /* "auto" may take it */
    unsigned (*probe)(struct error *e); /* how many there are; 0: none, and e may say why */
    bool (*describe)(unsigned index, struct device_description *out, struct error *e);
    bool (*read_clock)(unsigned index, struct device_reading *out, struct error *e);
    bool (*start)(const struct ascope_options *o,
                  struct error *e); /* records from now on; after a warm-up nothing is missing */
    void (*kept)(void); /* what it records is kept from now on: it has started, or was warm; NULL: nothing to do */
    bool (*stop)(struct error *e); /* waits for what was launched; everything is in the rings */
    void (*drain)(void); /* asked now and then while it runs: hand over what has come; NULL: does so by itself */
    void (*mark)(void *stream, uint64_t id); /* see device_mark() */
    void *(*stream)(void);                   /* see ascope_current_stream(); NULL: it records no marks now */
    bool (*op_args)(const char *dir,
                    struct error *e); /* after stop: what operators were called with; NULL: it cannot */
};
extern const struct device_kind *const device_kinds[]; /* ends with NULL */

/* NULL with e set: no such name. NULL without: "none", or "auto" and no real device. */
const struct device_kind *device_choose(const char *name, struct error *e);

/* Launches a mark on a stream: when the device comes to it, it stamps the time under this id (of the mark, or of the range: once
 * when it begins, once when it ends). For any thread. A stream that no device knows is left alone. */
void device_mark(void *stream, uint64_t id);

#endif
