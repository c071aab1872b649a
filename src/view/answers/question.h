/* SPDX-License-Identifier: Apache-2.0 */
/* question.h - a request of a page to the API, and what all answers need: its parameters, and writing JSON. */
#ifndef ASCOPE_VIEW_ANSWERS_QUESTION_H
#define ASCOPE_VIEW_ANSWERS_QUESTION_H

#include "view/answers/view_api.h"

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

#endif
