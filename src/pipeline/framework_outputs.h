/* SPDX-License-Identifier: Apache-2.0 */
/* framework_outputs.h - the registry of outputs of a collection: every file of ASCEND_PROFILER_OUTPUT is a row. */
#ifndef ASCOPE_PIPELINE_FRAMEWORK_OUTPUTS_H
#define ASCOPE_PIPELINE_FRAMEWORK_OUTPUTS_H

#include "export/framework/collection_export.h"

extern const struct framework_output framework_outputs[];
extern const size_t n_framework_outputs;

#endif
