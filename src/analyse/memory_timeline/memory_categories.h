/* SPDX-License-Identifier: Apache-2.0 */
/* memory_categories.h - the categories of memory (parameters, gradients, activations, …), inferred from what was
 * computed with it.
 *
 * They are not recorded. The parameters of modules and optimizers and the accumulation of gradients are certain; the
 * rest follows from the data flow. The category of a value is that of its storage if it has one, then "temporary" if it
 * is, then its own.
 */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_MEMORY_CATEGORIES_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_MEMORY_CATEGORIES_H

#include "analyse/memory_timeline/data_flow.h"

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
