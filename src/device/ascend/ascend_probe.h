/* SPDX-License-Identifier: Apache-2.0 */
/* ascend_probe.h - finds the NPUs of this machine in a child process, where a library that crashes or hangs does no
 * harm.
 *
 * It is done once per process; without device files and libraries it costs a few system calls. Some drivers answer only
 * the process that has opened them: if the program has loaded the driver, it is asked again in this process, with a
 * limit.
 */
#ifndef ASCOPE_DEVICE_ASCEND_ASCEND_PROBE_H
#define ASCOPE_DEVICE_ASCEND_ASCEND_PROBE_H

#include "device/ascend/ascend_library.h"
#include "device/device.h"

uint32_t ascend_limit_s(void); /* the time limit of a call, in seconds: see limited_call.h */

enum { ASCEND_DEVICES = 64 };
enum { ASCEND_COUNTERS_VERSION = 0x72316 }; /* the first version of the driver that reports frequencies of counters */

struct ascend_device {
    uint32_t id;
    int32_t platform; /* as of chip.h; -1: unknown */
    uint32_t n_cube, n_vector, n_ai_cpu;
    uint32_t core_mhz, vector_mhz;
    double counter_mhz;
};

struct ascend_machine {
    struct ascend_loaded library[ASCEND_LIBRARIES];
    uint32_t has_needed;    /* all required functions exist */
    int32_t count_error;    /* of drvGetDevNum */
    int32_t driver_version; /* 0: unknown */
    int32_t acl_version[3]; /* 0: unknown */
    uint32_t
        counts_ns; /* host records of the engine have ns: the driver does not know the frequency of the CPU's counter */
    uint32_t n;
    struct ascend_device device[ASCEND_DEVICES];
    char calls[40]; /* the name of the current call, for the message if it does not return; "": done */
};

/* The result is valid until the process ends. n == 0: there is no device, and e has the reason. */
const struct ascend_machine *ascend_probe(struct error *e);

void ascend_examine(finding_report *report,
                    void *to); /* for `ascope doctor`: probes again, also the optional libraries */

#endif
