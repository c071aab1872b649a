/* SPDX-License-Identifier: Apache-2.0 */
/* ms_tracks.h - the data of MindSpore on the timeline: ranges, Python calls, operators of the CPU, flow events, layers
 * of scopes. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_TRACKS_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_TRACKS_H

#include "export/framework/host_tracks.h"

extern const struct host_tracks ms_host_tracks;

#endif
