/* SPDX-License-Identifier: Apache-2.0 */
/* usage_tracks.h - utilisation of operating systems, on the timeline and in the database. */
#ifndef ASCOPE_EXPORT_SAMPLERS_USAGE_TRACKS_H
#define ASCOPE_EXPORT_SAMPLERS_USAGE_TRACKS_H

#include "export/samplers/usage_export.h"

bool usage_db(const struct export *x, struct db *db, struct error *e);

#endif
