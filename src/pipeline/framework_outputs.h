/* SPDX-License-Identifier: Apache-2.0 */
/* framework_outputs.h - the registries of outputs of collections: every file of ASCEND_PROFILER_OUTPUT is a row. */
#ifndef ASCOPE_PIPELINE_FRAMEWORK_OUTPUTS_H
#define ASCOPE_PIPELINE_FRAMEWORK_OUTPUTS_H

#include "base/text/framework_names.h"
#include "export/framework/collection_export.h"

struct output_rows {
    const struct framework_output *at;
    size_t n;
};

/* The files of ASCEND_PROFILER_OUTPUT that collections of a framework have. */
struct output_rows framework_outputs(enum framework_id framework);

#endif
