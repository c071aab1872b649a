/* SPDX-License-Identifier: Apache-2.0 */
/* collection_export.h - the results of a collection of a framework: the list of files, and the function that writes each.
 *
 * Every file is a row of the registry (framework_outputs.c). Most are tables; files that the export of the device has under
 * another name are taken from there, unchanged.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_COLLECTION_EXPORT_H
#define ASCOPE_EXPORT_FRAMEWORK_COLLECTION_EXPORT_H

#include "analyse/framework/collection_part.h"
#include "export/export.h"
#include "profile/collection.h"

struct collection_export {
    const struct collection *collection;
    const struct framework
        *framework; /* what of it is shown: all, or the part's; rows of the collection's tree are not rows of it */
    const struct collection_part *part; /* the steps that are wanted; NULL: all of it */
    struct export device;               /* the request for outputs of the device's part: profile, options, mem */
    struct arena *mem;                  /* of the job that writes this output: the same as device.mem */
    struct trace_split *split;          /* how a timeline is cut into pieces; NULL: it is not */
    bool is_named;                      /* the path is one that the user gave, not a result in a folder of ours */
};

/* Whether a step is wanted (by its row), a moment of the framework's own, or one of a device. */
static inline bool collection_shows_step(const struct collection_export *x, size_t step)
{
    return !x->part || x->part->has_step[step];
}
static inline bool collection_shows(const struct collection_export *x, int64_t ns)
{
    return !x->part || (ns >= x->part->begin_ns && ns <= x->part->end_ns);
}
static inline bool collection_shows_device(const struct collection_export *x, int64_t ns)
{
    return !x->part || (x->part->is_on_device && ns >= x->part->device_begin_ns && ns <= x->part->device_end_ns);
}

struct framework_output {
    const char *file;  /* "operator_details.csv"; a "%s" is the rank: "_0" or "" */
    const char *about; /* one line */
    bool is_db;        /* of export type db; else of text */
    bool is_timeline;
    bool is_new;                                   /* not documented: only in dialect current */
    bool (*is_wanted)(const struct collection *s); /* by the settings; NULL: always */
    const char *
        time; /* the column of a table by which its rows belong to steps; NULL: they know themselves, or have no time */
    bool is_of_device; /* that time */
    bool is_copy;      /* lines end as in the device's export, of which it is a copy */
    /* One of three. A table without rows makes no file. */
    const char *report; /* the name in reports[] of the device's table that this is */
    bool (*build)(const struct collection_export *x, struct table *out, struct error *e);
    bool (*write)(const struct collection_export *x, const char *path, uint64_t *n_rows,
                  struct error *e); /* 0: no file */
};

#endif
