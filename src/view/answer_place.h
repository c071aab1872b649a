/* SPDX-License-Identifier: Apache-2.0 */
/* answer_place.h - where to look in a timeline: the slice that a cause is about, the device tracks that work meanwhile,
 * and the whole timeline at a glance. */
#ifndef ASCOPE_VIEW_ANSWER_PLACE_H
#define ASCOPE_VIEW_ANSWER_PLACE_H

#include "view/question.h"

void answer_place(struct question *a);
void answer_minimap(struct question *a);

#endif
