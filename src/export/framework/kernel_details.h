/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_details.h - kernel_details.csv: op_summary with the framework's names of columns, and the step of each row. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_KERNEL_DETAILS_H
#define ASCOPE_EXPORT_FRAMEWORK_KERNEL_DETAILS_H

#include "export/framework/collection_export.h"

bool collection_has_kernels(const struct collection *s); /* a device was recorded, at a level that has kernels */
bool kernel_details_table(const struct collection_export *x, struct table *out, struct error *e);

#endif
