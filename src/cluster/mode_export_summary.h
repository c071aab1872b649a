/* SPDX-License-Identifier: Apache-2.0 */
/* mode_export_summary.h - calls of the runtime and kernels of all ranks as text, for databases whose collections are gone. */
#ifndef ASCOPE_CLUSTER_MODE_EXPORT_SUMMARY_H
#define ASCOPE_CLUSTER_MODE_EXPORT_SUMMARY_H

#include "cluster/modes.h"

extern const struct mode mode_export_summary;

#endif
