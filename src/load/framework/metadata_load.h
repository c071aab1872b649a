/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_load.h - loads the metadata that a job added to its collection, as JSON texts. */
#ifndef ASCOPE_LOAD_FRAMEWORK_METADATA_LOAD_H
#define ASCOPE_LOAD_FRAMEWORK_METADATA_LOAD_H

#include <jansson.h>

#include "profile/collection.h"

/* The environment: of_job, or that of the analysis if it is not an object. Then the members of profiler_metadata.json
 * (NULL: there is none). False: no memory. */
bool metadata_load(struct metadata *out, const json_t *of_job, const json_t *noted, struct arena *mem);

#endif
