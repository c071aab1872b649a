/* SPDX-License-Identifier: Apache-2.0 */
/* output_record.h - directories that the vendor's libraries wrote inside the program: they leave their names in a file beside them. */
#ifndef ASCOPE_RUN_OUTPUT_RECORD_H
#define ASCOPE_RUN_OUTPUT_RECORD_H

#include <stddef.h>

/* Those that this process's number stands for, sorted; the file is removed. Names that are no PROF directories are passed over. Each goes
 * to `found`, with its path. */
void output_record_take(const char *parent, void (*found)(void *user, const char *path), void *user);

#endif
