/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - registry: which models and iterations collections have, as a table of text: the answer to `msprof query`.
 *
 * Collections are added one after the other, and can be freed as soon as they were added. Rows are sorted by job and
 * time.
 *     struct query *q = query_new();
 *     for each collection: profile_load(), profile_analyse(), query_add(q, &profile, e), profile_free()
 *     query_text(q, &out, e);
 *     query_free(q);
 */
#ifndef ASCOPE_EXPORT_MSPROF_QUERY_H
#define ASCOPE_EXPORT_MSPROF_QUERY_H

#include "base/files/out.h"
#include "profile/profile.h"

struct query;

enum query_column {
    QUERY_JOB,
    QUERY_DEVICE,
    QUERY_DIR,
    QUERY_TIME,
    QUERY_MODEL,
    QUERY_ITERATIONS,
    QUERY_TOP,
    QUERY_RANK,
    QUERY_COLUMNS
};

struct query_row {
    const char *path;                /* of the collection */
    const char *text[QUERY_COLUMNS]; /* "N/A" where there is none */
};

struct query *query_new(void); /* owner: the caller; NULL when out of memory */
/* The rows of an analysed collection: one for each model of each device, one for the host. False: no memory. */
bool query_add(struct query *q, const struct profile *p, struct error *e);
/* Columns padded to the same width, a tab after each and an empty line after each row. Nothing when there are no
 * rows. */
bool query_text(const struct query *q, struct out *o, struct error *e);
/* The same rows in the same order. The caller frees the list; the rows are valid as long as q. NULL: out of memory. */
const struct query_row **query_rows(const struct query *q, size_t *n);
void query_free(struct query *q); /* NULL is fine */

/* query_steps.c: the steps of devices as `msprof query --data-type 1` has them. */
struct query_steps {
    int64_t id;                /* the rank, or the device where there are no ranks; -1: all */
    uint64_t model, iteration; /* iteration 0: all */
};
/* Adds objects of a JSON list, with commas between them; *n counts all of them. */
bool query_steps_put(const struct profile *p, const struct query_steps *which, struct out *o, size_t *n,
                     struct error *e);

#endif
