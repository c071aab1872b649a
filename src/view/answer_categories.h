/* SPDX-License-Identifier: Apache-2.0 */
/* answer_categories.h - memory by category over time. Computed when a page requests it for the first time. */
#ifndef ASCOPE_VIEW_ANSWER_CATEGORIES_H
#define ASCOPE_VIEW_ANSWER_CATEGORIES_H

#include "view/question.h"

/* {"device": "npu:0", "names": [...], "points": [[ns, bytes of each...]...]}; without points if the collection lacks
 * the data. */
void answer_memory_categories(struct question *a);

#endif
