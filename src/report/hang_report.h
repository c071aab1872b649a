/* SPDX-License-Identifier: Apache-2.0 */
/* hang_report.h - why a job hangs, and what its processes do, as text and as JSON. */
#ifndef ASCOPE_REPORT_HANG_REPORT_H
#define ASCOPE_REPORT_HANG_REPORT_H

#include <jansson.h>

#include "answers/judge/hang.h"
#include "live/live_job.h"
#include "report/term.h"

const char *hang_sentence(const struct hang *h, const struct flight_job *job, struct arena *mem); /* NULL: no memory */
void hang_print(const struct term *t, const struct hang *h, const struct flight_job *job, const char *sentence,
                struct arena *mem);
json_t *hang_json(const struct hang *h, const struct flight_job *job, const char *sentence);

/* The processes of a running job, their threads and stacks. */
void live_print(const struct term *t, const struct live_job *job, struct arena *mem);
json_t *live_json(const struct live_job *job, struct arena *mem);

#endif
