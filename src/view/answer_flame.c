/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answer_flame.h"

#include <stdlib.h>

#include "base/sort.h"
#include "view/flame.h"

enum { MOST_NODES = 2000, LEFT_OUT = UINT32_MAX };

static void put_node(struct question *a, const struct flame_node *node, uint32_t parent)
{
    out_char(a->o, '{');
    json_put_name(a->o, "name", a->t->trace->names, node->name);
    json_put_key(a->o, "parent");
    if (node->parent == FLAME_ROOT)
        out_lit(a->o, "null");
    else
        out_u64(a->o, parent);
    json_put_int(a->o, "total", node->total_ns);
    json_put_int(a->o, "self", node->total_ns - node->inner_ns);
    json_put_int(a->o, "count", (int64_t)node->n);
    json_put_int(a->o, "longest_slice", node->longest);
    out_char(a->o, '}');
}

/* The number of each node in the answer, or LEFT_OUT. The largest nodes are chosen, if their parents are chosen,
 * too. */
static bool nodes_choose(const struct flame *f, uint32_t *number, struct arena *mem)
{
    const size_t n = f->nodes.n;
    uint32_t *order = arena_take(mem, n, sizeof *order), next = 0;
    uint64_t *key = arena_take(mem, n, sizeof *key);
    if (n && (!order || !key))
        return false;
    order_fill(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = UINT64_MAX - (uint64_t)(f->nodes.at[i].total_ns > 0 ? f->nodes.at[i].total_ns : 0);
    if (!order_by_u64(order, n, key))
        return false;
    for (size_t i = 0; i < n; i++)
        number[order[i]] = i < MOST_NODES ? 0 : LEFT_OUT;
    for (size_t i = 0; i < n; i++) {
        const uint32_t parent = f->nodes.at[i].parent;
        if (number[i] != LEFT_OUT)
            number[i] = parent == FLAME_ROOT || number[parent] != LEFT_OUT ? next++ : LEFT_OUT;
    }
    return true;
}

static bool put_flame(struct question *a, const struct flame *f, struct arena *mem)
{
    uint32_t *number = arena_take(mem, f->nodes.n, sizeof *number);
    size_t n_left_out = 0;
    bool is_first = true;
    if ((f->nodes.n && !number) || !nodes_choose(f, number, mem))
        return false;
    out_char(a->o, '{');
    json_put_int(a->o, "n", (int64_t)f->n);
    json_put_int(a->o, "total", f->total_ns);
    json_put_key(a->o, "nodes");
    out_char(a->o, '[');
    for (size_t i = 0; i < f->nodes.n; i++) {
        const struct flame_node *node = &f->nodes.at[i];
        if (number[i] == LEFT_OUT) {
            n_left_out++;
            continue;
        }
        json_put_comma(a->o, is_first);
        is_first = false;
        put_node(a, node, node->parent == FLAME_ROOT ? 0 : number[node->parent]);
    }
    out_char(a->o, ']');
    json_put_int(a->o, "left_out", (int64_t)n_left_out);
    out_char(a->o, '}');
    return true;
}

static int compare_levels(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The requested levels, ascending; with all=1 all levels. False: the request was refused. */
static bool levels_read(struct question *a, uint32_t **level, size_t *n, struct arena *mem)
{
    int64_t all = 0;
    const bool is_all = http_parameter_i64(a->q, "all", &all) && all == 1;
    *n = a->t->levels.n;
    *level = arena_take(mem, *n > QUESTION_LEVELS ? *n : QUESTION_LEVELS, sizeof **level);
    if (!*level) {
        question_refuse(a->r, 503, no_memory_text());
        return false;
    }
    if (!is_all && !question_levels(a, *level, n))
        return false;
    for (size_t i = 0; i < *n && is_all; i++)
        (*level)[i] = (uint32_t)i;
    qsort(*level, *n, sizeof **level, compare_levels);
    while (*n && (*level)[*n - 1] >= a->t->levels.n)
        --*n; /* rows of instants have no durations */
    return true;
}

void answer_flame(struct question *a)
{
    struct arena *mem = arena_new();
    struct flame f;
    uint32_t *level;
    int64_t begin_ns, end_ns;
    size_t n_levels;
    if (!mem)
        question_refuse(a->r, 503, no_memory_text());
    else if (question_range(a, &begin_ns, &end_ns) && levels_read(a, &level, &n_levels, mem) &&
             (!flame_build(&f, a->t, level, n_levels, begin_ns, end_ns, mem) || !put_flame(a, &f, mem)))
        question_refuse(a->r, 503, no_memory_text());
    arena_free(mem);
}
