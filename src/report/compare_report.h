/* SPDX-License-Identifier: Apache-2.0 */
/* compare_report.h - the result of `ascope compare` as text and as JSON. */
#ifndef ASCOPE_REPORT_COMPARE_REPORT_H
#define ASCOPE_REPORT_COMPARE_REPORT_H

#include <jansson.h>

#include "answers/judge/compare.h"
#include "report/term.h"

struct compare_report {
    const struct comparison *c;
    const struct compared_row **change; /* see compare_changes() */
    size_t n_changes, top;
};

/* Words for machines and files: "kernel", "kernels"; "real"; "computing". */
extern const char *const measure_key[MEASURE_KINDS], *const measure_title[MEASURE_KINDS];
extern const char *const difference_key[DIFFERENCE_REAL + 1];
extern const char *const part_key[RUN_PARTS], *const part_title[RUN_PARTS];

enum { RANK_TEXT = 48 };
const char *rank_text(char out[RANK_TEXT], const struct measured_rank *r); /* "rank 3", "device 0", "host" */

void compare_print(const struct term *t, const struct compare_report *r);
void compare_print_runs(const struct term *t, const struct comparison *c); /* parts of it */
void compare_print_changes(const struct term *t, const struct compare_report *r);
json_t *compare_json(const struct compare_report *r); /* NULL: no memory */

#endif
