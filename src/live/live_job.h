/* SPDX-License-Identifier: Apache-2.0 */
/* live_job.h - what the processes of a running job on this host do at this moment.
 *
 * Taken from outside (remote_memory.h): the step and collectives that a front end notes (ascope/live.h), states and
 * system calls of threads from /proc, stacks of Python. The result is a job as dumps of the flight recorder describe
 * it, for the same judge.
 */
#ifndef ASCOPE_LIVE_LIVE_JOB_H
#define ASCOPE_LIVE_LIVE_JOB_H

#include "ascope/live.h"
#include "live/python_stacks.h"
#include "profile/flight_job.h"

struct live_thread {
    pid_t tid;
    const char *name;
    char state;                         /* of /proc: 'R', 'S', 'D', 'T', 'Z'; 0: unknown */
    const char *call;                   /* the system call in which it is; NULL: none, or not known */
    const struct python_thread *python; /* NULL: it runs no Python */
};

struct live_process {
    pid_t pid, parent;
    int64_t rank; /* -1: none, or not known */
    char state;
    const char *name;
    const struct ascope_live *noted; /* NULL: nothing of ours is in it */
    const char *no_stacks;           /* why there are none; NULL: they were read */
    struct python_stacks python;
    LIST(struct live_thread) thread; /* the main thread first */
};

struct live_job {
    LIST(struct live_process) process; /* ranks and other processes that run Python, by pid */
    bool has_moved;                    /* a rank made progress while it was looked at */
};

/* Processes of this user that have something below a directory open, as those that record into it. free() it; NULL: none. */
pid_t *live_job_roots(const char *dir, size_t *n);

/* Processes that descend from the roots, which are among them, without this one. free() it; NULL: none, or no memory. */
pid_t *live_job_pids(const pid_t *root, size_t n_roots, size_t *n);

/* The state and name of a thread, from /proc. False: it has ended. */
bool live_thread_state(pid_t pid, pid_t tid, char *state, char *name, size_t name_bytes);

/* Looks at these processes and their descendants for some tenths of a second. False: no memory. */
bool live_job_read(struct live_job *out, const pid_t *root, size_t n_roots, struct arena *mem);

/* The ranks of it, for hang_judge(). False: no memory. */
bool live_job_ranks(struct flight_job *out, const struct live_job *live, struct arena *mem);

/* A sum that changes when a rank of the job makes progress: counts of steps and collectives. n_ranks: how many there
 * are. */
uint64_t live_job_progress(const pid_t *root, size_t n_roots, size_t *n_ranks);

bool live_is_ours(const char *file); /* of a frame: a source of the front end */
/* The innermost frame of the program itself; NULL: none. */
const struct live_frame *live_place(const struct live_thread *t);
/* "sleeps in clock_nanosleep", "runs, and holds the GIL", "is stopped by a signal". NULL: no memory. */
const char *live_doing(const struct live_thread *t, struct arena *mem);

#endif
