/* SPDX-License-Identifier: Apache-2.0 */
/* step_rows.h - the iterations of one device as its reports show them: which rows, and which numbers.
 *
 * The two presentations differ. The newer one shows iterations that began during the collection, in whole nanoseconds.
 * The older one (is_generic) shows every iteration, with fractions of a nanosecond.
 */
#ifndef ASCOPE_EXPORT_MSPROF_STEP_ROWS_H
#define ASCOPE_EXPORT_MSPROF_STEP_ROWS_H

#include "export/export.h"

struct step_rows {
    const struct source *source;
    const struct steps *steps;
    bool is_generic;
    uint64_t first_index, last_index; /* only iterations with an index in this range are rows */
    size_t n;
    uint32_t *row;      /* rows of steps.iterations, sorted by their ends */
    uint64_t *data_aug; /* ticks from the end of the previous row to the forward pass; 0: there is no previous row */
    uint32_t *first_reduce,
        *first_get_next; /* index of the first span of each iteration, and behind them the number of spans */
};

/* Makes the rows of a device, allocated in x->mem. False: no memory. */
bool step_rows_make(const struct export *x, const struct device *d, struct step_rows *r, struct error *e);
/* Keeps only the rows of the iterations of x's scope. */
void step_rows_choose(const struct export *x, struct step_rows *r);

/* True when the presentation shows what began at this tick. */
bool step_rows_show(const struct step_rows *r, uint64_t begin_tick);
/* True when a row of steps.iterations is among the rows. */
bool step_rows_have(const struct step_rows *r, size_t iteration);

double step_us(const struct step_rows *r, uint64_t ticks); /* a duration with its fraction */
static inline int64_t step_ns(const struct step_rows *r, uint64_t ticks)
{
    return ticks_to_ns(r->source->device_clock.tick, (int64_t)ticks);
}

#endif
