/* SPDX-License-Identifier: Apache-2.0 */
/* ms_load.h - the files of MindSpore's FRAMEWORK directory, and how each is read into columns.
 *
 * Ranges come in two forms, distinguished by the name of their file; see raw/mindspore.h. The rank is a part of most
 * names.
 */
#ifndef ASCOPE_LOAD_FRAMEWORK_MS_LOAD_H
#define ASCOPE_LOAD_FRAMEWORK_MS_LOAD_H

#include "load/framework/framework_load.h"

/* Finds the names of the files of a collection, allocated in mem: those of the given rank, or if it has none, of the
 * lowest rank that has. False: out of memory. */
bool ms_format_find(struct framework_format *out, const char *path, int64_t rank, struct arena *mem);

/* Whether a FRAMEWORK directory holds files of MindSpore, by their names. */
bool ms_files_are_there(const char *framework);

/* The files that are loaded if the activity CPU was off. */
enum {
    MS_FILES_WITHOUT_CPU = FRAMEWORK_FILE(FRAMEWORK_PIPELINE) | FRAMEWORK_FILE(FRAMEWORK_PIPELINE_CPU) |
                           FRAMEWORK_FILE(FRAMEWORK_PIPELINE_BATCHES)
};

#endif
