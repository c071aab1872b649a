/* SPDX-License-Identifier: Apache-2.0 */
/* mode_communication_bottleneck.h - why the longest collectives of a rank took so long: which rank came late to them, and what it did longer
 * than the one that waited most. */
#ifndef ASCOPE_CLUSTER_MODE_COMMUNICATION_BOTTLENECK_H
#define ASCOPE_CLUSTER_MODE_COMMUNICATION_BOTTLENECK_H

#include "cluster/modes.h"

extern const struct mode mode_communication_bottleneck;

#endif
