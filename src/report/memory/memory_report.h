/* SPDX-License-Identifier: Apache-2.0 */
/* memory_report.h - what is wrong with the memory of a device, as text. */
#ifndef ASCOPE_REPORT_MEMORY_MEMORY_REPORT_H
#define ASCOPE_REPORT_MEMORY_MEMORY_REPORT_H

#include "answers/memory/memory_judge.h"
#include "report/term.h"

const char *memory_sentence(const struct memory_judged *j, struct arena *mem); /* NULL: no memory */
void memory_print(const struct term *t, const struct memory_judged *j, const char *sentence, uint32_t top,
                  struct arena *mem);

#endif
