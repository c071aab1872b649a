/* SPDX-License-Identifier: Apache-2.0 */
/* device_tracks.h - which tracks show what a device does. They are shown first, then those of the host, then processes
 * that have only counters; the ranks of a joint timeline stay in their order.
 */
#ifndef ASCOPE_VIEW_ROWS_DEVICE_TRACKS_H
#define ASCOPE_VIEW_ROWS_DEVICE_TRACKS_H

#include "view/rows/view_input.h"

/* Fills timeline.is_device and orders its processes, when an input is loaded. False: no memory. */
bool device_tracks_first(struct view_input *in);

/* How long the work of a device track took in a range: kernels, copies, collectives. */
int64_t device_track_busy_ns(const struct view_input *in, uint32_t track, int64_t begin_ns, int64_t end_ns);

#endif
