/* SPDX-License-Identifier: Apache-2.0 */
/* answer_flame.h - the answer that is drawn as a flame graph: the largest nodes of a tree of slices, the rest
 * counted. */
#ifndef ASCOPE_VIEW_ANSWER_FLAME_H
#define ASCOPE_VIEW_ANSWER_FLAME_H

#include "view/question.h"

void answer_flame(struct question *a);

#endif
