/* SPDX-License-Identifier: Apache-2.0 */
/* compare_files.h - a comparison as files: a table for each kind as CSV, a database, and a page for a browser. */
#ifndef ASCOPE_CLI_COMPARE_FILES_H
#define ASCOPE_CLI_COMPARE_FILES_H

#include "cli/compare_report.h"

/* compare_*.csv, comparison.db and comparison.html in a directory, which is made. csv_is_safe: as --csv-safe. *n_written: how many of
 * the tables are there, also if something fails. */
bool compare_files_write(const struct compare_report *r, const char *dir, bool csv_is_safe, size_t *n_written,
                         struct error *e);

#endif
