/* SPDX-License-Identifier: Apache-2.0 */
/* report_answers.h - what cluster, advise and compare answer, in a report: the parts of an overview that pages/job.js
 * and pages/advice.js show in the viewer. */
#ifndef ASCOPE_VIEW_REPORT_REPORT_ANSWERS_H
#define ASCOPE_VIEW_REPORT_REPORT_ANSWERS_H

#include "base/files/out.h"
#include "view/rows/view_input.h"

enum report_side { REPORT_ABOVE_STEPS, REPORT_BELOW_STEPS };

bool report_answers(struct out *o, const struct view_input *in, enum report_side side); /* false: no memory */

#endif
