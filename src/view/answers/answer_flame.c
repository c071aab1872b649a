/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <stdlib.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "view/answers/flame.h"
#include "view/answers/operator_times.h"

enum { MOST_NODES = 2000, LEFT_OUT = UINT32_MAX };

static void put_node(struct question *a, const struct flame_node *node, uint32_t parent)
{
    out_char(a->o, '{');
    if (node->is_step)
        json_put_text(a->o, "name", "ProfilerStep");
    else
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

/* `level`: what is shown. */
static bool put_flame(struct question *a, const struct flame *f, const uint32_t *level, size_t n_levels,
                      struct arena *mem)
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
    json_put_key(a->o, "levels");
    out_char(a->o, '[');
    for (size_t i = 0; i < n_levels; i++) {
        json_put_comma(a->o, i == 0);
        out_u64(a->o, level[i]);
    }
    out_char(a->o, ']');
    out_char(a->o, '}');
    return true;
}

static int compare_levels(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* How well a track is suited to be shown first. */
struct track_rank {
    bool is_host;
    int64_t operators_ns; /* own times */
    size_t n, n_steps;
};

static bool is_before(const struct track_rank *a, const struct track_rank *b)
{
    const size_t n_steps = a->operators_ns > 0 ? a->n_steps : 0, n_others = b->operators_ns > 0 ? b->n_steps : 0;
    if (n_steps != n_others)
        return n_steps > n_others;
    if (a->operators_ns != b->operators_ns)
        return a->operators_ns > b->operators_ns;
    return a->is_host != b->is_host ? a->is_host : a->n > b->n;
}

/* The thread that a flame graph shows first: the one with most steps (a step that overlaps others is on a track of its
 * own); of several, or without steps, the one whose operators take longest; of a trace without operators the track of
 * the host with the most slices, else any. SIZE_MAX: there is none. */
static size_t main_track(const struct question *a, const struct operator_times *o, struct arena *mem)
{
    const struct chrome_trace *t = a->t->trace;
    struct track_rank *rank = arena_take(mem, t->tracks.n, sizeof *rank);
    size_t best = SIZE_MAX;
    for (size_t i = 0; rank && i < t->slices.n; i++) {
        struct track_rank *of = &rank[t->slices.track[i]];
        of->n_steps += o->topic[i] == TOPIC_STEP;
        if (o->number[i])
            of->operators_ns = stamp_add(of->operators_ns, o->at[o->number[i] - 1].self_ns);
    }
    for (size_t i = 0; rank && i < t->tracks.n; i++) {
        rank[i].is_host = !a->t->is_device[i];
        rank[i].n = t->tracks.at[i].n_slices;
        if (rank[i].n > 0 && (best == SIZE_MAX || is_before(&rank[i], &rank[best])))
            best = i;
    }
    return best;
}

/* The requested levels, ascending; with all=1 all levels, with main=1 those of the main thread. False: the request was
 * refused. */
static bool levels_read(struct question *a, uint32_t **level, size_t *n, struct arena *mem)
{
    int64_t all = 0, main = 0;
    const bool is_all = http_parameter_i64(a->q, "all", &all) && all == 1;
    const bool is_main = http_parameter_i64(a->q, "main", &main) && main == 1;
    const struct operator_times *o = is_main ? operator_times_of(a->in) : NULL;
    *n = a->t->levels.n;
    *level = arena_take(mem, *n > QUESTION_LEVELS ? *n : QUESTION_LEVELS, sizeof **level);
    if (!*level || (is_main && !o)) {
        question_refuse(a->r, 503, no_memory_text());
        return false;
    }
    if (!is_all && !is_main && !question_levels(a, *level, n))
        return false;
    for (size_t i = 0; i < *n && is_all; i++)
        (*level)[i] = (uint32_t)i;
    if (is_main) {
        const size_t track = main_track(a, o, mem);
        const uint32_t first = track == SIZE_MAX ? 0 : a->t->levels.first_level[track];
        *n = track == SIZE_MAX ? 0 : a->t->levels.first_level[track + 1] - first;
        for (size_t i = 0; i < *n; i++)
            (*level)[i] = first + (uint32_t)i;
    }
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
             (!flame_build(&f, a->t, level, n_levels, begin_ns, end_ns, mem) ||
              !put_flame(a, &f, level, n_levels, mem)))
        question_refuse(a->r, 503, no_memory_text());
    arena_free(mem);
}
