/* SPDX-License-Identifier: Apache-2.0 */
/* recording_report.h - the facts of ascope's recorder about a recording, as text and JSON. Nothing for recordings of
 * other collectors. */
#ifndef ASCOPE_REPORT_RECORDING_REPORT_H
#define ASCOPE_REPORT_RECORDING_REPORT_H

#include <jansson.h>

#include "report/term.h"
#include "profile/collector.h"

void recording_print(const struct term *t, const struct collector *c);                /* all of it: `ascope info` */
void recording_cost_print(const struct term *t, const struct collector *c, bool all); /* a few lines; all: every step */
json_t *recording_json(const struct collector *c); /* a new reference: null when nothing is known; NULL: no memory */

#endif
