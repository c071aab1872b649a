/* SPDX-License-Identifier: Apache-2.0 */
/* answers.h - registry: what answers the questions of the pages. */
#ifndef ASCOPE_VIEW_ANSWERS_ANSWERS_H
#define ASCOPE_VIEW_ANSWERS_ANSWERS_H

#include "view/answers/question.h"

/* answer_flame.c: the answer that is drawn as a flame graph: the largest nodes of a tree of slices, the rest
 * counted. */
void answer_flame(struct question *a);

/* answer_memory.c: answers about memory: what an allocator held over time, and the blocks that were alive at a
 * moment. */
void answer_memory(struct question *a);
void answer_memory_at(struct question *a);

/* answer_place.c: where to look in a timeline: the slice that a cause is about, the device tracks that work meanwhile,
 * and the whole timeline at a glance. */
void answer_place(struct question *a);
void answer_minimap(struct question *a);

/* answer_roofline.c: the answer about the work of kernels: the longest rows, and the roofs of their devices. */
void answer_roofline(struct question *a);

/* answer_search.c: answers over many slices: which have a text, and statistics of a selected area. */
void answer_search(struct question *a);
void answer_area(struct question *a);

/* answer_slices.c: answers about slices: blocks of a view, counters, one slice with its arguments and flows. */
void answer_slices(struct question *a);
void answer_counter(struct question *a);
void answer_slice(struct question *a);
void answer_neighbour(struct question *a);

/* answer_tables.c: answers with tables: their list, one of them sorted and filtered, and the result of an SQL
 * statement. */
void answer_tables(struct question *a);
void answer_table(struct question *a);
void answer_sql(struct question *a);

#endif
