/* SPDX-License-Identifier: Apache-2.0 */
/* judge_report.h - what the judge found in a run, as lines and as JSON: the same wherever it is printed. */
#ifndef ASCOPE_REPORT_JUDGE_REPORT_H
#define ASCOPE_REPORT_JUDGE_REPORT_H

#include <jansson.h>

#include "answers/judge/causes.h"
#include "report/term.h"

/* The lines of each finding, or one that nothing is slow; of runs without steps nothing. */
void judge_put(const struct term *t, const struct explained_run *x, int indent, struct arena *mem);
/* The sentence of a finding, and a line with its causes, if it is explained. The caller has begun the first line. */
void judge_put_one(const struct term *t, const struct explained_run *x, const struct slow *f, int indent,
                   struct arena *mem);
json_t *causes_json(const struct step_difference *d); /* microseconds by cause */
json_t *slow_json(const struct explained_run *x, const struct slow *f, struct arena *mem);
json_t *judge_json(const struct explained_run *x, struct arena *mem); /* a list of these; NULL: no memory */

/* The line about steps that the profiler did not mark; nothing if it did: by is NULL. See step_marks.h. */
void steps_by_put(const struct term *t, const char *by);

#endif
