/* SPDX-License-Identifier: Apache-2.0 */
/* collector.h - what ascope's recorder reports about a recording: version, precision of clocks, cost, losses, and how
 * it ended.
 *
 * It is in a separate file, ascope.json. Other collectors write none: is_there is false then, and everything else has
 * the value for unknown. Filled by load/prof/collector_load.c; its lifetime is that of the profile or collection that
 * contains it.
 */
#ifndef ASCOPE_PROFILE_COLLECTOR_H
#define ASCOPE_PROFILE_COLLECTOR_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOT_KNOWN UINT64_MAX /* of a number of nanoseconds; unknown values in MHz or ppm are NAN */

enum collector_end {
    COLLECTOR_ENDED_UNKNOWN,
    COLLECTOR_STOPPED,
    COLLECTOR_RECOVERED, /* it was killed, and `ascope recover` has finished its work */
    COLLECTOR_RUNNING,   /* or killed, and not recovered */
    COLLECTOR_ENDS
};
extern const char *const collector_end_word[COLLECTOR_ENDS]; /* as the file has them; "" for unknown */

enum collector_clock { COLLECTOR_CLOCK_UNKNOWN, COLLECTOR_CLOCK_COUNTER, COLLECTOR_CLOCK_NS, COLLECTOR_CLOCKS };
extern const char *const collector_clock_word[COLLECTOR_CLOCKS];

struct collector_device {
    uint64_t id;
    uint64_t start_uncertainty_ns, stop_uncertainty_ns; /* of its clock against the host's */
    double nominal_mhz, mhz;                            /* mhz: as measured between start and stop */
    double drift_ppm;                                   /* of its clock against the host's, before it was corrected */
};

struct collector_dropped {
    const char *what; /* "operators" */
    uint64_t n;
    const char *reason; /* as in loss_key() */
};

/* What the profiler itself cost. */
struct collector_step {
    int64_t step;
    uint64_t records, bytes, dropped;
    uint64_t hook_ns, lag_most_ns;
};

/* The part of a flight recorder's history that was saved. */
struct collector_flight {
    const char *trigger;                 /* NULL: it was none */
    uint64_t begin_unix_ns, end_unix_ns; /* of the window */
    uint64_t records, began_before;
    uint64_t dropped_begin_unix_ns, dropped_end_unix_ns; /* what was recorded then is overwritten; equal: nothing is */
    uint64_t short_ns;                                   /* by which the window is shorter than asked for */
};

struct collector {
    bool is_there;   /* ascope.json, and it could be read */
    bool has_rings;  /* ascope.rings exists: it has records that are in no file yet */
    bool is_running; /* and is still written to */
    const char *version, *device;
    uint64_t abi;
    bool is_simulated;
    bool is_native; /* a C or C++ program recorded itself, and no framework */
    enum collector_end ended;
    bool is_sealed; /* its files are listed in ascope.files, which has this length and checksum */
    uint64_t seal_bytes, seal_sum;

    enum collector_clock clock;
    double mhz, first_mhz; /* as measured, and as taken for at the start */
    uint64_t start_uncertainty_ns, stop_uncertainty_ns;
    struct collector_device *devices; /* in the order of the file */
    size_t n_devices;

    uint64_t records, bytes; /* written */
    struct collector_dropped *dropped;
    size_t n_dropped;
    uint64_t damaged; /* places in the rings whose records are lost */
    uint64_t aged_slices, aged_bytes;
    uint64_t open_ranges, hook_ns, lag_most_ns, fill_most_percent, threads;
    struct collector_flight flight;
    struct collector_step *steps; /* in the order of the file */
    size_t n_steps;
};

#endif
