/* SPDX-License-Identifier: Apache-2.0 */
/* flight_parts.h - registry: what the flight recorder consists of, beside its store. */
#ifndef ASCOPE_COLLECT_FLIGHT_FLIGHT_PARTS_H
#define ASCOPE_COLLECT_FLIGHT_FLIGHT_PARTS_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text/error.h"
#include "collect/flight/flight_store.h"
#include "collect/ring/rings_left.h"
#include "collect/session/recorder_session.h"

/* flight_clocks.c: regular readings of all clocks, so that a window of the past has readings from its own begin, not
 * from hours earlier: clocks of devices drift. */

enum { FLIGHT_READINGS = 64, FLIGHT_DEVICES_MOST = 64 };

struct flight_reading {
    struct clock_reading host;
    struct device_reading device[FLIGHT_DEVICES_MOST]; /* host_mono_raw_ns 0: it was not there yet */
};

struct flight_clocks { /* all zeros: none yet */
    struct clock_reading first;
    struct flight_reading reading[FLIGHT_READINGS];
    uint64_t n; /* readings so far; the last FLIGHT_READINGS of them are kept */
};

bool flight_clocks_read(struct flight_clocks *c, const struct ascope_session *s, struct error *e);

/* Sets the session's first readings to those of an instant (raw monotonic clock), interpolated between two readings,
 * and its last ones to the last that were read. Only devices that were read are changed. */
void flight_clocks_set(const struct flight_clocks *c, struct ascope_session *s, uint64_t begin_ns);

/* flight_leftover.c: the history that a flight recorder left when its program was killed, for recover.h.
 *
 * It is beside the rings, under their name with another suffix. Only what the last commit of the rings covers is used. */

struct flight_leftover {
    struct history history;
    int beside; /* the folder of the rings; stays the caller's */
    int dir;    /* -1: not open */
    uint64_t last_ns;
    char name[NAME_MAX + 1], path[PATH_MAX];
};

/* Opens the last `last_ns` of the history of a killed program; 0: all of it. */
bool leftover_open(struct flight_leftover *l, int beside, const char *rings_path, uid_t owner,
                   const struct rings_left *left, uint64_t last_ns, struct error *e);
/* A new member "flight" for ascope.json; `was` is the one that the recorder has written. */
json_t *leftover_facts(const struct flight_leftover *l, const json_t *was);
void leftover_remove(const struct flight_leftover *l); /* removes its files, and no others */
void leftover_close(struct flight_leftover *l);        /* fine when it is not open */

/* flight_steps.c: which step is slow: longer than a multiple of the median of the last hundred. */

enum { FLIGHT_STEPS = 100, FLIGHT_STEPS_LEAST = 10 };

struct flight_steps { /* all zeros: none yet */
    uint64_t ns[FLIGHT_STEPS], sorted[FLIGHT_STEPS];
    uint32_t n, next;
};

uint64_t flight_steps_median(const struct flight_steps *s); /* 0: fewer than FLIGHT_STEPS_LEAST */
void flight_steps_add(struct flight_steps *s, uint64_t ns);

/* flight_request.c: a request from another process: a file in the home of a flight recorder, and one with the answer.
 *
 *     ascope.request              "save LAST_NS ID", or "when PERMILLE ID": save steps longer than so much of the median, 0: none
 *     ascope.reply.ID             "done PATH", or "failed WHY"
 *
 * Both files are written atomically. The recorder looks for a request a few times a second and removes it. Every user
 * who can write to the home can make a request. */

#define FLIGHT_LISTENS "flight_" /* HOST_PID: a file in another directory that names the home */

enum flight_asked { FLIGHT_SAVE, FLIGHT_WHEN, FLIGHT_ASKED };
struct flight_request {
    enum flight_asked what;
    uint64_t value; /* LAST_NS, or PERMILLE */
    uint64_t id;
};

/* The recorder's side. False: there is none; one that cannot be read is removed. Whether one waits is asked without a
 * descriptor. */
bool flight_request_waits(const char *home);
bool flight_request_take(const char *home, struct flight_request *out);
void flight_request_answer(const char *home, const struct flight_request *r, bool is_done, const char *text);

/* The other side: asks, then waits until the answer is there. r->id is chosen by the first; `is_alive` says now and
 * then whether waiting makes sense. `path`: what was saved. */
bool flight_request_put(const char *home, struct flight_request *r, struct error *e);
bool flight_request_wait(const char *home, const struct flight_request *r, bool (*is_alive)(const char *home),
                         char path[PATH_MAX], struct error *e);

/* flight_save.c: one save of a flight recorder: the last seconds of its history become a collection.
 *
 * It is made inside the recorder's home and renamed when it is complete: readers never see a part of it. */

#define FLIGHT_SAVING "saving" /* the folder of the home */

struct flight_saving {
    const struct ascope_session *home;
    struct flight_clocks *clocks;
    uint64_t last_ns;
    const char *trigger;
    uint64_t n_skipped; /* triggers since the last save that came too early after another */
};
bool flight_save(const struct flight_saving *of, char path[PATH_MAX], struct error *e);

#endif
