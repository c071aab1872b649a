/* SPDX-License-Identifier: Apache-2.0 */
/* host_load.h - loads the records of the host directory: dictionaries first, then calls and the records that belong to
 * them. */
#ifndef ASCOPE_LOAD_PROF_HOST_LOAD_H
#define ASCOPE_LOAD_PROF_HOST_LOAD_H

#include "load/prof/records.h"
#include "profile/profile.h"

bool dictionary_load(struct profile *p, struct error *e);
/* Two independent halves of about the same size: the calls, and the records that belong to them. */
bool calls_load(struct profile *p, struct error *e);
bool host_load(struct profile *p, struct error *e);

/* One family of compact or additional records, sorted by (thread, time). Columns that are requested before sorted_end()
 * are kept; the others are released by it. */
struct sorted {
    struct source *source;
    struct arena *scratch;
    const struct layout *layout;
    struct records in; /* in the order of the files */
    uint32_t *order;
};
bool sorted_load(struct profile *p, const char *family, const struct layout *l, struct sorted *out, struct error *e);
void *sorted_column(struct sorted *s, unsigned field); /* taken from the source's arena, as everything here */
const uint8_t **sorted_rest(struct sorted *s);         /* the records themselves */
uint32_t *sorted_calls(struct sorted *s);              /* a column for the call of each record, all NO_ROW */
bool *sorted_is_static(struct sorted *s);              /* true for records of unaging files */
bool sorted_end(struct sorted *s, struct error *e);    /* false: there was no memory for some column */

#endif
