/* SPDX-License-Identifier: Apache-2.0 */
#include "load/plain/plain_value.h"

#include <string.h>

#include "base/text/json_items.h"
#include "base/text/json_scan.h"

/* Reads JSON as plain values. */

struct json_copy {
    struct plain *p;
    const char *text;
    struct arena *mem;
};

static plain_id json_copy_text(struct json_copy *c, struct json_item item)
{
    const struct json_span span = { c->text + item.at, item.end - item.at };
    struct json_span plain;
    struct plain_node v = { .kind = PLAIN_TEXT };
    if (json_plain(span, &plain)) {
        v.text = plain.at;
        v.n = (uint32_t)plain.len;
    } else {
        char *decoded = arena_take(c->mem, span.len + 1, 1);
        if (!decoded)
            return 0;
        v.n = (uint32_t)json_decode(span, decoded);
        v.text = decoded;
    }
    return plain_add(c->p, v, c->mem);
}

static plain_id json_copy_number(struct json_copy *c, struct json_item item)
{
    const struct json_span span = { c->text + item.at, item.end - item.at };
    struct plain_node v = { .kind = PLAIN_INTEGER };
    if (item.kind != ITEM_INTEGER || !json_fixed(span, 0, &v.integer)) {
        v.kind = PLAIN_REAL;
        json_double(span, &v.real);
    }
    return plain_add(c->p, v, c->mem);
}

static plain_id json_copy_value(struct json_copy *c, struct json_item item);

/* The depth was limited when the text was checked. */
static plain_id json_copy_container(struct json_copy *c, struct json_item item) /* NOLINT(misc-no-recursion) */
{
    const bool is_dict = item.kind == ITEM_OBJECT;
    const plain_id to = plain_add(c->p, (struct plain_node){ .kind = is_dict ? PLAIN_DICT : PLAIN_LIST }, c->mem);
    struct json_item key = { 0 }, value;
    size_t at = 0;
    while (to && (is_dict ? json_member_next(c->text, item, &at, &key, &value)
                          : json_element_next(c->text, item, &at, &value))) {
        plain_id pair[2];
        size_t n = 0;
        if (is_dict && !(pair[n++] = json_copy_text(c, key)))
            return 0;
        if (!(pair[n++] = json_copy_value(c, value)) || plain_append(c->p, to, pair, n, c->mem) != PLAIN_ADDED)
            return 0;
    }
    return to;
}

static plain_id json_copy_value(struct json_copy *c, struct json_item item) /* NOLINT(misc-no-recursion) */
{
    switch (item.kind) {
    case ITEM_STRING: return json_copy_text(c, item);
    case ITEM_INTEGER:
    case ITEM_REAL: return json_copy_number(c, item);
    case ITEM_BOOLEAN:
        return plain_add(c->p, (struct plain_node){ .kind = PLAIN_BOOL, .integer = c->text[item.at] == 't' }, c->mem);
    case ITEM_NULL: return plain_add(c->p, (struct plain_node){ .kind = PLAIN_NONE }, c->mem);
    case ITEM_OBJECT:
    case ITEM_ARRAY: return json_copy_container(c, item);
    }
    return 0;
}

static bool plain_json_read(struct plain *p, const char *bytes, size_t n, const char *name, struct arena *mem,
                            struct error *e)
{
    static const struct json_limits limits = { .objects = PLAIN_DEPTH / 2,
                                               .arrays = PLAIN_DEPTH / 2,
                                               .allows_mark = true };
    struct json_item root;
    struct json_fault f;
    struct json_copy c = { p, bytes, mem };
    *p = (struct plain){ 0 };
    if (n >= UINT32_MAX)
        return error_set(e, FAULT_LIMIT, "%s: larger than 4 GiB", name);
    if (!json_items_check(bytes, n, &limits, &root, &f))
        return error_set(e, FAULT_FORMAT, "%s:%zu: neither a pickle nor JSON: %s", name, f.at, f.why);
    p->root = json_copy_value(&c, root);
    return p->root || error_no_memory(e, name);
}

