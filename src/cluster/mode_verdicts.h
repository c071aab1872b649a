/* SPDX-License-Identifier: Apache-2.0 */
/* mode_verdicts.h - what is wrong with a job, and its critical path: tables, and the first screen of `ascope cluster`. */
#ifndef ASCOPE_CLUSTER_MODE_VERDICTS_H
#define ASCOPE_CLUSTER_MODE_VERDICTS_H

#include "cluster/modes.h"

extern const struct mode mode_verdicts;

#endif
