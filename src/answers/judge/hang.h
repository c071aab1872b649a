/* SPDX-License-Identifier: Apache-2.0 */
/* hang.h - why a job hangs: which collective or transfer is not completed, who did not come, who waits for whom.
 *
 * For each group the first collective that not all members have completed is a *wait*, and so is each transfer between
 * two ranks that is not completed. A wait leads to another one if somebody who is missing in it waits there. The
 * verdict is about the wait that leads nowhere, or about a cycle of them.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_HANG_H
#define ASCOPE_ANSWERS_JUDGE_HANG_H

#include "profile/flight_job.h"

enum hang_kind {
    HANG_NONE,     /* nothing is unfinished */
    HANG_NO_DUMP,  /* who is missing has left no dump */
    HANG_MISSING,  /* ranks have not come */
    HANG_ORDER,    /* a rank is in a collective that it never called at this place before, instead of this one */
    HANG_CYCLE,    /* groups wait for each other */
    HANG_MISMATCH, /* all that came did not call the same */
    HANG_STUCK,    /* all have come, and it does not end */
    HANG_KINDS
};

enum hang_part { HANG_CAME, HANG_DONE, HANG_IS_MISSING, HANG_UNKNOWN /* no dump */ };

struct hang_member {
    uint32_t rank;
    enum hang_part part;
    const struct flight_entry *entry; /* its own of this collective; NULL: none */
    const struct flight_entry *at;    /* where else it is: what it waits in, or did last; NULL: unknown */
    bool waits;                       /* it waits in `at` */
};

struct hang_wait {
    uint32_t group;
    bool is_p2p;
    int64_t number, from, to;
    const char *kind; /* what most called */
    struct hang_member *member;
    size_t n_members;
    enum hang_kind verdict; /* of this wait alone */
};

struct hang {
    enum hang_kind verdict;
    const struct hang_wait *wait; /* all that are unfinished */
    size_t n_waits;
    size_t first;  /* the one that the verdict is about */
    size_t *cycle; /* of a cycle: its waits; each waits for the next one, the last one for the first */
    size_t n_cycle;
    uint32_t *rank; /* at fault; the likeliest first. Several of a mismatch: nobody can tell who is right */
    size_t n_ranks;
    uint32_t *absent;       /* ranks of the job without a dump */
    size_t n_absent, n_job; /* ranks of the job */
};

/* False: no memory. */
bool hang_judge(struct hang *out, const struct flight_job *job, struct arena *mem);

#endif
