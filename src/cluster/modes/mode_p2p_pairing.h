/* SPDX-License-Identifier: Apache-2.0 */
/* mode_p2p_pairing.h - which send belongs to which receive.
 *
 * Both get the same id: the last digits of the group, sender and receiver as ranks in the group, and the sequence
 * number between these two.
 */
#ifndef ASCOPE_CLUSTER_MODES_MODE_P2P_PAIRING_H
#define ASCOPE_CLUSTER_MODES_MODE_P2P_PAIRING_H

#include "base/text/table.h"
#include "cluster/modes.h"

extern const struct mode mode_p2p_pairing;

/* One send or receive of a rank. */
struct p2p_op {
    size_t row;         /* of its collectives */
    const char *digits; /* of its group in its name, lent */
    size_t n_digits;
    bool is_send;
    int64_t from, to; /* ranks in the group; below 0: unknown */
    uint32_t n;       /* how many of that direction came before it in the group */
};

struct p2p_ops {
    LIST(struct p2p_op) list; /* by begin */
};

bool p2p_find(struct p2p_ops *out, const struct mode_context *c, const struct rank_summary *r,
              struct arena *mem); /* false: no memory */

/* The table of all ranks; all zeros: empty. */
struct p2p_pairs {
    struct table_sink *sink;
    size_t n_unknown; /* operators whose peer is not known */
};
bool p2p_pairs_add(struct p2p_pairs *p, const struct mode_context *c,
                   const struct rank_summary *r); /* false: no memory, or see c->e */

#endif
