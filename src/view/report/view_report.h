/* SPDX-License-Identifier: Apache-2.0 */
/* view_report.h - an input as one HTML page that needs no server: its overview, and a range of its timeline as SVG.
 *
 * The page has no script, and a policy that forbids loading anything; all names are escaped. Slices that are too short
 * to be seen are merged, as in the viewer.
 */
#ifndef ASCOPE_VIEW_REPORT_VIEW_REPORT_H
#define ASCOPE_VIEW_REPORT_VIEW_REPORT_H

#include "base/files/out.h"
#include "view/rows/view_input.h"

/* In ns from the begin of the timeline; end before begin: the range that the timeline page shows first. */
struct view_range {
    int64_t begin_ns, end_ns;
};

void view_report_begin(struct out *o, const char *title);
bool view_report_put(struct out *o, const struct view_input *in, struct view_range range); /* false: no memory */
void view_report_end(struct out *o);

#endif
