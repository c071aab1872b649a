/* SPDX-License-Identifier: Apache-2.0 */
/* step_collectives.h - the collectives of a collection by step: first those between two ranks (p2p), then the others.
 *
 * Everything is in the arena of the caller.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_STEP_COLLECTIVES_H
#define ASCOPE_EXPORT_FRAMEWORK_STEP_COLLECTIVES_H

#include "export/comm/analyze_rows.h"
#include "export/framework/collection_export.h"

enum { KIND_P2P, KIND_COLLECTIVE, KINDS };
extern const char *const collective_kind_name[KINDS];

struct step_collectives {
    enum framework_id framework_id;
    struct collectives all;
    struct collective_place *place; /* of each */
    size_t n_steps;                 /* at least one: without steps, all are in one that has no number */
    name_id *step;                  /* "step3" */
    uint32_t *order;                /* collectives that have a place: by step, by kind, as they are listed */
    uint32_t *first;                /* of each step and kind: its first position in `order`; with one more behind */
};

/* `in_any_case`: where no step has any, they are all in one that has no number. `has_any`: there is something to
 * report; else nothing of the above is set. False only without memory. */
bool step_collectives_find(struct step_collectives *c, const struct collection_export *x, bool in_any_case,
                           bool *has_any);

/* Sums of a step and kind: without a start, and without what is no sum. */
void json_step_total(const struct comm_cost *total, struct out *o);

static inline size_t bin_of(size_t step, int kind)
{
    return step * KINDS + (size_t)kind;
}

#endif
