/* SPDX-License-Identifier: Apache-2.0 */
/* framework_kinds.h - the frameworks whose collections are read: each is a row.
 *
 * A collection is a directory that the profiler of a framework writes, with a PROF directory in it if a device was
 * recorded. How it is recognised, loaded and analysed is in its row; framework_outputs() has its files.
 */
#ifndef ASCOPE_OPEN_FRAMEWORK_KINDS_H
#define ASCOPE_OPEN_FRAMEWORK_KINDS_H

#include "base/text/framework_names.h"
#include "load/framework/collection_load.h"

struct framework_kind {
    enum framework_id id; /* its row of framework_names; its collections have that name as framework_name */
    /* Whether a directory is one, by its contents. False with *why not 0: unknown; *why is the errno value. */
    bool (*is_one)(const char *path, int *why);
    bool (*look)(struct collection *s, const char *path, struct collection_look *out, struct error *e);
    bool (*load)(struct collection *s, const char *path, const struct collection_request *r, struct error *e);
    bool (*analyse)(struct collection *s, unsigned n_threads, struct error *e);
};

extern const struct framework_kind framework_kinds[];
extern const size_t n_framework_kinds;

/* Whose collection a directory is: of those that recognise it the one whose suffix it has, or else the first. NULL: of
 * no framework; with *why not 0: unknown, and *why is the errno value. */
const struct framework_kind *framework_kind_of(const char *path, int *why);

#endif
