/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/stamp.h"

void question_refuse(struct http_reply *r, int status, const char *why)
{
    r->status = status;
    r->type = "text/plain; charset=utf-8";
    r->out->n = 0;
    out_bytes(r->out, why, strlen(why));
}

void json_put_key(struct out *o, const char *key)
{
    if (o->n && o->buf[o->n - 1] != '{' && o->buf[o->n - 1] != '[')
        out_char(o, ',');
    out_json(o, key, strlen(key));
    out_char(o, ':');
}
void json_put_text(struct out *o, const char *key, const char *text)
{
    json_put_key(o, key);
    out_json(o, text, strlen(text));
}
void json_put_name(struct out *o, const char *key, const struct names *names, name_id id)
{
    json_put_key(o, key);
    out_json(o, names_text(names, id), names_len(names, id));
}
void json_put_int(struct out *o, const char *key, int64_t v)
{
    json_put_key(o, key);
    out_i64(o, v);
}
void json_put_bool(struct out *o, const char *key, bool v)
{
    json_put_key(o, key);
    out_bytes(o, v ? "true" : "false", v ? 4 : 5);
}
/* Between elements of an array or object that is being written. */
void json_put_comma(struct out *o, bool is_first)
{
    if (!is_first)
        out_char(o, ',');
}

int64_t question_ns(const struct question *a, int64_t ns)
{
    return wrap_sub(ns, a->t->begin_ns);
}

/* The range of a question, in ns of the trace. */
bool question_range(struct question *a, int64_t *begin_ns, int64_t *end_ns)
{
    int64_t t0, t1;
    if (!http_parameter_i64(a->q, "t0", &t0) || !http_parameter_i64(a->q, "t1", &t1) || t1 < t0) {
        question_refuse(a->r, 400, "t0, t1: wanted two numbers, the second not below the first");
        return false;
    }
    *begin_ns = stamp_add(a->t->begin_ns, stamp_held(t0));
    *end_ns = stamp_add(a->t->begin_ns, stamp_held(t1));
    return true;
}

/* "3,4,17": levels that exist. */
bool question_levels(struct question *a, uint32_t *level, size_t *n)
{
    char *text = malloc(HTTP_REQUEST_BYTES);
    bool is_good = text && http_parameter(a->q, "levels", text, HTTP_REQUEST_BYTES);
    *n = 0;
    for (char *at = text; is_good && *at;) {
        char *end = at;
        const unsigned long v = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : ULONG_MAX;
        is_good = v < view_n_levels(a->t) && *n < QUESTION_LEVELS && (*end == ',' || !*end);
        if (is_good) {
            level[(*n)++] = (uint32_t)v;
            at = *end ? end + 1 : end;
        }
    }
    free(text);
    if (!is_good)
        question_refuse(a->r, 400, "levels: wanted numbers of levels, with commas between them");
    return is_good;
}
