/* SPDX-License-Identifier: Apache-2.0 */
/* output_record.h - finds the PROF directories that libraries inside the program have written.
 *
 * Such a library lists them in the file {pid of the collector}_profiling_output_record beside them.
 */
#ifndef ASCOPE_RUN_OUTPUT_RECORD_H
#define ASCOPE_RUN_OUTPUT_RECORD_H

#include <stddef.h>

/* Calls found(user, path) for each directory that the file of this process lists, sorted by name and without
 * duplicates, and removes the file. Lines that do not name a PROF directory are ignored. */
void output_record_take(const char *parent, void (*found)(void *user, const char *path), void *user);

#endif
