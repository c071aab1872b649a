/* SPDX-License-Identifier: Apache-2.0 */
/* collection_write.h - a collection of a framework from its records to ASCEND_PROFILER_OUTPUT.
 *
 * Loads, analyses and writes; what came of it is handed back as data. Nothing here prints.
 */
#ifndef ASCOPE_PIPELINE_COLLECTION_WRITE_H
#define ASCOPE_PIPELINE_COLLECTION_WRITE_H

#include "base/progress.h"
#include "pipeline/account.h"
#include "export/framework/collection_export.h"
#include "pipeline/framework_kinds.h"

/* What an output is asked with; the rest of it is as in a struct of zeros. */
struct collection_export collection_export_of(const struct collection *s, const struct output_options *options,
                                              struct arena *mem);

void collection_losses(const struct collection *s,
                       struct losses *out); /* adds those of the device's and the framework's parts */

struct collection_result {
    struct collection collection; /* as analysed; live until collection_result_free() */
    struct account account;
};

/* Loads, analyses and writes as the framework's row says. Progress may be NULL. False: nothing could be written, and e says why. True with problems or losses: see there. */
bool collection_export(const struct framework_kind *kind, const char *path, const struct output_options *options,
                       struct progress *progress, struct collection_result *out, struct error *e);
void collection_result_free(struct collection_result *r);

#endif
