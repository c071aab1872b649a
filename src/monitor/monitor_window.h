/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_window.h - the last minutes of a monitored job: what the judge of recorded runs (run_judge.h) finds in them,
 * and the usual step of each rank.
 *
 * Records of different ranks cover different numbers of steps. They are put together to *blocks*: as many steps, a power
 * of two, that each record lies within one, from a multiple of it on. A block of a rank that lacks steps is left out. So
 * the judge gets the mean step of each block and rank, under the number of its first step.
 *
 * Parts of a step. Where the device's work is recorded: computing, exposed communication, and the rest. On the host
 * alone: the time in which the step's thread ran, communication if it is recorded, and the rest. Where communication is
 * not recorded, and no device is used, the time in which the thread was blocked, neither for data nor for a processor,
 * stands for it: that is where a rank waits for others, if there are any.
 */
#ifndef ASCOPE_MONITOR_MONITOR_WINDOW_H
#define ASCOPE_MONITOR_MONITOR_WINDOW_H

#include "answers/judge/run_judge.h"
#include "monitor/monitor_ranks.h"

struct window_rank {
    const struct monitor_rank *of;
    const char *name; /* "rank 3" */
    double step_ns;   /* mean over the window; 0: no step */
    double longest_ns;
    double part_ns[JUDGED_PARTS];
    double value[MONITOR_VALUES]; /* in a step, of sums; the last one, of others; NAN: not recorded */
    double steps_per_s;
    int64_t last_end_ns; /* of its last record */
    int64_t last_step;   /* number of the step that runs */
};

struct monitor_window {
    int64_t begin_ns, end_ns; /* end: of the last record of any rank */
    size_t n;
    struct window_rank *rank; /* of each rank number the newest process, if it has steps in the window */
    size_t n_alive;
    uint32_t block;             /* steps of a row of the judge */
    bool is_waiting_guessed;    /* blocked time stands for communication */
    double steps_per_s;         /* of the slowest rank */
    double step_ns;             /* mean of the slowest rank */
    struct judged_run run;      /* its ranks are those of `rank` */
    const int64_t *row_unix_ns; /* by row of the run: when it began, on the first rank that has it */
};

/* The last `length_ns` before the last record. Everything is in `mem` or lent by m. False: no memory. */
bool monitor_window_of(struct monitor_window *out, const struct monitor_ranks *m, int64_t length_ns, struct arena *mem);

#endif
