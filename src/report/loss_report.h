/* SPDX-License-Identifier: Apache-2.0 */
/* loss_report.h - what could not be used of an input, by reason: as text and as JSON. */
#ifndef ASCOPE_REPORT_LOSS_REPORT_H
#define ASCOPE_REPORT_LOSS_REPORT_H

#include <jansson.h>

#include "base/text/error.h"
#include "report/term.h"

void losses_print(const struct term *t, const struct losses *l);
void losses_complain(const char *path, const struct losses *l); /* prints a line for each kind of damage on stderr */
json_t *losses_json(const struct losses *l);                    /* new reference; NULL without memory */

#endif
