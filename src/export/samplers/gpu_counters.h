/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_counters.h - counters of a GPU (clocks, power, temperature, memory, load, links): report, track and table. */
#ifndef ASCOPE_EXPORT_SAMPLERS_GPU_COUNTERS_H
#define ASCOPE_EXPORT_SAMPLERS_GPU_COUNTERS_H

#include "export/samplers/counter_tracks.h"

extern const struct counter_process gpu_process;
extern const struct family_table gpu_tables[];
extern const size_t n_gpu_tables;

bool gpu_counters_report(const struct export *x, struct table *out, struct error *e);

#endif
