/* SPDX-License-Identifier: Apache-2.0 */
/* collection_export.h - the request for the results of a framework's collection, and what an output of it is.
 *
 * Every file is a row of the registry (framework_outputs.c). Most are tables; some are tables of the device's export
 * under another name, unchanged. The request owns nothing; outputs allocate in `mem`.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_COLLECTION_EXPORT_H
#define ASCOPE_EXPORT_FRAMEWORK_COLLECTION_EXPORT_H

#include "analyse/framework/collection_analyse.h"
#include "export/export.h"
#include "profile/collection.h"

struct collection_export {
    const struct collection *collection;
    /* The framework's data that is shown: that of the collection, or of the part. Rows of the collection's operator
     * tree are rows of collection->framework; part->op_row converts them. */
    const struct framework *framework;
    const struct collection_part *part; /* the selected steps; NULL: the whole collection */
    struct export device;               /* the request for outputs of the device: profile, options, mem */
    struct arena *mem;                  /* of the job that writes this output: the same as device.mem */
    struct trace_split *split;          /* how a timeline is cut into pieces; NULL: it is not */
    bool is_named;                      /* the user gave the path: see out_open_named() */
};

/* Whether results include a step (by its row), what the host did at a time, and what a device did at a time. */
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
    bool (*is_wanted)(const struct collection *s); /* by the settings of the collection; NULL: always */
    /* The column with the time of a row, by which rows outside of the selected steps are removed. NULL: rows have no
     * time, or the output selects them itself. */
    const char *time;
    bool is_of_device;  /* that time is of a device, not of the host */
    bool is_of_dataset; /* "%s" is the number of the dataset pipeline */
    bool is_copy;       /* lines end as in the device's export, of which it is a copy */
    /* One of these three is set. A table without rows makes no file. */
    const char *report; /* the name in reports[] of the table of the device's export that this is */
    bool (*build)(const struct collection_export *x, struct table *out, struct error *e);
    /* Writes the file; *n_rows 0: there is none. False: e has the reason. */
    bool (*write)(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e);
};

#endif
