/* SPDX-License-Identifier: Apache-2.0 */
/* event_args.h - the arguments of an event: in the timeline as an object, in the database as an array of keys and
 * values, which are the same but for some units. */
#ifndef ASCOPE_EXPORT_EVENT_ARGS_H
#define ASCOPE_EXPORT_EVENT_ARGS_H

#include "export/export.h"

enum { EVENT_MOST_ARGS = 24 };
struct event_args {
    bool of_db;
    size_t n;
    struct event_arg {
        const char *key;
        struct cell value; /* CELL_UINT, CELL_REAL, CELL_TEXT or CELL_NAME */
    } at[EVENT_MOST_ARGS];
};

static inline void event_arg(struct event_args *a, const char *key, struct cell value)
{
    if (a->n < EVENT_MOST_ARGS)
        a->at[a->n++] = (struct event_arg){ key, value };
}

void event_args_draw(const struct event_args *a, struct trace *t); /* begins, but does not end them */
/* The text of the array. NAME_EMPTY: no memory. */
struct cell event_args_cell(const struct event_args *a, const struct export *x, struct out *text);

#endif
