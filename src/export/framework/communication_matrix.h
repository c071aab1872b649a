/* SPDX-License-Identifier: Apache-2.0 */
/* communication_matrix.h - bytes between ranks, summed over several collectives.
 *
 * Of all of the same type, group and link, the fastest, the middle one, the three slowest and their sum are written. Used for
 * one step and kind after the other: clear, add, finish, write. Its memory is its arena's.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_COMMUNICATION_MATRIX_H
#define ASCOPE_EXPORT_FRAMEWORK_COMMUNICATION_MATRIX_H

#include "analyse/comm/comm_links.h"
#include "base/framework_names.h"
#include "base/out.h"
#include "base/table.h"
#include "export/comm/analyze_rows.h"
#include "profile/framework.h"

/* How a framework names types of collectives, and what it writes of each. */
struct matrix_rules {
    const char *const *word[2]; /* of collectives, and between two ranks; the list ends with NULL */
    const char *before,
        *after; /* of an unknown one, the type is the text between the last `before` and the next `after`; before NULL: its
                                   begin */
    const char *name_key; /* of the name of a collective */
    bool has_all_keys;    /* the second and third slowest are there even where there are fewer */
    bool has_whole_names; /* an unknown type is in small letters; without `after` it has the group, too */
};
extern const struct matrix_rules matrix_rules[FRAMEWORKS];

/* "allreduce" of "hcom_allReduce__483_0_1": the first word in it that is known, of two in the same place the first
 * of the list. */
name_id collective_type(const struct matrix_rules *r, bool is_p2p, struct names *names, name_id collective,
                        name_id group);

/* The keys of a type, group and link; also their order. */
enum matrix_key { KEY_TOP1, KEY_MIDDLE, KEY_BOTTOM1, KEY_TOTAL, KEY_BOTTOM2, KEY_BOTTOM3, MATRIX_KEYS };

/* One link of one collective. */
struct transfer {
    name_id collective;
    struct comm_link link;
};

struct matrix_row {
    uint32_t type_group; /* place in type_groups */
    enum matrix_key key_of;
    uint64_t pair; /* of ranks */
    struct comm_link link;
    name_id collective; /* NO_NAME: a sum */
};

struct matrix {
    const struct matrix_rules *rules;
    bool is_p2p; /* set before the first of a kind is added */
    struct names *names;
    struct arena *mem;
    struct keys type_groups, pairs, bundles,
        keys; /* bundles: of a type, group and link; keys: of the objects that rows stand in */
    LIST(struct transfer) transfer;
    LIST(uint32_t) bundle;   /* of a transfer */
    LIST(uint64_t) slowness; /* of a transfer: the faster, the lower */
    LIST(uint32_t) order;    /* of transfers: by bundle, the fastest first */
    LIST(struct matrix_row) row;
    LIST(uint32_t) key;       /* of a row */
    LIST(uint32_t) row_order; /* by key */
};

void matrix_clear(struct matrix *m);
bool matrix_add(struct matrix *m, name_id collective, name_id group,
                const struct comm_links *links);        /* false: no memory */
bool matrix_finish(struct matrix *m);                   /* the same */
bool matrix_put(const struct matrix *m, struct out *o); /* the same */

/* As CommAnalyzerMatrix has them. */
enum { MATRIX_COLUMNS = 11 };
bool matrix_rows(const struct matrix *m, const struct collective_place *place, struct grid *g); /* the same */

#endif
