/* SPDX-License-Identifier: Apache-2.0 */
/* gate_report.h - the result of `ascope gate` as text, as JSON and as a page in Markdown. */
#ifndef ASCOPE_REPORT_GATE_GATE_REPORT_H
#define ASCOPE_REPORT_GATE_GATE_REPORT_H

#include "answers/judge/gate.h"
#include "report/compare_report.h"

extern const char *const gate_measure_key[GATE_MEASURES]; /* words of --allow: "step", "memory" */
extern const char *const gate_verdict_key[GATE_REGRESSED + 1];

struct gate_report {
    const struct gate *gate; /* NULL: nothing that can be compared was read */
    struct compare_report compare;
    const char *sentence; /* the verdict, and what it follows from: gate_sentence() */
};

/* The first line of all reports, in mem. It contains names of kernels. NULL: no memory. */
const char *gate_sentence(const struct gate *g, const struct comparison *c, struct arena *mem);

/* What a CI system counts as one test: a measure that is judged, or "runs" if they cannot be compared. */
struct gate_case {
    const char *key;
    enum gate_verdict verdict;
    const char *text;
};
/* False: no memory. */
bool gate_cases(const struct gate_report *r, struct arena *mem, struct gate_case out[GATE_MEASURES], size_t *n);

void gate_print(const struct term *t, const struct gate_report *r);
json_t *gate_json(const struct gate_report *r); /* NULL: no memory */
bool gate_markdown_write(const struct gate_report *r, const char *path, struct error *e);

#endif
