/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_session.h - the inside of a session, for the files that make it up, and what it passes to the other parts of
 * the recorder.
 *
 * recorder_session.c creates, starts and ends it. prof_info.c, metadata.c and facts.c write the files that describe the
 * collection: at the start, so that a killed program leaves a complete directory, and again at the stop, when more is
 * known.
 */
#ifndef ASCOPE_COLLECT_SESSION_RECORDER_SESSION_H
#define ASCOPE_COLLECT_SESSION_RECORDER_SESSION_H

#include <limits.h>
#include <sys/types.h>

#include "ascope/schedule.h"
#include "base/text/error.h"
#include "collect/os_calls/os_trace.h"
#include "collect/samplers/host_sampler.h"
#include "collect/session/host_clock.h"
#include "collect/write/writer.h"
#include "device/device.h"

/* Checked, with the defaults filled in; live until the session ends. NULL: no session is open. Recording functions look
 * at ascope_recording only; this is for what happens once a session: filters of domains, the devices' switches. */
const struct ascope_options *session_options(void);

bool session_is_open(const struct ascope_session *s); /* false: it has ended, or is the parent process's */

/* At exit the session ends before whatever was registered until now: by a library that it needs to end. */
void session_end_earlier(void);

/* ascope_session_new(); options that options_check() has seen are not reported again. */
struct ascope_session *session_new(const struct ascope_options *o, bool is_checked, struct ascope_error *to);

/* The process that a session records from outside: names, settings and samplers are about it and its descendants. It
 * need not have called exec() yet, and may end at any time; the session ends when its owner, the calling process, stops
 * it. */
struct session_target {
    pid_t pid;                            /* 0: the calling process */
    const char *name;                     /* NULL: the one that the kernel has for it now */
    bool has_preloaded;                   /* it has, or will have, the library that records its calls (os_trace.h) */
    const char *not_preloaded;            /* else why not, valid until the session ends; NULL: it was not tried */
    const struct sample_command *command; /* for sample.json, lent until the session ends; NULL: none */
    struct flight_store *flight;          /* records go there (flight.c); NULL: into the collection's files */
};
struct ascope_session *session_new_for(const struct session_target *of, const struct ascope_options *o, bool is_checked,
                                       struct ascope_error *to);

/* Sets the schedule for profiler_info.json; to be called before the start. NULL: the schedule is a function of the
 * program. */
void session_schedule(struct ascope_session *s, const struct ascope_schedule *plan);

enum session_state { SESSION_NEW, SESSION_WARM, SESSION_RUNS, SESSION_STOPPED };

struct session_device {
    struct device_description is;
    struct device_reading first, last;
};

/* What recording cost up to the beginning of a step. */
struct session_step {
    uint64_t number;
    uint64_t n_records, n_bytes, n_dropped, hook_ns;
    uint64_t lag_most_ns; /* since the begin of the previous step */
};

struct metadata_key {
    char *key, *value; /* the value is JSON */
    struct metadata_key *next;
};

struct ascope_session {
    struct ascope_options o;
    pid_t owner;                          /* the process that has the session */
    pid_t pid;                            /* the process that it is about: mostly the same */
    char process[80];                     /* its name; "": unknown */
    const struct sample_command *command; /* that records it; NULL: itself */
    enum session_state state;
    bool has_rings, has_writer, device_runs; /* what stop has to end */
    bool device_is_lost;                     /* it did not stop, and is not asked again */
    struct host_sampler *host;               /* NULL: not asked for */
    struct os_trace *calls;                  /* NULL: not asked for, or nothing to do */
    bool has_preloaded;
    const char *not_preloaded;
    struct flight_store *flight; /* NULL: this is no flight recorder */
    const char *flight_facts;    /* a JSON object for ascope.json; NULL: none */

    char path[PATH_MAX];      /* the collection */
    char prof[PATH_MAX];      /* PROF_XXX; "": none, or not yet */
    bool is_adopted;          /* it is the device's engine that has made it: see device_engine.c */
    char framework[PATH_MAX]; /* FRAMEWORK; "": none */
    char rings[PATH_MAX];

    int32_t rank;      /* -1: none */
    bool rank_is_text; /* from the environment: that is how PyTorch writes it */
    bool has_schedule, has_plan;
    struct ascope_schedule plan;
    char trace_id[33];

    const struct device_kind *device; /* NULL: none */
    struct session_device *devices;
    unsigned n_devices;

    struct clock_reading first, last; /* the second one from stop on */
    double mhz;                       /* as well as it is known */

    struct writer_tally tally; /* at stop */
    struct session_step *steps;
    size_t n_steps, room_for_steps;

    struct metadata_key *metadata; /* in the order in which they came */
    size_t metadata_bytes;
};

/* ---- for flight.c, of a session, or of a copy that describes a part of it ---- */
bool session_directories(struct ascope_session *s,
                         struct error *e);                       /* the collection's, below the options' parent_dir */
bool session_devices(struct ascope_session *s, struct error *e); /* those that are there now and were not before */
/* ascope.json, and those of PyTorch. At the end of a recording all its files are made durable first: ascope.json says
 * that it has ended. */
bool session_describe(const struct ascope_session *s, struct error *e);
unsigned session_how(const struct ascope_session *s); /* how place_file() writes its files now: durable at the end */

/* What happens to a flight recorder when the program exits, when another session is opened, and when that one has
 * ended. */
struct flight_hooks {
    void (*end)(struct ascope_session *s);
    void (*pause)(void), (*resume)(void);
};
void session_flight_hooks(const struct flight_hooks *h);

#endif
