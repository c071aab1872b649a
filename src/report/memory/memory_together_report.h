/* SPDX-License-Identifier: Apache-2.0 */
/* memory_together_report.h - ranks of a job, or one process at several times, as text and JSON. */
#ifndef ASCOPE_REPORT_MEMORY_MEMORY_TOGETHER_REPORT_H
#define ASCOPE_REPORT_MEMORY_MEMORY_TOGETHER_REPORT_H

#include <jansson.h>

#include "answers/memory/memory_together.h"
#include "report/term.h"

const char *memory_together_sentence(const struct memory_together *x, struct arena *mem); /* NULL: no memory */
void memory_together_print(const struct term *t, const struct memory_together *x, const char *sentence);
json_t *memory_together_json(const struct memory_together *x, const char *sentence);

#endif
