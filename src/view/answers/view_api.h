/* SPDX-License-Identifier: Apache-2.0 */
/* view_api.h - the API of the pages: a table of questions.
 *
 * Times in questions and answers are ns from the begin of the timeline: a number of JavaScript is exact for 104 days of
 * ns. Blocks and values of counters are binary, little-endian, in columns; everything else is JSON. pages/api.js is the
 * client.
 */
#ifndef ASCOPE_VIEW_ANSWERS_VIEW_API_H
#define ASCOPE_VIEW_ANSWERS_VIEW_API_H

#include "view/server/http.h"
#include "view/rows/view_input.h"

struct view {
    struct view_input *input;
    size_t n_inputs;
};

/* The answer to what follows "api/" in the path. An unknown question is 404, a wrong one 400 with a line that says what
 * is wrong. */
void view_answer(const struct view *v, const char *what, const struct http_request *q, struct http_reply *r);

#endif
