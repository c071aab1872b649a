/* SPDX-License-Identifier: Apache-2.0 */
/* rank_table.h - compares the ranks of a job on one scale, as a table and as JSON. */
#ifndef ASCOPE_REPORT_RANK_TABLE_H
#define ASCOPE_REPORT_RANK_TABLE_H

#include <jansson.h>

#include "answers/judge/causes.h"
#include "answers/judge/ranks.h"
#include "report/term.h"

/* Rows and order are those of ranks_compare(). */
void rank_table_print(const struct term *t, const struct job_steps *j, const struct explained_run *x,
                      const struct rank_row *row, const uint32_t *order, size_t n, struct arena *mem);
json_t *rank_table_json(const struct job_steps *j, const struct rank_row *row, const uint32_t *order,
                        size_t n); /* NULL without memory */

#endif
