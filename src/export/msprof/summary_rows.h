/* SPDX-License-Identifier: Apache-2.0 */
/* summary_rows.h - the operators of a scope in the order of summaries: by device and begin, kernels and collectives
 * together. */
#ifndef ASCOPE_EXPORT_MSPROF_SUMMARY_ROWS_H
#define ASCOPE_EXPORT_MSPROF_SUMMARY_ROWS_H

#include "export/export.h"

struct summary_row {
    uint32_t row;    /* of the device's tasks, or of its collectives */
    uint16_t device; /* which one of the profile, from 0 */
    bool is_comm;
};

struct summary_rows {
    size_t n;
    struct summary_row *at;
    bool has_ops; /* false: the host recorded no operators, so that only collectives are known */
};

/* Allocated in x->mem. False: no memory. */
bool summary_rows_build(const struct export *x, struct summary_rows *out, struct error *e);

static inline const struct device *summary_device(const struct export *x, const struct summary_row *r)
{
    return &x->profile->device[r->device];
}
int64_t summary_begin_ns(const struct export *x, const struct summary_row *r);
int64_t summary_end_ns(const struct export *x, const struct summary_row *r);

#endif
