/* SPDX-License-Identifier: Apache-2.0 */
/* unit_track.h - instruction traces on the timeline: when the units of cores were busy. */
#ifndef ASCOPE_EXPORT_SAMPLERS_UNIT_TRACK_H
#define ASCOPE_EXPORT_SAMPLERS_UNIT_TRACK_H

#include "export/samplers/counter_tracks.h"

extern const struct counter_process unit_process;

#endif
