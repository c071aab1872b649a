/* SPDX-License-Identifier: Apache-2.0 */
/* view_progress.h - how far the loading of an input is: written by the thread that loads, read by those that answer.
 *
 * Loading is a few stages, each with a share of the whole and an expected number of units of work, as progress_work()
 * counts them. The share that is done never decreases during a load.
 */
#ifndef ASCOPE_VIEW_SERVER_VIEW_PROGRESS_H
#define ASCOPE_VIEW_SERVER_VIEW_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/process/progress.h"

enum view_stage { VIEW_READING, VIEW_DRAWING, VIEW_ARRANGING };

struct view_progress {
    atomic_int stage;              /* enum view_stage */
    atomic_uint from, until, most; /* percent: begin and end of the stage, and the largest value returned so far */
    atomic_ullong worked, expected, begun_ns;
    struct progress_left left;
};

void view_progress_begin(
    struct view_progress *p); /* by the loading thread: its progress_work() is counted from now on */
void view_progress_stage(struct view_progress *p, enum view_stage stage, unsigned from, unsigned until,
                         uint64_t expected);
void view_progress_end(struct view_progress *p);
unsigned view_progress_percent(struct view_progress *p);
double view_progress_left_s(struct view_progress *p); /* to show; negative: it is too early to say */

#endif
