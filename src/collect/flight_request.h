/* SPDX-License-Identifier: Apache-2.0 */
/* flight_request.h - a request to save, from another process: a file in the home of a flight recorder, and one with the answer.
 *
 *     ascope.request              "save LAST_NS ID"
 *     ascope.reply.ID             "saved PATH", or "failed WHY"
 *
 * Both appear whole. The recorder looks for a request a few times a second and removes it; who may write into the home may ask.
 */
#ifndef ASCOPE_COLLECT_FLIGHT_REQUEST_H
#define ASCOPE_COLLECT_FLIGHT_REQUEST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct flight_request {
    uint64_t last_ns, id;
};

/* The recorder's side. False: there is none; one that cannot be read is removed. */
bool flight_request_take(const char *home, struct flight_request *out);
void flight_request_answer(const char *home, const struct flight_request *r, bool is_saved, const char *text);

/* The other side. Waits until the answer is there; `is_alive` says now and then whether waiting makes sense, with *why if not.
 * `path`: what was saved. */
bool flight_request_save(const char *home, uint64_t last_ns, bool (*is_alive)(const char *home), char path[PATH_MAX],
                         struct error *e);

#endif
