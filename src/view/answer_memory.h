/* SPDX-License-Identifier: Apache-2.0 */
/* answer_memory.h - answers about memory: what an allocator held over time, and the blocks that were alive at a
 * moment. */
#ifndef ASCOPE_VIEW_ANSWER_MEMORY_H
#define ASCOPE_VIEW_ANSWER_MEMORY_H

#include "view/question.h"

void answer_memory(struct question *a);
void answer_memory_at(struct question *a);

#endif
