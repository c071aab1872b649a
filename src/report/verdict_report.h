/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_report.h - verdicts about a job and its critical path, as text and as JSON. */
#ifndef ASCOPE_REPORT_VERDICT_REPORT_H
#define ASCOPE_REPORT_VERDICT_REPORT_H

#include <jansson.h>

#include "report/term.h"
#include "cluster/verdicts/verdicts.h"

void verdicts_print(const struct job_report *r, const struct term *t);
void verdicts_json(const struct job_report *r, json_t *to); /* sets "verdicts" and "critical_path" */

#endif
