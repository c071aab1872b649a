/* SPDX-License-Identifier: Apache-2.0 */
/* collection_write.h - writes ASCEND_PROFILER_OUTPUT of a collection of a framework.
 *
 * Loads, analyses and writes; the result is returned as data. Nothing here prints.
 */
#ifndef ASCOPE_PIPELINE_COLLECTION_WRITE_H
#define ASCOPE_PIPELINE_COLLECTION_WRITE_H

#include "base/process/progress.h"
#include "pipeline/account.h"
#include "export/framework/collection_export.h"
#include "open/framework_kinds.h"

/* The request for an output of the whole collection. */
struct collection_export collection_export_of(const struct collection *s, const struct output_options *options,
                                              struct arena *mem);

struct collection_result {
    struct collection collection;       /* as analysed; valid until collection_result_free() */
    const struct collection_part *part; /* the requested steps; NULL: all */
    struct account account;
};

/* Loads, analyses and writes with the functions of the framework's row. Progress may be NULL. False: nothing could be
 * written, with the reason in e. True: some files may have failed, see problems and losses. */
bool collection_export(const struct framework_kind *kind, const char *path, const struct output_options *options,
                       struct progress *progress, struct collection_result *out, struct error *e);
void collection_result_free(struct collection_result *r);

#endif
