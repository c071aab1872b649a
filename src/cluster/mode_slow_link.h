/* SPDX-License-Identifier: Apache-2.0 */
/* mode_slow_link.h - collectives whose transfer took conspicuously long, and links that are slower than others of their kind. */
#ifndef ASCOPE_CLUSTER_MODE_SLOW_LINK_H
#define ASCOPE_CLUSTER_MODE_SLOW_LINK_H

#include "cluster/modes.h"

extern const struct mode mode_slow_link;

#endif
