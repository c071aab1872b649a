/* SPDX-License-Identifier: Apache-2.0 */
/* background.h - threads of ours beside those of a program.
 *
 * They take no signals, which are for the program's own threads, and wait by a clock that does not jump.
 */
#ifndef ASCOPE_BASE_PROCESS_BACKGROUND_H
#define ASCOPE_BASE_PROCESS_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

uint64_t steady_ns(void);
struct timespec steady_time(uint64_t ns);         /* of steady_ns(), as pthread_cond_timedwait() wants it */
void steady_condition(pthread_cond_t *condition); /* initialises it: its waits use the clock of steady_ns() */

/* 0, or an errno. */
int background_thread(pthread_t *out, const char *name, void *(*run)(void *of), void *of);

/* Calls a function on a thread that has descriptors of its own (descriptors_apart()), and waits for it. Where there can
 * be no such thread, it is called here. */
void background_apart(void (*call)(void *of), void *of);

/* A thread that samples something periodically until it is stopped. */
struct background {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, begun;
    bool has_begun, ends;
};

/* Returns after `run` has called background_begun(), so that its first sample shows the state at the start, even if the
 * thread had to wait for a processor. 0, or an errno value: then there is nothing to stop. */
int background_start(struct background *b, const char *name, void *(*run)(void *of), void *of);
void background_begun(struct background *b);
bool background_pause(struct background *b, uint64_t until_ns); /* false: it is to end now */
void background_ask_stop(struct background *b);                 /* it ends as soon as it can */
void background_stop(struct background *b);
bool background_stop_within(struct background *b, uint32_t limit_s); /* false: it still runs; *b must stay valid */

#endif
