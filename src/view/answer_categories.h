/* SPDX-License-Identifier: Apache-2.0 */
/* answer_categories.h - what memory was used for, over time. Found when a page asks for it first. */
#ifndef ASCOPE_VIEW_ANSWER_CATEGORIES_H
#define ASCOPE_VIEW_ANSWER_CATEGORIES_H

#include "view/question.h"

/* {"device": "npu:0", "names": [...], "points": [[ns, bytes of each...]...]}; without points where it cannot be known. */
void answer_memory_categories(struct question *a);

#endif
