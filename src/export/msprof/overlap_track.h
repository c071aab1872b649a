/* SPDX-License-Identifier: Apache-2.0 */
/* overlap_track.h - computing, communication and idle times of a device: a process of the timeline and
 * OVERLAP_ANALYSIS. */
#ifndef ASCOPE_EXPORT_MSPROF_OVERLAP_TRACK_H
#define ASCOPE_EXPORT_MSPROF_OVERLAP_TRACK_H

#include "export/export.h"

bool overlap_track(const struct export *x, struct trace *t, struct error *e);
bool overlap_db(const struct export *x, struct db *db, struct error *e);

#endif
