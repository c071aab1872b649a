/* SPDX-License-Identifier: Apache-2.0 */
/* step_rows.h - the iterations of one device as its reports show them: rows and numbers.
 *
 * The two presentations differ. Whole collections show what began during the collection, and drop fractions of a nanosecond.
 * The older one shows every iteration, and keeps them.
 */
#ifndef ASCOPE_EXPORT_MSPROF_STEP_ROWS_H
#define ASCOPE_EXPORT_MSPROF_STEP_ROWS_H

#include "export/export.h"

struct step_rows {
    const struct source *source;
    const struct steps *steps;
    bool is_generic;
    uint64_t first_index, last_index; /* only iterations between them */
    size_t n;
    uint32_t *row;      /* of steps.iterations, by their ends */
    uint64_t *data_aug; /* ticks from the end of the iteration before to the forward pass; 0: there was none before */
    uint32_t *first_reduce, *first_get_next; /* of each iteration and, one more, their number */
};

/* The rows of a device. False only without memory. */
bool step_rows_make(const struct export *x, const struct device *d, struct step_rows *r, struct error *e);
/* Keeps only the rows of the iterations of x's scope. */
void step_rows_choose(const struct export *x, struct step_rows *r);

/* True when something that began then is shown. */
bool step_rows_show(const struct step_rows *r, uint64_t begin_tick);
/* True when a row of steps.iterations is among the rows. */
bool step_rows_have(const struct step_rows *r, size_t iteration);

double step_us(const struct step_rows *r, uint64_t ticks); /* a duration with its fraction */
static inline int64_t step_ns(const struct step_rows *r, uint64_t ticks)
{
    return ticks_to_ns(r->source->device_clock.tick, (int64_t)ticks);
}

#endif
