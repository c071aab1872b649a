/* SPDX-License-Identifier: Apache-2.0 */
/* step_table.h - the slowest steps against the median, with the causes: as a table and as JSON. */
#ifndef ASCOPE_CLI_STEP_TABLE_H
#define ASCOPE_CLI_STEP_TABLE_H

#include <jansson.h>

#include "analyse/framework/step_series.h"
#include "cli/term.h"

/* Whose steps. */
struct step_subject {
    const struct profile *profile;
    const struct collection *collection; /* NULL: a PROF directory */
    const struct step_choice *choice;    /* NULL: all steps */
    const char *file;                    /* that holds all of them, for people; NULL: none was written */
};

bool step_table_print(const struct term *t, const struct step_subject *s, size_t most); /* false: no memory */
bool step_table_json(const struct step_subject *s,
                     json_t *into); /* sets "steps" and "step_medians"; false: no memory */

/* A bar of at most `cells`, in which `longest` takes all. */
void step_bar_print(const struct term *t, const int64_t part_ns[STEP_PARTS], int64_t longest_ns, int cells);
extern const char *const step_part_key[STEP_PARTS]; /* "computing_us" */

#endif
