/* SPDX-License-Identifier: Apache-2.0 */
/* core_samples.h - sampled AI cores: reports, tracks and tables. */
#ifndef ASCOPE_EXPORT_SAMPLERS_CORE_SAMPLES_H
#define ASCOPE_EXPORT_SAMPLERS_CORE_SAMPLES_H

#include "export/samplers/counter_tracks.h"

extern const struct counter_process core_process;
extern const struct family_table core_tables[];
extern const size_t n_core_tables;

bool core_report(const struct export *x, struct table *out, struct error *e);
bool vector_core_report(const struct export *x, struct table *out, struct error *e);

bool core_db(const struct export *x, struct db *db, struct error *e);

#endif
