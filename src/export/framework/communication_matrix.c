/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/communication_matrix.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory/sort.h"

static const char *const torch_word[] = { "send",      "reduce",   "invalid",       "broadcast",
                                          "allreduce", "receive",  "allgather",     "reducescatter",
                                          "scatter",   "alltoall", "batchsendrecv", NULL };
/* In the order of MindSpore's own list, of which the first match counts: "alltoall" hides "alltoallv". */
static const char *const ms_word[] = { "invalid", "broadcast", "allreduce", "reduce",     "allgather", "reducescatter",
                                       "scatter", "alltoall",  "alltoallv", "alltoallvc", NULL };
static const char *const ms_p2p_word[] = { "receive", "send", NULL };

const struct matrix_rules matrix_rules[FRAMEWORKS] = {
    [FRAMEWORK_PYTORCH] = { { torch_word, torch_word }, NULL, "__", "Op Name", false, false },
    [FRAMEWORK_MINDSPORE] = { { ms_word, ms_p2p_word }, "/", "-op", "op_name", true, true },
};

enum { COLLECTIVE_NAME = 1024 }; /* longer names are cut */

static const char *last_of(const char *text, const char *what)
{
    const char *at = text;
    for (const char *next; what && (next = strstr(at, what));)
        at = next + strlen(what);
    return at;
}

