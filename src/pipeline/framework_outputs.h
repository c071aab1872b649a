/* SPDX-License-Identifier: Apache-2.0 */
/* framework_outputs.h - the registries of outputs of collections: every file of ASCEND_PROFILER_OUTPUT is a row. */
#ifndef ASCOPE_PIPELINE_FRAMEWORK_OUTPUTS_H
#define ASCOPE_PIPELINE_FRAMEWORK_OUTPUTS_H

#include "export/framework/collection_export.h"

extern const struct framework_output framework_outputs[]; /* of PyTorch */
extern const size_t n_framework_outputs;
extern const struct framework_output ms_outputs[]; /* of MindSpore */
extern const size_t n_ms_outputs;

#endif
