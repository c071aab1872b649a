/* SPDX-License-Identifier: Apache-2.0 */
/* memory_report_json.h - what is wrong with the memory of a device, as JSON. */
#ifndef ASCOPE_REPORT_MEMORY_MEMORY_REPORT_JSON_H
#define ASCOPE_REPORT_MEMORY_MEMORY_REPORT_JSON_H

#include <jansson.h>

#include "answers/memory/memory_judge.h"

json_t *memory_json(const struct memory_judged *j, const char *sentence);

#endif
