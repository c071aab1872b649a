/* SPDX-License-Identifier: Apache-2.0 */
/* memory_counters.h - memory of a device (DDR, HBM, LLC, by module and process): reports, tracks and tables. */
#ifndef ASCOPE_EXPORT_SAMPLERS_MEMORY_COUNTERS_H
#define ASCOPE_EXPORT_SAMPLERS_MEMORY_COUNTERS_H

#include "export/samplers/counter_tracks.h"

extern const struct counter_process hbm_process, ddr_process, llc_process, npu_mem_process;
extern const struct family_table memory_tables[];
extern const size_t n_memory_tables;

bool hbm_report(const struct export *x, struct table *out, struct error *e);
bool ddr_report(const struct export *x, struct table *out, struct error *e);
bool llc_report(const struct export *x, struct table *out, struct error *e);
bool npu_mem_report(const struct export *x, struct table *out, struct error *e);
bool module_mem_report(const struct export *x, struct table *out, struct error *e);

#endif
