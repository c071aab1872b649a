/* SPDX-License-Identifier: Apache-2.0 */
/* place_report.h - where to look for what an answer is about: in a step, in the recording, in the viewer. */
#ifndef ASCOPE_REPORT_PLACE_REPORT_H
#define ASCOPE_REPORT_PLACE_REPORT_H

#include <jansson.h>

#include "answers/judge/why.h"
#include "report/term.h"

bool place_is_known(const struct why_place *p);
/* Prints "at 1.2 ms of step 5, ...: process, thread, event", for a gap what precedes and follows it, on lines indented
 * by so many columns. */
void place_put(const struct term *t, const struct why_place *p, int indent);
/* Prints how to see it in the viewer, for the path of its rank. */
void place_put_view(const struct term *t, const struct why_place *p, const char *path, int indent);
json_t *place_json(const struct why_place *p); /* null: unknown */

#endif
