/* SPDX-License-Identifier: Apache-2.0 */
/* part_tracks.h - parts of tasks on the timeline: of fused tasks, and the first and last blocks of each task. */
#ifndef ASCOPE_EXPORT_MSPROF_PART_TRACKS_H
#define ASCOPE_EXPORT_MSPROF_PART_TRACKS_H

#include "export/export.h"

bool fused_track(const struct export *x, struct trace *t, struct error *e);
bool block_track(const struct export *x, struct trace *t, struct error *e);

#endif
