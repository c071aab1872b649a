/* SPDX-License-Identifier: Apache-2.0 */
/* reported.h - what the collector has reported while a test ran: how many warnings and errors, and the last text. */
#ifndef ASCOPE_TESTS_REPORTED_H
#define ASCOPE_TESTS_REPORTED_H

#include <stdio.h>

#include "ascope/base.h"

static unsigned n_warnings, n_errors;
static char last_text[1024];

static inline void count_warning(enum ascope_severity severity, const char *text, void *user)
{
    (void)user;
    n_warnings += severity == ASCOPE_WARNING;
    n_errors += severity == ASCOPE_ERROR;
    snprintf(last_text, sizeof last_text, "%s", text);
}

#endif
