/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_copies.h - the table of memory copies and sets of GPUs: size, kinds of memory, bandwidth. */
#ifndef ASCOPE_EXPORT_MSPROF_GPU_COPIES_H
#define ASCOPE_EXPORT_MSPROF_GPU_COPIES_H

#include "export/export.h"

bool gpu_copies_report(const struct export *x, struct table *out, struct error *e);

#endif
