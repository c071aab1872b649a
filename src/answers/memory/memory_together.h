/* SPDX-License-Identifier: Apache-2.0 */
/* memory_together.h - snapshots that belong together: the ranks of a job, or one process at several times.
 *
 * Ranks are those whose numbers are known and differ. Otherwise snapshots of one device are of one process if each
 * has a segment of the one before it, by the order of their last events.
 */
#ifndef ASCOPE_ANSWERS_MEMORY_MEMORY_TOGETHER_H
#define ASCOPE_ANSWERS_MEMORY_MEMORY_TOGETHER_H

#include "answers/memory/memory_judge.h"

/* A line, and what it has in use at the end of a snapshot. */
struct memory_kept {
    const char *file, *function; /* NULL: no stack */
    uint32_t line;
    uint64_t bytes;
};

struct memory_moment {
    const char *path; /* lent */
    int64_t rank;     /* below 0: unknown */
    uint32_t device;
    uint64_t time_us; /* of the last event; 0: unknown */
    uint64_t end_bytes, peak_bytes, peak_reserved;
    uint64_t of[MEMORY_PURPOSES];  /* at the peak */
    LIST(struct memory_kept) kept; /* the largest */
    LIST(uint64_t) segments;       /* their addresses */
};

enum memory_together_kind { SERIES_NONE, SERIES_EVEN, SERIES_UNEVEN, SERIES_STEADY, SERIES_GROWS, SERIES_KINDS };

struct memory_together {
    LIST(struct memory_moment) at; /* sorted by memory_together_judge() */
    enum memory_together_kind kind;
    /* SERIES_UNEVEN: the rank with the most, and the purpose in which it exceeds the median most. */
    size_t most;
    uint64_t median, purpose_median;
    enum memory_purpose purpose;
    /* SERIES_GROWS: the line that grew most from the first to the last; its file may be NULL. */
    struct memory_kept grown;
};

/* Texts are copied into mem. False: no memory. */
bool memory_together_add(struct memory_together *x, const struct memory_judged *j, int64_t rank, struct arena *mem);
bool memory_together_judge(struct memory_together *x, struct arena *mem); /* false: no memory */

#endif
