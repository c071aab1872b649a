/* SPDX-License-Identifier: Apache-2.0 */
/* answer_roofline.h - the answer about the work of kernels: the longest rows, and the roofs of their devices. */
#ifndef ASCOPE_VIEW_ANSWER_ROOFLINE_H
#define ASCOPE_VIEW_ANSWER_ROOFLINE_H

#include "view/question.h"

void answer_roofline(struct question *a);

#endif