bool plain_read(struct plain *p, const uint8_t *bytes, size_t n, const char *name, struct arena *mem, struct error *e)
{
    static const uint8_t pickle_begin = 0x80;
    if (n > 0 && bytes[0] == pickle_begin)
        return plain_pickle_read(p, bytes, n, name, mem, e);
    return plain_json_read(p, (const char *)bytes, n, name, mem, e);
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

bool plain_is(const struct plain *p, plain_id v, enum plain_kind kind)
{
    return v && p->node.at[v].kind == kind;
}

size_t plain_n(const struct plain *p, plain_id list)
{
    return plain_is(p, list, PLAIN_LIST)   ? p->node.at[list].n
           : plain_is(p, list, PLAIN_DICT) ? p->node.at[list].n / 2
                                           : 0;
}

plain_id plain_item(const struct plain *p, plain_id list, size_t i)
{
    return plain_is(p, list, PLAIN_LIST) && i < plain_n(p, list) ? p->node.at[list].item[i] : 0;
}

plain_id plain_key(const struct plain *p, plain_id dict, size_t i)
{
    return plain_is(p, dict, PLAIN_DICT) && i < plain_n(p, dict) ? p->node.at[dict].item[2 * i] : 0;
}

plain_id plain_value(const struct plain *p, plain_id dict, size_t i)
{
    return plain_is(p, dict, PLAIN_DICT) && i < plain_n(p, dict) ? p->node.at[dict].item[2 * i + 1] : 0;
}

bool plain_equals(const struct plain *p, plain_id v, const char *text)
{
    const size_t n = strlen(text);
    return plain_is(p, v, PLAIN_TEXT) && p->node.at[v].n == n && memcmp(p->node.at[v].text, text, n) == 0;
}

plain_id plain_member(const struct plain *p, plain_id dict, const char *key)
{
    for (size_t i = plain_n(p, dict); i-- > 0;)
        if (plain_equals(p, plain_key(p, dict, i), key))
            return plain_value(p, dict, i);
    return 0;
}

int64_t plain_integer(const struct plain *p, plain_id v, int64_t otherwise)
{
    static const size_t most_digits = 18;
    if (plain_is(p, v, PLAIN_INTEGER) || plain_is(p, v, PLAIN_BOOL))
        return p->node.at[v].integer;
    if (!plain_is(p, v, PLAIN_TEXT) || p->node.at[v].n == 0)
        return otherwise;
    const struct plain_node *t = &p->node.at[v];
    const bool is_negative = t->text[0] == '-';
    int64_t value = 0;
    size_t i = is_negative;
    if (t->n == i || t->n - i > most_digits)
        return otherwise;
    for (; i < t->n; i++) {
        if (t->text[i] < '0' || t->text[i] > '9')
            return otherwise;
        value = value * 10 + (t->text[i] - '0');
    }
    return is_negative ? -value : value;
}

const char *plain_text(const struct plain *p, plain_id v, struct arena *mem)
{
    return plain_is(p, v, PLAIN_TEXT) ? arena_text(mem, p->node.at[v].text, p->node.at[v].n) : "";
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

plain_id plain_add(struct plain *p, struct plain_node v, struct arena *mem)
{
    if (p->node.n == 0 && !list_add(&p->node, mem))
        return 0;
    struct plain_node *to = p->node.n < UINT32_MAX ? list_add(&p->node, mem) : NULL;
    if (!to)
        return 0;
    *to = v;
    return (plain_id)(p->node.n - 1);
}

/* A container that is an item grows no more: so none can contain itself, and its height stays what its owner has
 * seen. */
enum plain_trouble plain_append(struct plain *p, plain_id to, const plain_id *items, size_t n, struct arena *mem)
{
    struct plain_node *c = &p->node.at[to];
    if (n == 0)
        return PLAIN_ADDED;
    uint8_t height = c->height;
    for (size_t i = 0; i < n; i++) {
        struct plain_node *item = &p->node.at[items[i]];
        item->is_used = true;
        if (item->height + 1 > height)
            height = (uint8_t)(item->height + 1);
    }
    if (c->is_used)
        return PLAIN_CYCLE;
    if (height > PLAIN_DEPTH)
        return PLAIN_TOO_DEEP;
    if (n > UINT32_MAX / 4 - c->n)
        return PLAIN_NO_MEMORY;
    size_t cap = c->cap;
    const size_t wanted = c->n + n, room = c->n == 0 || wanted > 2 * cap ? wanted : 2 * cap;
    if (wanted > cap && !list_room(mem, (void **)&c->item, c->n, &cap, sizeof *c->item, room))
        return PLAIN_NO_MEMORY;
    memcpy(c->item + c->n, items, n * sizeof *items);
    c->n += (uint32_t)n;
    c->cap = (uint32_t)cap;
    c->height = height;
    return PLAIN_ADDED;
}
