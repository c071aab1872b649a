/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - how far a long job has come, on a terminal, and about how long the rest takes.
 *
 * Nothing is shown for what takes less than a second, and nothing at all when the stream is no terminal. A thread of its
 * own draws, so that the seconds go on while a job says nothing. A job is a few stages, each with a share of the whole and
 * the units of work that it is expected to take (bytes to read or to write, steps of the analysis). Whoever does work counts it
 * with progress_work(), from any thread and whether or not anybody looks.
 */
#ifndef ASCOPE_BASE_PROGRESS_H
#define ASCOPE_BASE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *to;
    bool is_on; /* a terminal, and wanted: the thread is running */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t ended;
    bool is_ending, is_drawn;
    char what[24];
    double from, until;        /* the stage's share of the whole, which is 0 to 1 */
    uint64_t expected, before; /* units that the stage takes, and those that were counted before it */
};

void progress_begin(struct progress *p, FILE *to, bool wanted);
/* A stage begins; without a progress (NULL) nothing happens. From 0 to 0: nobody knows how long it takes, only the seconds are shown. */
void progress_stage(struct progress *p, const char *what, double from, double until, uint64_t expected);
void progress_end(struct progress *p); /* wipes the line */
void progress_clear(
    void); /* before something else is printed: wipes the line that is shown, if one is, until the next */

void progress_work(uint64_t units);

/* How far the whole is by now. What takes more units than expected comes ever closer to the end of its stage. */
double progress_done(const struct progress *p);

/* "about 40 s left"; empty when it is too early to say. */
enum { PROGRESS_LEFT = 32 };
const char *progress_left(char out[PROGRESS_LEFT], double elapsed_s, double done);

#endif
