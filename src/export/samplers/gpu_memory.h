/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_memory.h - memory that a program allocated from CUDA, and CUDA's memory pools: report, track and table. */
#ifndef ASCOPE_EXPORT_SAMPLERS_GPU_MEMORY_H
#define ASCOPE_EXPORT_SAMPLERS_GPU_MEMORY_H

#include "export/samplers/counter_tracks.h"

extern const struct counter_process gpu_memory_process;
extern const struct family_table gpu_memory_tables[];
extern const size_t n_gpu_memory_tables;

bool gpu_memory_report(const struct export *x, struct table *out, struct error *e);

#endif
