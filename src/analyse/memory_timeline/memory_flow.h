/* SPDX-License-Identifier: Apache-2.0 */
/* memory_flow.h - registry: from recorded operators to categories of memory: their tree, the storages, the data flow,
 * the categories. */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_MEMORY_FLOW_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_MEMORY_FLOW_H

#include "base/memory/keys.h"
#include "profile/framework.h"

/* event_tree.c: operators, Python calls and events of allocators, nested by thread.
 *
 * An event is a number: rows of framework_ops first, then of framework_memory, then of python_calls. The tree is one
 * array: an event is followed by those that it contains, then by the next one that it does not contain. The contents
 * of an event are therefore a range, whatever the depth. */

struct event_tree {
    const struct framework *f;
    size_t n;
    uint32_t *by_begin; /* events as they nest, see call_tree.c */
    uint32_t *event;    /* by position in the tree; what begins first stands first */
    uint32_t *end;      /* by position: behind the last that it encloses */
    bool *in_backward;  /* by position: it is, or is inside of, an operator of the backward pass */
    uint32_t *order;    /* positions in order of begin; of the same begin, in order of position */
};

enum event_kind { EVENT_OP, EVENT_MEMORY, EVENT_PYTHON };
struct event {
    enum event_kind kind;
    uint32_t row;
};
static inline struct event event_of(const struct framework *f, uint32_t number)
{
    if (number < f->ops.n)
        return (struct event){ EVENT_OP, number };
    number -= (uint32_t)f->ops.n;
    return number < f->memory.n ? (struct event){ EVENT_MEMORY, number }
                                : (struct event){ EVENT_PYTHON, number - (uint32_t)f->memory.n };
}
int64_t event_begin_ns(const struct framework *f, uint32_t number);

/* Returns of blocks to the pool are not events: another record freed the tensor. Allocated in mem. */
bool event_tree_build(struct event_tree *t, const struct framework *f, const struct names *names, struct arena *mem,
                      struct error *e);

/* storages.c: the storages of tensors: which tensors share memory.
 *
 * A tensor has the address of its storage, and an allocator reports which addresses it allocated and freed. In order
 * of time, an address on a device is a new storage when it is first seen and after it was freed. An allocation without
 * any tensor is a storage, too, of unknown purpose. */

struct storage {
    uint64_t bytes;     /* the first size that the allocator reported, or else the largest tensor in it */
    uint32_t device;    /* position among the devices */
    uint32_t place;     /* of its address among those of the device */
    bool has_tensor;    /* some tensor lay in it */
    bool has_allocator; /* an allocator took it or gave it back */
};

struct storage_device {
    int32_t type, number;
    struct keys addresses;
    LIST(uint32_t) current; /* by place of the address: the storage there now, NO_STORAGE after it was freed */
};

/* How an operator uses a tensor, as far as its overload is known. */
enum use { USE_READS, USE_WRITES, USE_UNKNOWN };
typedef uint32_t tensor_use; /* storage * 4 + enum use */
static inline uint32_t use_storage(tensor_use u)
{
    return u >> 2;
}
static inline enum use use_how(tensor_use u)
{
    return u & 3;
}

/* What a tensor is to modules and optimizers. */
enum role { ROLE_PARAMETER, ROLE_GRADIENT, ROLE_OPTIMIZER_STATE };
struct recorded_role {
    uint32_t storage;
    enum role role;
};

enum { NO_STORAGE = UINT32_MAX, MOST_STORAGES = 1 << 30 };

struct storages {
    LIST(struct storage) storage; /* in order of appearance */
    struct keys device_keys;
    LIST(struct storage_device) device;
    uint32_t *of_memory; /* by row of framework_memory; NO_STORAGE: it is no event */
    /* by row of framework_ops */
    uint32_t *first_use, *end_use; /* in `use` */
    bool *is_known;                /* some overload of a registered operator takes such inputs */
    bool *begins_with_tensor;      /* its first input is a tensor: that of its first use */
    LIST(tensor_use) use;
    LIST(struct recorded_role) recorded;
};

/* Texts that are no tensors are counted. Allocated in mem. */
bool storages_find(struct storages *s, const struct event_tree *t, const struct names *names, struct losses *lost,
                   struct arena *mem, struct error *e);

/* The device of a type and number; NO_STORAGE: nothing was seen of it. */
uint32_t storages_device(const struct storages *s, int32_t type, int32_t number);

/* data_flow.c: the data flow between operators: a graph of operators and of the values that they read, write, create
 * and free.
 *
 * A value is a storage between two writes: version 0 is its content when it is created, or before the first write. A
 * node is an outermost operator that is registered or of the backward pass, with everything in it, or an allocation
 * outside of all such. Nodes are in order of begin, and the edges of a node in order of their storages. */

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

/* memory_categories.c: the categories of memory (parameters, gradients, activations, …), inferred from what was
 * computed with it.
 *
 * They are not recorded. The parameters of modules and optimizers and the accumulation of gradients are certain; the
 * rest follows from the data flow. The category of a value is that of its storage if it has one, then "temporary" if
 * it is, then its own. */

/* In the order in which results show them. */
enum memory_category {
    MEMORY_PARAMETER,
    MEMORY_OPTIMIZER_STATE,
    MEMORY_INPUT,
    MEMORY_TEMPORARY,
    MEMORY_ACTIVATION,
    MEMORY_GRADIENT,
    MEMORY_AUTOGRAD_DETAIL,
    MEMORY_UNKNOWN,
    MEMORY_CATEGORIES
};
extern const char *const memory_category_name[MEMORY_CATEGORIES]; /* "PARAMETER" */

struct memory_categories {
    uint8_t *of_storage; /* MEMORY_UNKNOWN: it has none */
    bool *is_temporary;  /* by storage */
    uint8_t *of_value;
};

static inline enum memory_category memory_category_of(const struct memory_categories *c, uint32_t storage,
                                                      uint32_t value)
{
    return c->of_storage[storage] != MEMORY_UNKNOWN ? c->of_storage[storage]
           : c->is_temporary[storage]               ? MEMORY_TEMPORARY
                                                    : c->of_value[value];
}

bool memory_categories_find(struct memory_categories *c, const struct event_tree *t, const struct storages *s,
                            const struct data_flow *d, const struct names *names, struct arena *mem, struct error *e);

#endif
