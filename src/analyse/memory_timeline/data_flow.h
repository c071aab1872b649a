/* SPDX-License-Identifier: Apache-2.0 */
/* data_flow.h - the data flow between operators: a graph of operators and of the values that they read, write, create
 * and free.
 *
 * A value is a storage between two writes: version 0 is its content when it is created, or before the first write. A
 * node is an outermost operator that is registered or of the backward pass, with everything in it, or an allocation
 * outside of all such. Nodes are in order of begin, and the edges of a node in order of their storages.
 */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_DATA_FLOW_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_DATA_FLOW_H

#include "analyse/memory_timeline/storages.h"

enum { EDGE_MAKES = 1, EDGE_FREES = 2, EDGE_WRITES = 4 }; /* EDGE_FREES and EDGE_WRITES exclude each other */

struct flow_edge {
    uint32_t storage;
    uint32_t version; /* that comes in; 0 where it is made */
    uint8_t what;
};

struct data_flow {
    size_t n_nodes;
    uint32_t *at;         /* position in the tree */
    uint32_t *first_edge; /* n_nodes + 1 */
    struct flow_edge *edge;
    /* by storage */
    uint32_t *first_value; /* n + 1: values are numbered by storage, then by version */
    bool *is_used;         /* it has an edge */
    size_t n_values;
};

/* Whether a value is an input: the node uses the storage and does not create it. */
static inline bool edge_comes_in(const struct flow_edge *e)
{
    return !(e->what & EDGE_MAKES);
}
static inline uint32_t edge_value_in(const struct data_flow *d, const struct flow_edge *e)
{
    return d->first_value[e->storage] + e->version;
}
/* Whether a value is an output: the node creates the storage and does not free it, or writes to it. */
static inline bool edge_goes_out(const struct flow_edge *e)
{
    return (e->what & (EDGE_MAKES | EDGE_FREES)) == EDGE_MAKES || (e->what & EDGE_WRITES);
}
static inline uint32_t edge_value_out(const struct data_flow *d, const struct flow_edge *e)
{
    return d->first_value[e->storage] + (e->what & EDGE_MAKES ? 0 : e->version + 1);
}
/* Whether the node both creates and frees the storage. */
static inline bool edge_is_inside(const struct flow_edge *e)
{
    return (e->what & EDGE_MAKES) && (e->what & EDGE_FREES);
}

bool data_flow_build(struct data_flow *d, const struct event_tree *t, const struct storages *s, struct arena *mem,
                     struct error *e);

#endif
