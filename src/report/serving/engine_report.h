/* SPDX-License-Identifier: Apache-2.0 */
/* engine_report.h - what the iterations of an inference engine do, as text and as JSON. */
#ifndef ASCOPE_REPORT_SERVING_ENGINE_REPORT_H
#define ASCOPE_REPORT_SERVING_ENGINE_REPORT_H

#include <jansson.h>

#include "answers/serving/engine_use.h"
#include "report/term.h"

/* Both say nothing of steps that are no iterations: no line, null. */
void engine_put(const struct term *t, const struct engine_use *u);
json_t *engine_json(const struct engine_use *u); /* NULL: no memory */
json_t *quantiles_json(const struct quantiles *q);

#endif
