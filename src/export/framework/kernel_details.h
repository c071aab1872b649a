/* kernel_details.h - kernel_details.csv: op_summary in the words of PyTorch, and the step of each row. */
#ifndef ASCOPE_EXPORT_FRAMEWORK_KERNEL_DETAILS_H
#define ASCOPE_EXPORT_FRAMEWORK_KERNEL_DETAILS_H

#include "export/framework/collection_export.h"

bool session_has_kernels(const struct session *s); /* the device was recorded at a level that knows kernels */
bool session_kernels_table(const struct session_export *x, struct table *out, struct error *e);

#endif
