/* SPDX-License-Identifier: Apache-2.0 */
/* model_names.h - the names of models. */
#ifndef ASCOPE_EXPORT_MSPROF_MODEL_NAMES_H
#define ASCOPE_EXPORT_MSPROF_MODEL_NAMES_H

#include "base/table.h"
#include "profile/profile.h"

/* N/A: unknown. A collection has a handful of models; the last name counts. */
static inline struct cell model_name_cell(const struct profile *p, uint64_t model)
{
    const struct graph_ids *g = &p->host.records.graph_ids;
    for (size_t i = g->n; i > 0; i--)
        if (g->model[i - 1] == model)
            return cell_name(dictionary_hash(&p->dictionary, g->name[i - 1]));
    return cell_na();
}

#endif
