/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "view/answers/answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "view/answers/operator_times.h"
#include "view/rows/view_timeline.h"

/* The slices of some levels in a range, merged into one tree: slices with the same path of names are one node; so are
 * steps of training, so that what is in them is merged over all of them.
 *
 * A slice is inside another one of its track only if that one contains it; where times are whole microseconds, ending
 * one later is rounding. Each moment of a track belongs to one slice, that which began last, and to those around it:
 * of two slices that overlap in part, which are siblings, the first one counts until the second one begins. So a node
 * is at least as long as the nodes below it together. A slice counts with the part of it that is inside the range.
 * Levels that were not selected are ignored. */

enum { FLAME_ROOT = UINT32_MAX };

struct flame_node {
    uint32_t parent;                        /* a smaller number; FLAME_ROOT: none */
    name_id name;                           /* of the first slice */
    bool is_step;                           /* of all steps that torch.profiler marked, whatever their numbers */
    uint32_t longest;                       /* a slice */
    uint64_t n;                             /* slices */
    int64_t total_ns, inner_ns, longest_ns; /* inner: of the nodes below it */
};

struct flame {
    LIST(struct flame_node) nodes; /* in the order of their first slices */
    uint64_t n;                    /* slices */
    int64_t total_ns;              /* of the nodes without a parent */
    struct keys places;            /* of parent and name */
};

#define STEP "ProfilerStep#"

/* The slices that are open, outermost first: each one contains the next. */
struct open_slices {
    int64_t begin_ns, end_ns; /* of the range */
    int64_t rounding_ns;      /* of the times of the track: a slice may end so much later than one that contains it */
    size_t n;
    struct {
        uint32_t node;
        int64_t begin_ns, end_ns;
    } at[LEVELS_DEEPEST];
};

/* Closes the innermost slice at its end, or at now_ns if that is earlier. Only then is known for how long it counts. */
static void slice_close(struct flame *f, struct open_slices *o, int64_t now_ns)
{
    const int64_t from_ns = o->at[--o->n].begin_ns, to_ns = o->at[o->n].end_ns < now_ns ? o->at[o->n].end_ns : now_ns;
    const int64_t low_ns = from_ns > o->begin_ns ? from_ns : o->begin_ns;
    const int64_t high_ns = to_ns < o->end_ns ? to_ns : o->end_ns;
    const int64_t in_ns = high_ns > low_ns ? wrap_sub(high_ns, low_ns) : 0;
    struct flame_node *node = &f->nodes.at[o->at[o->n].node];
    int64_t *outer_ns = node->parent == FLAME_ROOT ? &f->total_ns : &f->nodes.at[node->parent].inner_ns;
    node->total_ns = stamp_add(node->total_ns, in_ns);
    *outer_ns = stamp_add(*outer_ns, in_ns);
}

/* Opens a slice inside the innermost one that contains it. Those that end before it does, are closed. */
static bool slice_open(struct flame *f, struct open_slices *o, const struct view_timeline *v, uint32_t slice,
                       struct arena *mem)
{
    const struct chrome_slices *s = &v->trace->slices;
    const int64_t begin_ns = s->begin_ns[slice], end_ns = stamp_add(begin_ns, s->dur_ns[slice]);
    while (o->n && (o->at[o->n - 1].end_ns <= begin_ns || stamp_add(o->at[o->n - 1].end_ns, o->rounding_ns) < end_ns ||
                    o->n == LEVELS_DEEPEST))
        slice_close(f, o, begin_ns);
    const uint32_t parent = o->n ? o->at[o->n - 1].node : FLAME_ROOT;
    const int64_t outer_end_ns = o->n ? o->at[o->n - 1].end_ns : end_ns;
    const bool is_step = strncmp(names_text(v->trace->names, s->name[slice]), STEP, sizeof STEP - 1) == 0;
    const uint32_t place = keys_add(&f->places, (uint64_t)parent << 32 | (is_step ? UINT32_MAX : s->name[slice]), mem);
    if (place == KEYS_NO_MEMORY)
        return false;
    if (place == f->nodes.n) {
        struct flame_node *new = list_add(&f->nodes, mem);
        if (!new)
            return false;
        *new = (struct flame_node){
            .parent = parent, .name = s->name[slice], .is_step = is_step, .longest = slice, .longest_ns = -1
        };
    }
    struct flame_node *node = &f->nodes.at[place];
    node->n++;
    f->n++;
    if (s->dur_ns[slice] > node->longest_ns) {
        node->longest = slice;
        node->longest_ns = s->dur_ns[slice];
    }
    o->at[o->n].node = place;
    o->at[o->n].begin_ns = begin_ns;
    o->at[o->n++].end_ns = outer_end_ns < end_ns ? outer_end_ns : end_ns;
    return true;
}

/* Profilers that write whole microseconds round begins and durations, so that an operator may seem to end one
 * microsecond after the one that called it. */
static int64_t rounding_of(const struct chrome_trace *t, uint32_t track)
{
    enum { MICROSECOND = 1000 };
    const struct chrome_track *of = &t->tracks.at[track];
    for (size_t i = of->first; i < of->first + of->n_slices; i++)
        if (t->slices.dur_ns[i] % MICROSECOND != 0)
            return 0;
    return MICROSECOND;
}

/* Adds the slices of some levels of one track, which are by begin, longer ones first. */
static bool track_add(struct flame *f, const struct view_timeline *v, const uint32_t *level, size_t n_levels,
                      int64_t begin_ns, int64_t end_ns, struct arena *mem)
{
    const struct levels *l = &v->levels;
    bool is_chosen[LEVELS_DEEPEST] = { false };
    struct open_slices open = { .begin_ns = begin_ns,
                                .end_ns = end_ns,
                                .rounding_ns = rounding_of(v->trace, l->level[level[0]].track) };
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t i = 0; i < n_levels; i++) {
        size_t first, end;
        level_range(l, level[i], begin_ns, end_ns, &first, &end);
        is_chosen[l->level[level[i]].depth] = true;
        if (first == end)
            continue;
        low = l->slice[first] < low ? l->slice[first] : low;
        high = l->slice[end - 1] + 1 > high ? l->slice[end - 1] + 1 : high;
    }
    for (uint32_t slice = low; slice < high; slice++) {
        const int64_t from_ns = l->begin_ns[slice];
        const bool is_in = from_ns < end_ns && (from_ns >= begin_ns || stamp_add(from_ns, l->dur_ns[slice]) > begin_ns);
        if (is_in && is_chosen[l->depth[slice]] && !slice_open(f, &open, v, slice, mem))
            return false;
    }
    while (open.n > 0)
        slice_close(f, &open, end_ns);
    return true;
}

/* `level` ascends. False only without memory. */
static bool flame_build(struct flame *f, const struct view_timeline *v, const uint32_t *level, size_t n_levels,
                        int64_t begin_ns, int64_t end_ns, struct arena *mem)
{
    *f = (struct flame){ 0 };
    for (size_t i = 0, end; i < n_levels; i = end) {
        for (end = i + 1; end < n_levels && v->levels.level[level[end]].track == v->levels.level[level[i]].track;)
            end++;
        if (!track_add(f, v, level + i, end - i, begin_ns, end_ns, mem))
            return false;
    }
    return true;
}

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
    qsort(*level, *n, sizeof **level, compare_u32s);
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
