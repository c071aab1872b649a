/* SPDX-License-Identifier: Apache-2.0 */
/* unit_trace.h - when the units of cores were busy, as their instruction traces say: raw/instr.h. */
#ifndef ASCOPE_PROFILE_UNIT_TRACE_H
#define ASCOPE_PROFILE_UNIT_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct unit_trace {
    size_t n_tracks; /* cores, by (group, name) */
    struct unit_track {
        unsigned group;
        const char *core; /* "aic", "aiv0" */
        size_t n;         /* its events, in the order of their ends */
        uint8_t *unit;
        uint16_t *block;
        int16_t *check_point; /* the number of a check point, which has no length; -1: the unit was busy */
        double *begin, *end;  /* ticks of the device's counter, with fractions of cycles */
    } * track;
};

#endif
