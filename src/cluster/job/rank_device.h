/* SPDX-License-Identifier: Apache-2.0 */
/* rank_device.h - the cores of a rank's NPU and their clock, which databases do not have: from info.json of its raw
 * data. */
#ifndef ASCOPE_CLUSTER_JOB_RANK_DEVICE_H
#define ASCOPE_CLUSTER_JOB_RANK_DEVICE_H

#include "analyse/device/device_analysis.h"
#include "base/memory/arena.h"

/* Of the first device in a collection, or in a PROF directory. False: it is not there, or does not say. */
bool rank_device_read(struct device_facts *out, const char *collection, struct arena *mem);

#endif
