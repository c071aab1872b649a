/* SPDX-License-Identifier: Apache-2.0 */
/* step_bounds.h - which step launched what, and when each step begins and ends.
 *
 * Work of a device belongs to the last step that had begun on the host when it was launched; what is launched after the
 * last step belongs to none.
 *
 * A step begins when it begins on the host. If the device still computes what earlier steps launched, it begins when
 * the device gets to it: when their work ends, or at its own first kernel, whichever is first. So a host that runs
 * ahead makes no short steps at the begin and no long one at the end, and a collective or a copy that lasts beyond its
 * step delays no other step. A step ends when it has ended on the host, and the work of all steps so far on the device,
 * but not after the begin of the next one. So steps do not overlap.
 *
 * Life: step_bounds_begin(), then each piece of work, then step_bounds_end().
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_BOUNDS_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

struct step_bounds {
    size_t n;
    const int64_t *host_begin_ns, *host_end_ns; /* ascending; lent */
    int64_t before_ns;                          /* the end of what was launched before the first step */
    int64_t *kernel_ns, *first_ns, *last_ns;    /* begin of its first kernel, of its first work; end of its last work */
};

bool step_bounds_begin(struct step_bounds *b, const int64_t *host_begin_ns, const int64_t *host_end_ns, size_t n,
                       struct arena *mem); /* false: no memory */

/* One piece of work. Returns its step, or NO_ROW. */
uint32_t step_bounds_add(struct step_bounds *b, int64_t launch_ns, int64_t begin_ns, int64_t end_ns, bool is_kernel);

/* The step of what was launched at a moment, or NO_ROW. */
uint32_t step_launching(const int64_t *host_begin_ns, const int64_t *host_end_ns, size_t n, int64_t launch_ns);

/* device_end_ns: of the last work that the step launched, which may be after its end; INT64_MIN: it launched nothing. */
void step_bounds_end(struct step_bounds *b, int64_t *begin_ns, int64_t *end_ns, int64_t *device_end_ns);

#endif
