/* SPDX-License-Identifier: Apache-2.0 */
/* step_marks.h - the steps of a recording in which the profiler marked none: ranges of the host that repeat.
 *
 * A server, or a program under `with profile():`, never tells the profiler where a step ends. Then steps are, in this
 * order: 1. the iterations of inference servers, by their names; 2. the outermost ranges that repeat on the thread that
 * launches, if nearly all work is launched in them: one name (train_step), or
 * several in no fixed order (prefill and decode); 3. where several follow each other in turn (load, zero_grad,
 * Optimizer.step), each turn from its first range on; or what PyTorch itself
 * marks in each turn of a loop; 4. nothing. Or they are the ranges whose name the user gives. A step lasts until the
 * next one begins, so that what a loop does between two ranges is in a step; iterations of servers and of several names
 * end with their range, because a server waits for requests in between.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEP_MARKS_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEP_MARKS_H

#include "base/memory/arena.h"
#include "base/memory/names.h"

struct step_candidates {   /* ranges of the host in any order */
    size_t n, n_framework; /* the first ones are of a framework; marks behind them are used if these do not repeat */
    const int64_t *begin_ns, *end_ns;
    const uint64_t *thread;
    const name_id *name;
    const struct names *names;
    size_t n_launches;
    int64_t *launch_ns; /* when the work of the device was launched, or operators of the host began; are sorted */
    const char *wanted; /* --steps-by: the beginning of names; NULL: what repeats */
};

struct step_marks {
    size_t n;      /* by begin, disjoint */
    uint32_t *row; /* of the candidates: the range with which the step begins */
    int64_t *begin_ns, *end_ns;
    uint64_t *number; /* in the names, if they count, or else from 0 on */
    const char *by;   /* "train_step", "execute_*_generation_*": for reports */
    bool is_whole;    /* the ranges are the steps: they say nothing about what is in them */
};

/* For reports: its argument is `by`. */
#define STEPS_BY "steps are those of the annotation \"%.128s\", not of the profiler; --steps-by NAME takes another one"

/* Without steps n is 0. False: no memory. */
bool step_marks_find(struct step_marks *out, const struct step_candidates *c, struct arena *mem);

#endif
