/* SPDX-License-Identifier: Apache-2.0 */
/* trace_info.h - what a trace or a database of results contains. */
#ifndef ASCOPE_REPORT_TRACE_INFO_H
#define ASCOPE_REPORT_TRACE_INFO_H

#include <jansson.h>

#include "report/term.h"
#include "open/recording_open.h"

/* `input` was read as `l`, and is a file. */
void trace_info_print(const struct term *t, const struct input *input, const struct recording *l);
json_t *trace_info_json(const struct input *input, const struct recording *l);

#endif
