/* SPDX-License-Identifier: Apache-2.0 */
/* answers.h - registry: what answers the questions of the pages. */
#ifndef ASCOPE_VIEW_ANSWERS_ANSWERS_H
#define ASCOPE_VIEW_ANSWERS_ANSWERS_H

#include "view/rows/view_input.h"
#include "view/server/http.h"

/* view_api.c: the API of the pages: a table of questions.
 *
 * Times in questions and answers are ns from the begin of the timeline: a number of JavaScript is exact for 104 days
 * of ns. Blocks and values of counters are binary, little-endian, in columns; everything else is JSON. pages/api.js is
 * the client. */

struct view {
    struct view_input *input;
    size_t n_inputs;
};

/* The answer to what follows "api/" in the path. An unknown question is 404, a wrong one 400 with a line that says what
 * is wrong. */
void view_answer(const struct view *v, const char *what, const struct http_request *q, struct http_reply *r);

/* question.c: a request of a page to the API, and what all answers need: its parameters, and writing JSON. */

struct question {
    const struct view *view;
    const struct view_input *in; /* ready; NULL where the question is about none */
    const struct view_timeline *t;
    const struct http_request *q;
    struct http_reply *r;
    struct out *o;
};

/* Ends the answer with a status and one line that says what is wrong. */
void question_refuse(struct http_reply *r, int status, const char *why);

int64_t question_ns(const struct question *a, int64_t ns); /* counted from the begin of the timeline */
/* Parameters t0 and t1, in ns of the trace; and levels, "3,4,17". False: the question was refused. */
bool question_range(struct question *a, int64_t *begin_ns, int64_t *end_ns);
enum { QUESTION_LEVELS = 4096 };
bool question_levels(struct question *a, uint32_t *level, size_t *n);

/* Members of an object, with a comma before all but the first. */
void json_put_key(struct out *o, const char *key);
void json_put_text(struct out *o, const char *key, const char *text);
void json_put_name(struct out *o, const char *key, const struct names *names, name_id id);
void json_put_int(struct out *o, const char *key, int64_t v);
void json_put_bool(struct out *o, const char *key, bool v);
void json_put_comma(struct out *o, bool is_first); /* between elements */

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
