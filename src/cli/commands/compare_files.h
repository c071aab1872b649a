/* SPDX-License-Identifier: Apache-2.0 */
/* compare_files.h - writes a comparison to files: a CSV table for each kind, a database, and a page for a browser. */
#ifndef ASCOPE_CLI_COMMANDS_COMPARE_FILES_H
#define ASCOPE_CLI_COMMANDS_COMPARE_FILES_H

#include "report/compare_report.h"

/* Writes compare_*.csv, comparison.db and comparison.html to a directory, which is created. csv_is_safe: see
 * --csv-safe. *n_written: the number of tables that were written, also after a failure. False: see e. */
bool compare_files_write(const struct compare_report *r, const char *dir, bool csv_is_safe, size_t *n_written,
                         struct error *e);

#endif
