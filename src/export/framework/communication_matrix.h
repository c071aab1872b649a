/* SPDX-License-Identifier: Apache-2.0 */
/* communication_matrix.h - bytes between ranks, summed over several collectives.
 *
 * Of all transfers of one type, group and link the fastest, the middle one, the three slowest and the sum are written.
 * A matrix is used for one step and kind after the other: clear, add, finish, write. Its memory is in its arena.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_COMMUNICATION_MATRIX_H
#define ASCOPE_EXPORT_FRAMEWORK_COMMUNICATION_MATRIX_H

#include "analyse/comm/comm_analysis.h"
#include "base/files/out.h"
#include "base/text/framework_names.h"
#include "base/text/table.h"
#include "export/comm/communication.h"
#include "profile/framework.h"

/* How a framework names types of collectives, and what it writes of each. */
struct matrix_rules {
    const char *const *word[2]; /* known types: of collectives, and between two ranks; each list ends with NULL */
    /* The type of an unknown collective is the text of its name between the last `before` and the next `after`; before
     * NULL: from the begin of the name. */
    const char *before, *after;
    const char *name_key; /* the JSON key of the name of a collective */
    bool has_all_keys;    /* the second and third slowest are written even if there are fewer transfers */
    bool has_whole_names; /* an unknown type is in lower case; without `after` in the name it ends with "@" and the
                            group */
};
extern const struct matrix_rules matrix_rules[FRAMEWORKS];

/* The type of a collective: "allreduce" of "hcom_allReduce__483_0_1". It is the first known word in the name; of two at
 * the same position the one that is first in the list. */
name_id collective_type(const struct matrix_rules *r, bool is_p2p, struct names *names, name_id collective,
                        name_id group);

/* The rows of a type, group and link, in the order of the output. */
enum matrix_key { KEY_TOP1, KEY_MIDDLE, KEY_BOTTOM1, KEY_TOTAL, KEY_BOTTOM2, KEY_BOTTOM3, MATRIX_KEYS };

/* One link of one collective. */
struct transfer {
    name_id collective;
    struct comm_link link;
};

struct matrix_row {
    uint32_t type_group; /* index in type_groups */
    enum matrix_key key_of;
    uint64_t pair; /* source rank << 32 | destination rank */
    struct comm_link link;
    name_id collective; /* NO_NAME: the row is a sum */
};

struct matrix {
    const struct matrix_rules *rules;
    bool is_p2p; /* between two ranks; to be set after clear and before add */
    struct names *names;
    struct arena *mem;
    struct keys type_groups, pairs;
    struct keys bundles; /* a bundle is all transfers of one type, group and link */
    struct keys keys;    /* the JSON objects that rows are in, by type, group and matrix_key */
    LIST(struct transfer) transfer;
    LIST(uint32_t) bundle;   /* of each transfer */
    LIST(uint64_t) slowness; /* of each transfer: lower is faster */
    LIST(uint32_t) order;    /* transfers sorted by bundle, the fastest first */
    LIST(struct matrix_row) row;
    LIST(uint32_t) key;       /* of each row: its object */
    LIST(uint32_t) row_order; /* rows sorted by key */
};

/* All but the first return false without memory. */
void matrix_clear(struct matrix *m);
bool matrix_add(struct matrix *m, name_id collective, name_id group, const struct comm_links *links);
bool matrix_finish(struct matrix *m);
bool matrix_put(const struct matrix *m, struct out *o); /* as JSON */

/* As rows of CommAnalyzerMatrix. */
enum { MATRIX_COLUMNS = 11 };
bool matrix_rows(const struct matrix *m, const struct collective_place *place, struct grid *g);

#endif
