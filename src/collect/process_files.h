/* SPDX-License-Identifier: Apache-2.0 */
/* process_files.h - samples of every process of the machine: from one stream into a file for each of them.
 *
 * While it is recorded there is one file, whose length a commit knows as it knows that of any other. When the recording ends, or is
 * recovered, PID-CpuUsage.data and PID-Memory.data are made of it; whoever is killed here begins again.
 */
#ifndef ASCOPE_COLLECT_PROCESS_FILES_H
#define ASCOPE_COLLECT_PROCESS_FILES_H

#include <stdint.h>

#include "collect/prof_writer.h"

enum process_file { PROCESS_FILE_CPU, PROCESS_FILE_MEMORY, PROCESS_FILES };

struct process_bytes { /* in front of each sample */
    uint32_t pid, kind, bytes;
};

/* What cannot be written is the writer's error (prof_writer.h). The number of samples that could not be read: bytes that make none. */
uint64_t process_files_make(const struct slices *from);

#endif
