/* SPDX-License-Identifier: Apache-2.0 */
/* storages.h - the storages of tensors: which tensors share memory.
 *
 * A tensor has the address of its storage, and an allocator reports which addresses it allocated and freed. In order of
 * time, an address on a device is a new storage when it is first seen and after it was freed. An allocation without any
 * tensor is a storage, too, of unknown purpose.
 */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_STORAGES_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_STORAGES_H

#include "analyse/memory_timeline/event_tree.h"
#include "base/memory/keys.h"

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

#endif
