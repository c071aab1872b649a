/* SPDX-License-Identifier: Apache-2.0 */
/* json_items.h - strict JSON that people write, as pieces of its text: each value keeps its place, so that a message
 * can name the line and the column of what is wrong.
 *
 * The whole text is checked once, by the grammar of RFC 8259; then its objects are walked in their order, equal keys
 * included. Nothing is allocated but decoded strings. The text stays the caller's.
 */
#ifndef ASCOPE_BASE_TEXT_JSON_ITEMS_H
#define ASCOPE_BASE_TEXT_JSON_ITEMS_H

#include <stdbool.h>
#include <stddef.h>

enum json_item_kind { ITEM_STRING, ITEM_INTEGER, ITEM_REAL, ITEM_BOOLEAN, ITEM_NULL, ITEM_OBJECT, ITEM_ARRAY };
struct json_item {
    enum json_item_kind kind;
    size_t at, end; /* in the text; a string with its quotes */
};

/* What a text may contain beyond the grammar. */
struct json_limits {
    unsigned objects, arrays; /* nested in each other, each at most 64 */
    bool allows_mark;         /* a byte order mark in front */
};

struct json_fault {
    size_t at;
    char why[160]; /* "NaN is not JSON" */
};

/* False: the text is not one JSON value, and *f says where and why. */
bool json_items_check(const char *text, size_t n, const struct json_limits *limits, struct json_item *out,
                      struct json_fault *f);

/* The next member of an object of a checked text; *at is 0 before the first call. False: no more. */
bool json_member_next(const char *text, struct json_item object, size_t *at, struct json_item *key,
                      struct json_item *value);

/* The same for the elements of an array. */
bool json_element_next(const char *text, struct json_item array, size_t *at, struct json_item *value);

/* A string of a checked text, decoded; to be freed. NULL: out of memory. It may contain NUL. */
char *json_item_text(const char *text, struct json_item string, size_t *n);

/* Counted from 1; columns are characters. */
void json_place(const char *text, size_t at, unsigned *line, unsigned *column);

/* The same; places of one text that are asked for from its beginning to its end cost one walk. */
struct json_walk { /* all zeros: the beginning */
    size_t at;
    unsigned lines, columns; /* before it, in its line */
};
void json_place_next(struct json_walk *w, const char *text, size_t at, unsigned *line, unsigned *column);

#endif
