/* SPDX-License-Identifier: Apache-2.0 */
/* flight_request.h - a request from another process: a file in the home of a flight recorder, and one with the answer.
 *
 *     ascope.request              "save LAST_NS ID", or "when PERMILLE ID": save steps longer than so much of the median, 0: none
 *     ascope.reply.ID             "done PATH", or "failed WHY"
 *
 * Both files are written atomically. The recorder looks for a request a few times a second and removes it. Every user who can
 * write to the home can make a request.
 */
#ifndef ASCOPE_COLLECT_FLIGHT_FLIGHT_REQUEST_H
#define ASCOPE_COLLECT_FLIGHT_FLIGHT_REQUEST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text/error.h"

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

#endif
