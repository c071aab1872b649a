/* SPDX-License-Identifier: Apache-2.0 */
/* answer_search.h - answers over many slices: which have a text, and statistics of a selected area. */
#ifndef ASCOPE_VIEW_ANSWER_SEARCH_H
#define ASCOPE_VIEW_ANSWER_SEARCH_H

#include "view/question.h"

void answer_search(struct question *a);
void answer_area(struct question *a);

#endif
