/* SPDX-License-Identifier: Apache-2.0 */
#include "load/plain/plain_json.h"

#include "base/text/json_items.h"
#include "base/text/json_scan.h"

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

bool plain_json_read(struct plain *p, const char *bytes, size_t n, const char *name, struct arena *mem, struct error *e)
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
