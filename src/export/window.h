/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - the time window in which a device worked on the exported iterations, or the host for it. Wall clock. */
#ifndef ASCOPE_EXPORT_WINDOW_H
#define ASCOPE_EXPORT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct window {
    bool has_any; /* false: this device ran none of them */
    int64_t begin_ns, end_ns;
    int64_t lead_ns;  /* the end of the iteration before, of any model; INT64_MIN when there was none */
    int64_t shown_ns; /* where its timeline begins: what led up to the first iteration of a model belongs to it */
};

#endif
