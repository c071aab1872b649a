/* SPDX-License-Identifier: Apache-2.0 */
/* process_files.h - samples of every process of the machine: from one stream into a file for each of them.
 *
 * During the recording there is one file; commits include its length, as of any other file. When the recording ends, or
 * is recovered, it is split into PID-CpuUsage.data and PID-Memory.data. If the process is killed during that, recovery
 * does it again from the start.
 */
#ifndef ASCOPE_COLLECT_WRITE_PROCESS_FILES_H
#define ASCOPE_COLLECT_WRITE_PROCESS_FILES_H

#include <stdint.h>

#include "collect/write/prof_writer.h"

enum process_file { PROCESS_FILE_CPU, PROCESS_FILE_MEMORY, PROCESS_FILES };

struct process_bytes { /* in front of each sample */
    uint32_t pid, kind, bytes;
};

/* What cannot be written is the writer's error (prof_writer.h). The number of samples that could not be read: bytes
 * that make none. */
uint64_t process_files_make(const struct slices *from);

#endif
