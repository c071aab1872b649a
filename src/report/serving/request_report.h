/* SPDX-License-Identifier: Apache-2.0 */
/* request_report.h - the requests of an inference server, and where the time of one of them goes, as text and JSON. */
#ifndef ASCOPE_REPORT_SERVING_REQUEST_REPORT_H
#define ASCOPE_REPORT_SERVING_REQUEST_REPORT_H

#include <jansson.h>

#include "answers/serving/request_causes.h"
#include "report/term.h"

/* All say nothing of recordings without requests: no line, null. */
void requests_put(const struct term *t, const struct requests *v);
json_t *requests_json(const struct requests *v); /* NULL: no memory */

/* One request; `path`: of its recording. */
void request_put(const struct term *t, const struct requests *v, const struct request *r,
                 const struct request_causes *c, const char *path);
json_t *request_json(const struct request *r, const struct request_causes *c);

#endif