name_id collective_type(const struct matrix_rules *r, bool is_p2p, struct names *names, name_id collective,
                        name_id group)
{
    const char *name = names_text(names, collective);
    for (const char *at = name; *at; at++)
        for (const char *const *word = r->word[is_p2p]; *word; word++)
            if (strncasecmp(at, *word, strlen(*word)) == 0)
                return names_addz(names, *word);
    const char *from = last_of(name, r->before), *end = strstr(from, r->after);
    const size_t len = end ? (size_t)(end - from) : strlen(from);
    if (!r->has_whole_names)
        return names_add(names, from, len);
    char text[COLLECTIVE_NAME];
    const int n = end ? snprintf(text, sizeof text, "%.*s", (int)len, from)
                      : snprintf(text, sizeof text, "%s@%s", from, names_text(names, group));
    for (char *c = text; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    return names_add(names, text, n < COLLECTIVE_NAME ? (size_t)n : COLLECTIVE_NAME - 1);
}

static const char *const key_name[MATRIX_KEYS] = { "top1", "middle", "bottom1", "total", "bottom2", "bottom3" };

void matrix_clear(struct matrix *m)
{
    keys_clear(&m->type_groups), keys_clear(&m->pairs), keys_clear(&m->bundles), keys_clear(&m->keys);
    m->transfer.n = m->bundle.n = m->slowness.n = m->order.n = m->row.n = m->key.n = m->row_order.n = 0;
}

static uint64_t fastest_first(double gbs)
{
    uint64_t bits;
    memcpy(&bits, &gbs, sizeof bits); /* not negative: they sort as their values */
    return ~bits;
}

bool matrix_add(struct matrix *m, name_id collective, name_id group, const struct comm_links *links)
{
    struct arena *mem = m->mem;
    const uint32_t type_group =
        keys_add(&m->type_groups,
                 (uint64_t)collective_type(m->rules, m->is_p2p, m->names, collective, group) << 32 | group, mem);
    for (size_t i = 0; i < links->link.n; i++) {
        const uint32_t pair = keys_add(&m->pairs, links->pairs.key.at[i], mem);
        struct transfer *t = list_add(&m->transfer, mem);
        uint32_t *bundle = list_add(&m->bundle, mem), *order = list_add(&m->order, mem);
        uint64_t *slowness = list_add(&m->slowness, mem);
        if (arena_failed(mem))
            return false;
        *t = (struct transfer){ collective, links->link.at[i] };
        *bundle = keys_add(&m->bundles, (uint64_t)type_group << 32 | pair, mem);
        *slowness = fastest_first(link_gbs(&t->link).value);
        *order = (uint32_t)m->order.n - 1;
    }
    return !arena_failed(mem);
}

static void communication_matrix_add_row(struct matrix *m, uint32_t bundle, enum matrix_key key_of, name_id collective,
                                         struct comm_link link)
{
    const uint64_t from = m->bundles.key.at[bundle];
    const uint32_t type_group = (uint32_t)(from >> 32);
    struct matrix_row *row = list_add(&m->row, m->mem);
    uint32_t *key = list_add(&m->key, m->mem), *order = list_add(&m->row_order, m->mem);
    if (!row || !key || !order)
        return;
    *row = (struct matrix_row){ type_group, key_of, m->pairs.key.at[(uint32_t)from], link, collective };
    *key = keys_add(&m->keys, (uint64_t)type_group * MATRIX_KEYS + key_of, m->mem);
    *order = (uint32_t)m->row_order.n - 1;
}

/* Adds the rows of a bundle. Its n transfers are sorted, the fastest first. */
static void add_bundle(struct matrix *m, uint32_t bundle, const uint32_t *transfer, size_t n)
{
    const bool all = m->rules->has_all_keys;
    const struct {
        enum matrix_key key_of;
        size_t needs, at;
    } single[] = { { KEY_TOP1, 1, 0 },
                   { KEY_MIDDLE, 1, n / 2 },
                   { KEY_BOTTOM1, 1, n - 1 },
                   { KEY_TOTAL, 1, 0 },
                   { KEY_BOTTOM2, all ? 1 : 2, n < 2 ? 0 : n - 2 },
                   { KEY_BOTTOM3, all ? 1 : 3, n < 3 ? 0 : n - 3 } };
    struct comm_link sum = { .transport = m->transfer.at[transfer[0]].link.transport };
    for (size_t i = 0; i < n; i++) {
        sum.size_mb += m->transfer.at[transfer[i]].link.size_mb;
        sum.time_ms += m->transfer.at[transfer[i]].link.time_ms;
    }
    for (size_t i = 0; i < sizeof single / sizeof *single && n >= single[i].needs; i++) {
        const struct transfer *t = &m->transfer.at[transfer[single[i].at]];
        if (single[i].key_of == KEY_TOTAL)
            communication_matrix_add_row(m, bundle, KEY_TOTAL, NO_NAME, sum);
        else
            communication_matrix_add_row(m, bundle, single[i].key_of, t->collective, t->link);
    }
}

/* Makes the rows in the order of the output: object by object, and in an object by the first use of their links. */
bool matrix_finish(struct matrix *m)
{
    if (!order_by_u64(m->order.at, m->order.n, m->slowness.at) || !order_by_u32(m->order.at, m->order.n, m->bundle.at))
        return false;
    for (size_t i = 0, same; i < m->order.n; i += same) {
        const uint32_t bundle = m->bundle.at[m->order.at[i]];
        for (same = 1; i + same < m->order.n && m->bundle.at[m->order.at[i + same]] == bundle;)
            same++;
        add_bundle(m, bundle, m->order.at + i, same);
    }
    return !arena_failed(m->mem) && order_by_u32(m->row_order.at, m->row_order.n, m->key.at);
}

static name_id type_of(const struct matrix *m, const struct matrix_row *r)
{
    return (name_id)(m->type_groups.key.at[r->type_group] >> 32);
}

static name_id communication_matrix_group_of(const struct matrix *m, const struct matrix_row *r)
{
    return (name_id)m->type_groups.key.at[r->type_group];
}

static void row_json(const struct matrix *m, const struct matrix_row *r, struct out *o, bool is_first)
{
    char pair[32];
    snprintf(pair, sizeof pair, "%" PRIu32 "-%" PRIu32, (uint32_t)(r->pair >> 32), (uint32_t)r->pair);
    json_key(o, pair, is_first);
    json_link(&r->link, o);
    if (r->collective != NO_NAME) {
        json_key(o, m->rules->name_key, false);
        out_json(o, names_text(m->names, r->collective), names_len(m->names, r->collective));
    }
    out_char(o, '}');
}

bool matrix_put(const struct matrix *m, struct out *o)
{
    const struct names *names = m->names;
    out_char(o, '{');
    for (size_t i = 0; i < m->row.n; i++) {
        const uint32_t at = m->row_order.at[i];
        const struct matrix_row *r = &m->row.at[at];
        const bool is_new = i == 0 || m->key.at[m->row_order.at[i - 1]] != m->key.at[at];
        if (is_new) {
            const char *key = arena_printf(m->mem, "%s-%s@%s", names_text(names, type_of(m, r)), key_name[r->key_of],
                                           names_text(names, communication_matrix_group_of(m, r)));
            if (!key)
                return false;
            if (i > 0)
                out_char(o, '}');
            json_key(o, key, i == 0);
            out_char(o, '{');
        }
        row_json(m, r, o, is_new);
    }
    if (m->row.n > 0)
        out_char(o, '}');
    out_char(o, '}');
    return true;
}

bool matrix_rows(const struct matrix *m, const struct collective_place *place, struct grid *g)
{
    const struct names *names = m->names;
    for (size_t i = 0; i < m->row.n; i++) {
        const struct matrix_row *r = &m->row.at[m->row_order.at[i]];
        const char *name = arena_printf(g->mem, "%s-%s", names_text(names, type_of(m, r)), key_name[r->key_of]);
        if (!name)
            return false;
        grid_row(g, (struct cell[]){
                        cell_text(name), cell_name(communication_matrix_group_of(m, r)),
                        cell_uint((uint32_t)(r->pair >> 32)), cell_uint((uint32_t)r->pair),
                        r->link.transport ? cell_text(r->link.transport) : cell_na(), cell_real(r->link.size_mb),
                        cell_real(r->link.time_ms), cell_real(link_gbs(&r->link).value), cell_name(place->step),
                        cell_name(place->kind), r->collective == NO_NAME ? cell_text("") : cell_name(r->collective) });
    }
    return !arena_failed(g->mem);
}
