/* SPDX-License-Identifier: Apache-2.0 */
/* judge_report.h - what the judge found in a run, as lines and as JSON: the same wherever it is printed. */
#ifndef ASCOPE_REPORT_JUDGE_REPORT_H
#define ASCOPE_REPORT_JUDGE_REPORT_H

#include <jansson.h>

#include "answers/judge/run_judge.h"
#include "report/term.h"

/* A line for each finding, or one that nothing is slow; of runs without steps nothing. */
void judge_put(const struct term *t, const struct judged_run *r, int indent, struct arena *mem);
json_t *slow_json(const struct judged_run *r, const struct slow *f, struct arena *mem);
json_t *judge_json(const struct judged_run *r, struct arena *mem); /* a list of these; NULL: no memory */

/* The line about steps that the profiler did not mark; nothing if it did: by is NULL. See step_marks.h. */
void steps_by_put(const struct term *t, const char *by);

#endif
