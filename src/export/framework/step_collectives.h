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
    struct collective_place *place; /* of each collective */
    size_t n_steps;                 /* without steps 1: all collectives are in one step without a number */
    name_id *step;                  /* "step3" */
    uint32_t *order; /* the collectives that have a place, sorted by step, then by kind, then as they are listed */
    uint32_t *first; /* by bin_of(): the first position of a step and kind in `order`; one more at the end */
};

/* `in_any_case`: if no collective is in a step, all of them are put into one step without a number. *has_any is false
 * when there is nothing to report; the fields above are not set then. False: no memory. */
bool step_collectives_find(struct step_collectives *c, const struct collection_export *x, bool in_any_case,
                           bool *has_any);

/* Writes the sum of a step and kind: without a start time and without ratios of links. */
void json_step_total(const struct comm_cost *total, struct out *o);

static inline size_t bin_of(size_t step, int kind)
{
    return step * KINDS + (size_t)kind;
}

#endif
