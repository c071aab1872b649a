/* progress.h - how far a long job has come, on a terminal.
 *
 * Nothing is shown for what takes less than a second, and nothing at all when the stream is no terminal. A thread of its
 * own draws, so that the seconds go on while a job says nothing. Safe to call from several threads; cheap enough to be
 * called often.
 */
#ifndef ASCOPE_BASE_PROGRESS_H
#define ASCOPE_BASE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

struct progress {
    FILE *to;
    bool is_on; /* a terminal, and wanted: the thread is running */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t ended;
    bool is_ending;
    char what[24];
    double done;
};

void progress_begin(struct progress *p, FILE *to, bool wanted);
/* `done` is 0 to 1, of `what`; the signature suits struct request. */
void progress_show(void *progress, const char *what, double done);
void progress_end(struct progress *p); /* wipes the line */

#endif
