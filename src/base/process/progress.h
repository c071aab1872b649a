/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - progress of a long job on a terminal, with an estimate of the remaining time.
 *
 * Jobs of less than a second show nothing, and neither does a stream that is not a terminal. A separate thread draws,
 * so that the seconds advance while a job reports nothing. A job is a few stages, each with a share of the whole and an
 * expected number of units of work (bytes to read or to write, steps of the analysis). Work is counted with
 * progress_work(), from any thread, whether or not it is shown.
 */
#ifndef ASCOPE_BASE_PROCESS_PROGRESS_H
#define ASCOPE_BASE_PROCESS_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The remaining time as it was shown last. */
struct progress_left {
    double shown_s; /* negative: it is too early to say */
    double elapsed_s, done;
};

struct progress {
    FILE *to;
    bool is_on; /* a terminal, and wanted: the thread is running */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t ended;
    bool is_ending, is_drawn;
    struct progress_left left;
    char what[24];
    double from, until;        /* the stage's share of the whole, which is 0 to 1 */
    uint64_t expected, before; /* units that the stage takes, and those that were counted before it */
};

void progress_begin(struct progress *p, FILE *to, bool wanted);
/* A stage begins; without a progress (NULL) nothing happens. From 0 to 0: of unknown length; only the seconds are
 * shown. */
void progress_stage(struct progress *p, const char *what, double from, double until, uint64_t expected);
void progress_end(struct progress *p); /* clears the line */

/* Around other output: progress_hold() clears the line, if one is shown, and nothing is drawn until progress_release().
 * No progress may begin or end in between. */
void progress_hold(void);
void progress_release(void);
void progress_clear(void); /* both */

void progress_work(uint64_t units);
/* What this thread reports from now on, and the threads of pools that it starts, is added to *counter, too. NULL:
 * nowhere else. */
void progress_count_in(atomic_ullong *counter);
atomic_ullong *progress_counter(void);

/* The progress of the whole. With more units than expected it approaches the end of the stage. */
double progress_done(const struct progress *p);

/* The remaining time to show; negative: it is too early to say. It falls with the computed one at once, and grows
 * slowly; while nothing more is done it stays: a stage that reports nothing for a while is no sign that everything
 * takes longer. */
double progress_left_s(struct progress_left *l, double elapsed_s, double done);

/* "about 40 s left"; empty when it is too early to say. */
enum { PROGRESS_LEFT = 32 };
const char *progress_left(char out[PROGRESS_LEFT], double left_s);

#endif
