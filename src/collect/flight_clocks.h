/* SPDX-License-Identifier: Apache-2.0 */
/* flight_clocks.h - readings of all clocks from time to time, so that a window of the past begins with the readings of its own begin,
 * and not with those of hours before: devices drift.
 */
#ifndef ASCOPE_COLLECT_FLIGHT_CLOCKS_H
#define ASCOPE_COLLECT_FLIGHT_CLOCKS_H

#include "collect/recorder_session.h"

enum { FLIGHT_READINGS = 64, FLIGHT_DEVICES_MOST = 64 };

struct flight_reading {
    struct clock_reading host;
    struct device_reading device[FLIGHT_DEVICES_MOST]; /* host_mono_raw_ns 0: it was not there yet */
};

struct flight_clocks { /* all zeros: none yet */
    struct clock_reading first;
    struct flight_reading reading[FLIGHT_READINGS];
    uint64_t n; /* ever; the last FLIGHT_READINGS are there */
};

bool flight_clocks_read(struct flight_clocks *c, const struct ascope_session *s, struct error *e);

/* The session's first readings are those of an instant (raw monotonic clock), between two that were read; its last ones the last that
 * were read. Its devices are those that were read. */
void flight_clocks_set(const struct flight_clocks *c, struct ascope_session *s, uint64_t begin_ns);

#endif
