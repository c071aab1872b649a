/* SPDX-License-Identifier: Apache-2.0 */
/* memory_judge.h - what is wrong with the memory of a device, from a snapshot: one judge for text, JSON and viewer.
 *
 * A verdict is what to look at first; findings are all that hold. docs/memory.md has the rules.
 */
#ifndef ASCOPE_ANSWERS_MEMORY_MEMORY_JUDGE_H
#define ASCOPE_ANSWERS_MEMORY_MEMORY_JUDGE_H

#include "answers/memory/memory_growth.h"
#include "answers/memory/memory_holes.h"
#include "answers/memory/memory_use.h"

enum memory_verdict { MEMORY_FINE, MEMORY_OOM, MEMORY_FRAGMENTED, MEMORY_LEAK, MEMORY_VERDICTS };

enum memory_oom_cause {
    OOM_NEED,      /* nothing else explains it: more is in use than there is */
    OOM_FRAGMENTS, /* the holes together had room */
    OOM_LEAK,      /* what grows has as many bytes as were asked for */
};

struct memory_oom {
    uint32_t event, n; /* the last one of n in the trace */
    enum memory_oom_cause cause;
    uint64_t asked, device_free;
    uint64_t used, reserved; /* in use and reserved at that time, by the process */
    uint64_t pool_free;      /* reserved for requests of this size and free, in pieces */
    uint64_t largest_hole;   /* of them; 0: unknown, because the trace goes on */
    bool is_limit;           /* the device had room: the process has a limit of its own */
    uint64_t missing;        /* what the device lacked of the request; 0: is_limit, which is not recorded */
    /* What would have been enough, each by itself; 0: it would not. A smaller batch has smaller activations. */
    double smaller_batch;  /* part of the batch: 0.2 is a fifth less */
    uint64_t shards;       /* ranks that share the optimizer state */
    struct memory_use use; /* at that time */
};

struct memory_judged {
    enum memory_verdict verdict;
    bool has[MEMORY_VERDICTS];
    struct memory_replay replay;
    struct memory_steps steps;
    struct memory_use peak;
    struct memory_growths growth;
    struct memory_holes holes;
    struct memory_oom oom; /* n is 0: none */
};

bool memory_judge(struct memory_judged *j, const struct memory_snapshot *s, uint32_t device, struct arena *mem);

uint32_t memory_judge_devices(const struct memory_snapshot *s);          /* numbers below this may be used */
bool memory_judge_has(const struct memory_snapshot *s, uint32_t device); /* it has segments or events */

#endif
