/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_probe.h - which NPUs this machine has, asked in a child process: a library that crashes or hangs there does no harm.
 *
 * Once per process; a machine without device files and libraries costs a few system calls. A driver that answers only the process
 * that has opened it is asked here again, with a limit, if the program has loaded it itself.
 */
#ifndef ASCOPE_DEVICE_ASCEND_ASCEND_PROBE_H
#define ASCOPE_DEVICE_ASCEND_ASCEND_PROBE_H

#include "device/ascend/ascend_library.h"
#include "device/device.h"

uint32_t ascend_limit_s(void); /* how long a call is waited for: see limited_call.h */

enum { ASCEND_DEVICES = 64 };
enum { ASCEND_COUNTERS_VERSION = 0x72316 }; /* of the driver: from here on it knows how fast counters count */

struct ascend_device {
    uint32_t id;
    int32_t platform; /* as of chip.h; -1: unknown */
    uint32_t n_cube, n_vector, n_ai_cpu;
    uint32_t core_mhz, vector_mhz;
    double counter_mhz;
};

struct ascend_machine {
    struct ascend_loaded library[ASCEND_LIBRARIES];
    uint32_t has_needed;    /* functions */
    int32_t count_error;    /* of drvGetDevNum */
    int32_t driver_version; /* 0: unknown */
    int32_t acl_version[3]; /* 0: unknown */
    uint32_t counts_ns;     /* the engine's host records: the driver knows no frequency of the CPU's counter */
    uint32_t n;
    struct ascend_device device[ASCEND_DEVICES];
    char calls[40]; /* the function that it is in, for one that does not return */
};

/* Lent for ever. n == 0: none, and e says why. */
const struct ascend_machine *ascend_probe(struct error *e);

void ascend_examine(finding_report *report, void *to); /* for `ascope doctor`: everything, and not from memory */

#endif
