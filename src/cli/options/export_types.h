/* SPDX-License-Identifier: Apache-2.0 */
/* export_types.h - the value of --export-type: which kinds of results are written. */
#ifndef ASCOPE_CLI_OPTIONS_EXPORT_TYPES_H
#define ASCOPE_CLI_OPTIONS_EXPORT_TYPES_H

#include <stdbool.h>

/* Adds WANT_TEXT and WANT_DB to *want for "text", "db" or "text,db". NULL, an option that was not given, adds
 * nothing. False: another value, which was reported on stderr. */
bool export_types_read(const char *text, unsigned *want);

#endif
