/* SPDX-License-Identifier: Apache-2.0 */
/* ms_load.h - the files of MindSpore's FRAMEWORK directory, and how each is read into columns.
 *
 * Ranges come in two forms, distinguished by the name of their file; see raw/mindspore.h. The rank is a part of most names.
 */
#ifndef ASCOPE_LOAD_MS_LOAD_H
#define ASCOPE_LOAD_MS_LOAD_H

#include "load/framework_load.h"

/* Of a collection: the names of its files, in mem. Those of the given rank, or where there are none those of the first rank that there
 * is. False: out of memory. */
bool ms_format_find(struct framework_format *out, const char *path, int64_t rank, struct arena *mem);

/* Whether a FRAMEWORK directory holds files of MindSpore, by their names. */
bool ms_files_are_there(const char *framework);

/* What is loaded where the activity CPU was off. */
enum {
    MS_FILES_WITHOUT_CPU = FRAMEWORK_FILE(FRAMEWORK_PIPELINE) | FRAMEWORK_FILE(FRAMEWORK_PIPELINE_CPU) |
                           FRAMEWORK_FILE(FRAMEWORK_PIPELINE_BATCHES)
};

#endif
