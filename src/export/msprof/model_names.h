/* SPDX-License-Identifier: Apache-2.0 */
/* model_names.h - the names of models. */
#ifndef ASCOPE_EXPORT_MSPROF_MODEL_NAMES_H
#define ASCOPE_EXPORT_MSPROF_MODEL_NAMES_H

#include "base/text/table.h"
#include "profile/profile.h"

/* The name under which a model was loaded last. False: unknown, and *name stays as it was. A collection has a handful
 * of models. */
static inline bool model_name_find(const struct profile *p, uint64_t model, name_id *name)
{
    const struct graph_ids *g = &p->host.records.graph_ids;
    for (size_t i = g->n; i > 0; i--)
        if (g->model[i - 1] == model) {
            *name = dictionary_hash(&p->dictionary, g->name[i - 1]);
            return true;
        }
    return false;
}

static inline struct cell model_name_cell(const struct profile *p, uint64_t model)
{
    name_id name;
    return model_name_find(p, model, &name) ? cell_name(name) : cell_na();
}

#endif
