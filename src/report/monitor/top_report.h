/* SPDX-License-Identifier: Apache-2.0 */
/* top_report.h - the state of a monitored job, as text and as JSON. */
#ifndef ASCOPE_REPORT_MONITOR_TOP_REPORT_H
#define ASCOPE_REPORT_MONITOR_TOP_REPORT_H

#include <jansson.h>

#include "monitor/monitor_window.h"
#include "report/term.h"

void top_print_window(const struct term *t, const struct monitor_window *w, const char *dir, int64_t now_unix_ns,
                      struct arena *mem);
json_t *top_json(const struct monitor_window *w, const char *dir, struct arena *mem); /* NULL: no memory */

#endif
