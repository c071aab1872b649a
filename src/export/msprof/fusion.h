/* SPDX-License-Identifier: Apache-2.0 */
/* fusion.h - operators that a model's compiler fused from several: fusion_op. */
#ifndef ASCOPE_EXPORT_MSPROF_FUSION_H
#define ASCOPE_EXPORT_MSPROF_FUSION_H

#include "export/export.h"

bool fusion_report(const struct export *x, struct table *out, struct error *e);

#endif
