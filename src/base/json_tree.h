/* SPDX-License-Identifier: Apache-2.0 */
/* json_tree.h - a JSON text as nodes that know their line: for files that people write by hand, whose mistakes are reported with the place.
 *
 * The tree refers to the text, which the caller keeps. Nodes are in the order of the text; that of the whole value is the first one.
 * Nesting is limited, as is the size of a text (JSON_TEXT_MOST). Needs no library, so that libascope can have it.
 */
#ifndef ASCOPE_BASE_JSON_TREE_H
#define ASCOPE_BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { JSON_TEXT_MOST = 64 << 20 };
enum json_kind {
    JSON_IS_NULL,
    JSON_IS_FALSE,
    JSON_IS_TRUE,
    JSON_IS_NUMBER,
    JSON_IS_TEXT,
    JSON_IS_LIST,
    JSON_IS_OBJECT
};

struct json_node {
    uint8_t kind;        /* enum json_kind */
    uint32_t line;       /* from 1 */
    uint32_t begin, end; /* of its text, quotes included */
    uint32_t after;      /* the node behind it and all that it contains */
};
struct json_tree {
    const char *text;
    struct json_node *node; /* n of them */
    uint32_t n;
};

/* False: "line 3: ...". Ends with json_tree_fini(), also then. */
bool json_tree_read(struct json_tree *t, const char *text, size_t n, struct error *e);
void json_tree_fini(struct json_tree *t);

/* The members of an object and the items of a list. The first one, or the next behind `i`; 0: there are no more. Of an object each
 * member is two nodes, the text of its key and (key + 1) its value: go on behind the value. */
uint32_t json_tree_first(const struct json_tree *t, uint32_t of);
uint32_t json_tree_next(const struct json_tree *t, uint32_t of, uint32_t i);

/* The value of the last member of this name, as most readers have it; 0: none. */
uint32_t json_tree_member(const struct json_tree *t, uint32_t object, const char *name);

/* The text of a node of this kind, without quotes and escapes. Owner: the caller, free(); NULL: out of memory. A NUL becomes U+FFFD. */
char *json_tree_text(const struct json_tree *t, uint32_t i);

/* A whole number, at most INT64_MAX away from 0; true and false count as 1 and 0. False: something else. */
bool json_tree_int(const struct json_tree *t, uint32_t i, int64_t *value);

#endif
