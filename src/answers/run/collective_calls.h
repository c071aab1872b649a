/* SPDX-License-Identifier: Apache-2.0 */
/* collective_calls.h - the collectives of one rank, in the same form whatever recorded them, to be matched with those
 * of other ranks.
 *
 * Group and name are the same on all members. Of a device its collectives; of a host alone the calls of gloo and other
 * backends. Everything is copied into `mem`, so that the recording may be released.
 */
#ifndef ASCOPE_ANSWERS_RUN_COLLECTIVE_CALLS_H
#define ASCOPE_ANSWERS_RUN_COLLECTIVE_CALLS_H

#include "answers/run/run_rank.h"

struct collective_call {
    const char *group; /* "": not recorded */
    const char *name;
    int64_t begin_ns, end_ns;
    int64_t step;     /* number of the step that launched it; INT64_MIN: none */
    int64_t src, dst; /* of a send or receive: its own number in the group, and that of the other end; -1: unknown */
    uint32_t size;    /* ranks of the group; 0: unknown */
    uint32_t row;     /* of the device's collectives, of the slices of a trace, or of the operators of a host */
    bool is_p2p;
};

struct collective_calls {
    size_t n;
    struct collective_call *at; /* by begin */
};

bool collective_calls_find(struct collective_calls *out, const struct run_rank *q, const struct step_series *s,
                           struct arena *mem); /* false: no memory */

#endif
