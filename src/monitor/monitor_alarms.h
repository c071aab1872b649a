/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_alarms.h - what is slow in a monitored job from when to when: the findings of one look after the other.
 *
 * An alarm is about a rank, or about the whole job. It begins when as many looks in a row as `begin_after` have a
 * finding about it that goes on at the end of the window: a rank that is slow in each step, steps that take longer since
 * one of them, a drift. It ends after `end_after` looks without one: the steps are as before, or the window has only
 * such steps, so that they are usual. Single steps that are slow are no alarms; the judge's findings have them.
 */
#ifndef ASCOPE_MONITOR_MONITOR_ALARMS_H
#define ASCOPE_MONITOR_MONITOR_ALARMS_H

#include "monitor/monitor_window.h"

enum { ALARMS_MOST = 1024, ALARM_TEXT_BYTES = 500, ALARM_BEGIN_AFTER = 3, ALARM_END_AFTER = 6 };

struct alarm {
    int32_t rank; /* below 0: the whole job */
    unsigned n_seen, n_missed;
    bool is_on, is_new, is_over; /* is_new, is_over: since the last look */
    int64_t since_ns;            /* begin of the first step of the finding that it began with */
    int64_t began_ns, ended_ns;  /* end of the window in which that was noticed */
    double excess_ns, share;     /* of a step; the largest so far */
    char text[ALARM_TEXT_BYTES]; /* the newest finding */
};

struct alarms {
    size_t n;
    uint64_t n_began; /* ever */
    struct alarm at[ALARMS_MOST];
};

/* After each look. Those that were over before it are removed. False: no memory. */
bool alarms_update(struct alarms *a, const struct monitor_window *w, struct arena *mem);

#endif
