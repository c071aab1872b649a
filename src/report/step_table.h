/* SPDX-License-Identifier: Apache-2.0 */
/* step_table.h - the slowest steps, compared with the median, and what the judge finds, as a table and as JSON. */
#ifndef ASCOPE_REPORT_STEP_TABLE_H
#define ASCOPE_REPORT_STEP_TABLE_H

#include <jansson.h>

#include "analyse/framework/steps/step_series.h"
#include "report/term.h"

/* What is recorded, and which of its steps are shown. */
struct step_table {
    const struct profile *profile;
    const struct collection *collection; /* NULL: a PROF directory */
    const struct step_choice *choice;    /* NULL: all steps */
    const char *file;                    /* name of the file with all steps, for the text; NULL: none was written */
    bool is_of_job; /* one of several ranks: the caller reports what is slow, of all of them together */
};

bool step_table_print(const struct term *t, const struct step_table *s, size_t most); /* false: no memory */
/* Sets "steps" and "step_medians"; at most so many findings are explained. False: no memory. */
bool step_table_json(const struct step_table *s, size_t most, json_t *into);

/* Prints a bar; a step of longest_ns fills all cells, and the bar of a longer one ends with '>'. */
void step_bar_print(const struct term *t, const int64_t part_ns[STEP_PARTS], int64_t longest_ns, int cells);
extern const char *const step_part_key[STEP_PARTS]; /* "computing_us" */

#endif
