/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank_groups.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/ascending.h"
#include "base/text/json_memory.h"
#include "base/files/out.h"
#include "profile/calls.h"

/* "send", "receive" or "recv" in any case. */
static bool is_p2p_name(const char *text)
{
    static const char *const word[] = { "send", "receive", "recv" };
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strcasestr(text, word[i]))
            return true;
    return false;
}

bool is_p2p_op(const struct names *names, name_id type, name_id op)
{
    const char *text = names_text(names, type);
    if (strcmp(text, "p2p") == 0 || strcmp(text, "collective") == 0)
        return *text == 'p';
    return is_p2p_name(names_text(names, op));
}

static uint32_t group_of(struct groups *g, name_id name, bool is_p2p)
{
    const uint32_t at = keys_add(&g->key, (uint64_t)name << 1 | is_p2p, g->mem);
    if (at == KEYS_NO_MEMORY || at < g->list.n)
        return at;
    struct group *new = list_add(&g->list, g->mem);
    if (!new)
        return KEYS_NO_MEMORY;
    *new = (struct group){ .name = name, .is_p2p = is_p2p };
    return at;
}

static bool see(struct groups *g, const struct rank_summary *s, name_id type, name_id op, name_id name)
{
    const uint32_t at = group_of(g, name, is_p2p_op(s->names, type, op));
    if (at == KEYS_NO_MEMORY)
        return false;
    struct group *of = &g->list.at[at];
    if (of->seen.n > 0 && of->seen.at[of->seen.n - 1] == s->identity.rank)
        return true;
    int64_t *rank = list_add(&of->seen, g->mem);
    if (rank)
        *rank = s->identity.rank;
    return rank != NULL;
}

static bool note_local(struct groups *g, name_id name, int64_t local, int64_t rank)
{
    if (local < 0 || local > INT32_MAX)
        return true;
    const uint32_t at = keys_add(&g->local_key, (uint64_t)name << 32 | (uint64_t)local, g->mem);
    if (at == KEYS_NO_MEMORY)
        return false;
    int64_t *slot = at < g->local.n ? &g->local.at[at] : list_add(&g->local, g->mem);
    if (slot)
        *slot = rank;
    return slot != NULL;
}

static bool note_group(struct groups *g, const char *id, const json_t *value)
{
    const name_id name = names_number(g->names, group_number(id, strlen(id)));
    const uint32_t at = keys_add(&g->noted_key, name, g->mem);
    if (at == KEYS_NO_MEMORY)
        return false;
    if (at < g->noted.n) /* the first rank that has it counts */
        return true;
    struct noted_group *new = list_add(&g->noted, g->mem);
    const json_t *list = json_object_get(value, "global_ranks");
    const char *pg_name = json_string_value(json_object_get(value, "group_name"));
    pg_name = pg_name ? pg_name : "";
    if (!new)
        return false;
    *new = (struct noted_group){ .name = name,
                                 .id = arena_text(g->mem, id, strlen(id)),
                                 .pg_name = arena_text(g->mem, pg_name, strlen(pg_name)),
                                 .global = arena_take(g->mem, json_array_size(list) + 1, sizeof *new->global) };
    if (!new->id || !new->pg_name || !new->global)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *rank = json_array_get(list, i);
        if (!json_is_integer(rank) || json_integer_value(rank) < 0) { /* then none of them means anything */
            new->n_global = 0;
            break;
        }
        new->global[new->n_global++] = json_integer_value(rank);
    }
    return true;
}

static bool add_noted(struct groups *g, const char *text)
{
    json_error_t unused;
    json_t *json = text ? json_read(text, strlen(text), 0, &unused) : NULL, *value;
    const char *id;
    bool done = true;
    json_object_foreach(json, id, value) done = done && (!json_is_object(value) || note_group(g, id, value));
    json_decref(json);
    return done && !json_memory_failed();
}

bool groups_add(struct groups *g, const struct rank_summary *s)
{
    const struct rank_comm_time *t = &s->comm_time;
    const struct rank_comm_matrix *m = &s->comm_matrix;
    for (size_t i = 0; i < t->n; i++)
        if ((i == 0 || t->group[i] != t->group[i - 1] || t->type[i] != t->type[i - 1] || t->op[i] != t->op[i - 1]) &&
            !see(g, s, t->type[i], t->op[i], t->group[i]))
            return false;
    for (size_t i = 0; i < m->n; i++) {
        if ((i == 0 || m->group[i] != m->group[i - 1] || m->op[i] != m->op[i - 1]) &&
            !see(g, s, m->type[i], m->op[i], m->group[i]))
            return false;
        if (m->src[i] == m->dst[i] && !note_local(g, m->group[i], m->src[i], s->identity.rank))
            return false;
    }
    return add_noted(g, s->identity.parallel_group_info);
}

const struct noted_group *groups_noted(const struct groups *g, name_id name)
{
    const uint32_t at = keys_find(&g->noted_key, name);
    return at == KEYS_NONE ? NULL : &g->noted.at[at];
}

int64_t groups_global(const struct groups *g, name_id name, int64_t local)
{
    const struct noted_group *noted = groups_noted(g, name);
    if (local < 0 || local > INT32_MAX)
        return -1;
    if (noted && (size_t)local < noted->n_global)
        return noted->global[local];
    const uint32_t at = keys_find(&g->local_key, (uint64_t)name << 32 | (uint64_t)local);
    return at == KEYS_NONE ? -1 : g->local.at[at];
}

const int64_t *group_ranks(const struct groups *g, const struct group *of, size_t *n)
{
    const struct noted_group *noted = groups_noted(g, of->name);
    *n = noted && noted->n_global > 0 ? noted->n_global : of->seen.n;
    if (!noted || noted->n_global == 0)
        return of->seen.at;
    int64_t *sorted = arena_take(g->mem, *n, sizeof *sorted);
    if (!sorted)
        return NULL;
    memcpy(sorted, noted->global, *n * sizeof *sorted);
    qsort(sorted, *n, sizeof *sorted, compare_i64s);
    return sorted;
}

const char *ranks_text(const int64_t *rank, size_t n, bool has_blanks, struct arena *mem)
{
    char *text = arena_take(mem, n * 22 + 4, 1), *at = text;
    if (!text)
        return NULL;
    *at++ = '(';
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            *at++ = ',';
            if (has_blanks)
                *at++ = ' ';
        }
        at += digits_put(at, rank[i] < 0 ? 0 : (uint64_t)rank[i]);
    }
    if (n == 1 && has_blanks)
        *at++ = ',';
    *at++ = ')';
    return text;
}

bool groups_stages(struct stages *s, const struct groups *g, struct arena *mem)
{
    struct stage_group *const group = arena_take(mem, g->list.n, sizeof *group);
    for (size_t i = 0; group && i < g->list.n; i++) {
        const struct group *const of = &g->list.at[i];
        const struct noted_group *const noted = groups_noted(g, of->name);
        group[i] = (struct stage_group){ .is_p2p = of->is_p2p, .name = noted ? noted->pg_name : NULL };
        if (!(group[i].rank = group_ranks(g, of, &group[i].n)))
            group[i].n = 0;
    }
    return group && stages_find(s, group, g->list.n, mem);
}

const char *stage_text(const struct stages *s, uint32_t stage, bool has_blanks, struct arena *mem)
{
    return stage == NO_ROW ? "()" : ranks_text(s->at[stage].rank, s->at[stage].n, has_blanks, mem);
}
