/* SPDX-License-Identifier: Apache-2.0 */
/* framework_tracks.h - the data of PyTorch on the timeline: operators, the task queue, Python calls, garbage
 * collections. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_TRACKS_H
#define ASCOPE_EXPORT_FRAMEWORK_FRAMEWORK_TRACKS_H

#include "export/framework/host_tracks.h"

extern const struct host_tracks torch_host_tracks;

#endif
