/* SPDX-License-Identifier: Apache-2.0 */
/* flight.h - a flight recorder: it records all the time, keeps the last seconds in bounded memory, and writes them into a collection when
 * something happens, while the program continues.
 *
 *     struct ascope_flight how = { .size = sizeof how, .keep_ns = 30000000000, .memory_bytes = 256 << 20, .slow_step = 1.5 };
 *     ascope_flight_start(&options, &how, &e);
 *     for (...) { train(); ascope_flight_step(); }
 *     ascope_flight_save(0, "loss is NaN", path, sizeof path, &e);      also: a slow step, a signal, `ascope dyn DIR save`
 *     ascope_flight_stop(&e);
 *
 * A save is a collection as a session leaves it, with a directory of its own; ascope.json has what triggered it, the window, and what
 * could not be kept. While it records there is one more directory, its home, which contains the history and is removed by stop and at
 * exit(). After a crash or kill -9 it stays: `ascope recover` and `ascope analyse` turn it into the collection of the last seconds.
 *
 * It is the session of its process. It gives way to another one: while that is open the recorder pauses, and begins anew after it.
 */
#ifndef ASCOPE_FLIGHT_H
#define ASCOPE_FLIGHT_H

#include "ascope/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0 takes the default, or is off. */
struct ascope_flight {
    uint32_t size;         /* sizeof(struct ascope_flight) */
    int32_t signal;        /* that saves, such as SIGUSR2; 0: none */
    uint64_t keep_ns;      /* how far back; default: 30 s */
    uint64_t memory_bytes; /* at most; where that is less than keep_ns needs, the oldest goes first; default: 256 MiB */
    double slow_step;      /* a step longer than this times the median of the last 100 saves; 0: off */
    uint64_t between_ns;   /* at least, from one save of a slow step to the next; default: 60 s. 1: no limit */
    /* `ascope dyn DIR save` finds it through this directory, too, not only through its home and the directory above
     * that. NULL: $PROF_CONFIG_PATH, or none */
    const char *listen_dir;
};

/* Opens a session of its own and starts it. Options as of ascope_session_new(); options of NULL: the defaults. Errors:
 * false, and e: as of ascope_session_new() and ascope_session_start(); a signal that has a handler already; a slow_step
 * that is not above 1. Threads: one at a time. */
ASCOPE_API bool ascope_flight_start(const struct ascope_options *o, const struct ascope_flight *how,
                                    struct ascope_error *e);

/* Writes what was recorded in the last `last_ns` (0: all of keep_ns) into a new collection, on the calling thread; the
 * others go on recording. `trigger` is for ascope.json: why. `path`, if not NULL, gets the directory. Saves wait for
 * each other. Errors: false, and e: none is running, or files cannot be written. Threads: any. */
ASCOPE_API bool ascope_flight_save(uint64_t last_ns, const char *trigger, char *path, size_t path_bytes,
                                   struct ascope_error *e);

/* A training step ends, and the next one begins: a range "ProfilerStep#N", and what slow_step looks at.
 * Errors: ignored while none is running. Threads: one at a time. */
ASCOPE_API void ascope_flight_step(void);

/* For profiler_metadata.json of each save, as ascope_metadata_json().
 * Errors: false, and e: none is running, or as there. Threads: any. */
ASCOPE_API bool ascope_flight_metadata(const char *key, const char *json, struct ascope_error *e);

/* How many collections it has saved, by whatever trigger; path: of the last one, "" if there is none.
 * Errors: none. Threads: any. */
ASCOPE_API uint64_t ascope_flight_saves(char *path, size_t path_bytes);

/* Its home, lent until it is stopped.
 * Errors: NULL: none is running. Threads: one at a time. */
ASCOPE_API const char *ascope_flight_path(void);

/* Ends the recording and removes its home. What was saved stays.
 * Errors: false, and e: none is running. Threads: one at a time. */
ASCOPE_API bool ascope_flight_stop(struct ascope_error *e);

#ifdef __cplusplus
}
#endif
#endif
