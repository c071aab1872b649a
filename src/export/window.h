/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - the time window in which a device worked on the exported iterations, or the host worked for it. Wall
 * clock. */
#ifndef ASCOPE_EXPORT_WINDOW_H
#define ASCOPE_EXPORT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct window {
    bool has_any; /* false: this device ran none of them, and the window is empty */
    int64_t begin_ns, end_ns;
    int64_t lead_ns;  /* the end of the previous iteration, of any model; INT64_MIN: there was none */
    int64_t shown_ns; /* where its timeline begins; INT64_MIN if iteration 1 is exported, with everything before it */
};

#endif
