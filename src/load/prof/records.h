/* SPDX-License-Identifier: Apache-2.0 */
/* records.h - loads streams of fixed-size records into columns.
 *
 * Joins the slices of a family (after those of its unaging twin), skips damaged records and counts them (once, however
 * many readers there are), and decodes each field of the layout into an array as wide as the field. Records that are
 * longer than the layout, as a later collector may write them, are read up to its size, and counted.
 */
#ifndef ASCOPE_LOAD_PROF_RECORDS_H
#define ASCOPE_LOAD_PROF_RECORDS_H

#include "profile/source.h"
#include "raw/layout.h"

struct records {
    size_t n;
    size_t n_unaging;                 /* the first rows, from unaging files */
    void *column[LAYOUT_MOST_FIELDS]; /* by the layout's field numbers; each n elements */
    const uint8_t **rest;             /* the records themselves, when the layout keeps_rest; layout.size bytes each */
};

/* Columns are allocated in `mem`. False only without memory. If there is no such stream, there are no rows. With
 * `others_expected`, records of other kinds are skipped without being counted: the caller reads the same stream once
 * for each kind. */
bool records_load(struct source *s, struct arena *mem, const char *family, const struct layout *l, bool others_expected,
                  struct records *out, struct error *e);

#endif
