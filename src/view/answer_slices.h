/* SPDX-License-Identifier: Apache-2.0 */
/* answer_slices.h - answers about slices: blocks of a view, counters, one slice with its arguments and flows. */
#ifndef ASCOPE_VIEW_ANSWER_SLICES_H
#define ASCOPE_VIEW_ANSWER_SLICES_H

#include "view/question.h"

void answer_slices(struct question *a);
void answer_counter(struct question *a);
void answer_slice(struct question *a);
void answer_neighbour(struct question *a);

#endif
