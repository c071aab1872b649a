/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/collector.h"

const char *const collector_end_word[COLLECTOR_ENDS] = {
    [COLLECTOR_ENDED_UNKNOWN] = "",
    [COLLECTOR_STOPPED] = "stop",
    [COLLECTOR_RECOVERED] = "recovered",
    [COLLECTOR_RUNNING] = "running",
};

const char *const collector_clock_word[COLLECTOR_CLOCKS] = {
    [COLLECTOR_CLOCK_UNKNOWN] = "",
    [COLLECTOR_CLOCK_COUNTER] = "counter",
    [COLLECTOR_CLOCK_NS] = "ns",
};
