/* SPDX-License-Identifier: Apache-2.0 */
/* power_counters.h - frequency and voltage of the AI cores on the timeline and in the database. */
#ifndef ASCOPE_EXPORT_SAMPLERS_POWER_COUNTERS_H
#define ASCOPE_EXPORT_SAMPLERS_POWER_COUNTERS_H

#include "export/samplers/counter_tracks.h"

bool freq_track(const struct export *x, struct trace *t, struct error *e);
bool voltage_track(const struct export *x, struct trace *t, struct error *e);
bool freq_db(const struct export *x, struct db *db, struct error *e);

#endif
