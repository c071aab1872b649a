/* progress.h - how far a long job has come, on a terminal.
 *
 * Nothing is shown for what takes less than a second, and nothing at all when the stream is no terminal. Safe to call
 * from several threads; cheap enough to be called often.
 */
#ifndef ASCOPE_BASE_PROGRESS_H
#define ASCOPE_BASE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *to;
    bool is_on, is_shown;
    int64_t begin_ns, drawn_ns; /* CLOCK_MONOTONIC */
    pthread_mutex_t lock;
};

void progress_begin(struct progress *p, FILE *to, bool wanted);
/* `done` is 0 to 1, of `what`; the signature suits struct request. */
void progress_show(void *progress, const char *what, double done);
void progress_end(struct progress *p); /* wipes the line */

#endif
