/* SPDX-License-Identifier: Apache-2.0 */
/* flight_clocks.h - regular readings of all clocks, so that a window of the past has readings from its own begin, not
 * from hours earlier: clocks of devices drift.
 */
#ifndef ASCOPE_COLLECT_FLIGHT_FLIGHT_CLOCKS_H
#define ASCOPE_COLLECT_FLIGHT_FLIGHT_CLOCKS_H

#include "collect/session/recorder_session.h"

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

/* Sets the session's first readings to those of an instant (raw monotonic clock), interpolated between two readings,
 * and its last ones to the last that were read. Only devices that were read are changed. */
void flight_clocks_set(const struct flight_clocks *c, struct ascope_session *s, uint64_t begin_ns);

#endif
