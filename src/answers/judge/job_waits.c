/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/job_waits.h"

#include <string.h>

#include "answers/run/collective_waits.h"
#include "base/process/robust.h"
#include "base/memory/sort.h"

struct job_matching {
    const struct run_member *rank;
    size_t n;
    uint32_t *order; /* rows by rank: the match numbers them so */
    uint32_t **id;   /* by row: of its calls */
    struct collective_match match;
    struct arena *work;
};

int64_t job_world(const struct run_member *rank, size_t n)
{
    int64_t most = (int64_t)n;
    for (size_t i = 0; i < n; i++)
        most = rank[i].world > most ? rank[i].world : most;
    return most;
}

/* The group of a call in the match. Groups without a name differ by their sizes. */
static name_id group_in_match(const struct job_matching *j, const struct collective_call *x)
{
    if (*x->group)
        return names_addz(j->match.names, x->group);
    const char *text = arena_printf(j->work, "?%u", x->size);
    return names_addz(j->match.names, text ? text : "?");
}

static bool add_rank(struct job_matching *j, uint32_t row)
{
    const struct collective_calls *calls = &j->rank[row].calls;
    struct arena *work = arena_new();
    name_id *group = work ? arena_take(work, calls->n, sizeof *group) : NULL,
            *name = group ? arena_take(work, calls->n, sizeof *name) : NULL;
    int64_t *column[5];
    bool *is_p2p = name ? arena_take(work, calls->n, sizeof *is_p2p) : NULL, done = is_p2p != NULL;
    for (size_t k = 0; k < 5 && done; k++)
        done = (column[k] = arena_take(work, calls->n, sizeof **column)) != NULL;
    j->id[row] = arena_take(j->work, calls->n, sizeof **j->id);
    for (size_t i = 0; done && i < calls->n; i++) {
        const struct collective_call *x = &calls->at[i];
        group[i] = group_in_match(j, x);
        name[i] = names_addz(j->match.names, x->name);
        const int64_t value[5] = { x->begin_ns, x->end_ns, x->step, x->src, x->dst };
        for (size_t k = 0; k < 5; k++)
            column[k][i] = value[k];
        is_p2p[i] = x->is_p2p;
        done = x->is_p2p || x->size == 0 || match_group_size(&j->match, group[i], x->size);
    }
    if (done && j->id[row])
        done = match_add(&j->match, j->rank[row].has_rank ? j->rank[row].rank : (int64_t)row,
                         &(struct match_calls){ .n = calls->n,
                                                .group = group,
                                                .name = name,
                                                .begin_ns = column[0],
                                                .end_ns = column[1],
                                                .step = column[2],
                                                .is_p2p = is_p2p,
                                                .src = column[3],
                                                .dst = column[4] },
                         j->id[row]);
    arena_free(work);
    return done && j->id[row];
}

/* Whether collectives that are taken for those of all ranks end on all of them at the same time, but for their clocks. */
static bool all_end_together(const struct job_matching *j)
{
    const double far = 0.05; /* of the median duration */
    size_t n = 0;
    for (size_t i = 0; i < j->n; i++)
        n += j->rank[i].calls.n;
    double *ns = arena_take(j->work, n, sizeof *ns);
    n = 0;
    for (size_t i = 0; ns && i < j->n; i++)
        for (size_t k = 0; k < j->rank[i].calls.n; k++)
            ns[n++] = (double)span_ns(j->rank[i].calls.at[k].begin_ns, j->rank[i].calls.at[k].end_ns);
    const double median_ns = ns ? lower_median(ns, n) : 0;
    for (size_t i = 1; i < j->match.clock.n; i++)
        if (j->match.clock.at[i].n == 0 || j->match.clock.at[i].spread_ns > far * median_ns)
            return false;
    return n > 0;
}

/* The sizes of groups that were not recorded. Where ranks were not read, any of them may be a member. */
static bool note_sizes(struct job_matching *j)
{
    const int64_t world = job_world(j->rank, j->n);
    const bool are_all = world == (int64_t)j->n, is_pair = are_all && world == 2;
    for (size_t i = 0; i < j->match.groups.key.n; i++) {
        const name_id group = (name_id)j->match.groups.key.at[i];
        const bool is_named = *names_text(j->match.names, group) != '?';
        const uint32_t size = j->match.sizes.at[i].n_noted;
        const bool is_known = is_named   ? size > 0 || are_all
                              : size > 0 ? size == (uint32_t)world
                                         : is_pair || (are_all && all_end_together(j));
        if (!is_known || (!is_named && size == 0))
            if (!match_group_size(&j->match, group, is_known ? (uint32_t)world : UINT32_MAX))
                return false;
    }
    return true;
}

/* What a rank knows of its own calls. */
static const struct known_waits *waits_of(const struct job_matching *j, uint32_t number, struct arena *mem)
{
    const uint32_t row = j->order[number];
    const struct collective_calls *calls = &j->rank[row].calls;
    struct known_waits *out = arena_take(mem, 1, sizeof *out);
    struct known_wait *at = arena_take(mem, calls->n, sizeof *at);
    const char **name = arena_take(j->work, j->n, sizeof *name);
    if (!out || !at || !name)
        return NULL;
    out->at = at;
    for (size_t i = 0; i < calls->n; i++) {
        const struct collective_call *x = &calls->at[i];
        const struct collective_time t = collective_divide(&j->match, number, j->id[row][i], x->begin_ns, x->end_ns);
        if (t.why != COLLECTIVE_KNOWN) {
            out->n_unknown++;
            continue;
        }
        if (!name[t.last] && !(name[t.last] = run_member_name(&j->rank[j->order[t.last]], mem)))
            return NULL;
        const bool is_certain =
            *x->group || x->size > 0 || j->n == 2; /* else it may be the last one of another group */
        at[out->n++] = (struct known_wait){ .begin_ns = x->begin_ns,
                                            .joined_ns = stamp_add(x->begin_ns, t.waiting_ns),
                                            .end_ns = x->end_ns,
                                            .step = x->step,
                                            .for_whom = is_certain ? name[t.last] : "other ranks",
                                            .is_for_rank = is_certain,
                                            .row = x->row };
    }
    return out;
}

static bool job_match(struct job_matching *j)
{
    uint64_t *key = arena_take(j->work, j->n, sizeof *key);
    j->order = arena_take(j->work, j->n, sizeof *j->order);
    j->id = arena_take(j->work, j->n, sizeof *j->id);
    j->match.mem = j->work;
    if (!key || !j->order || !j->id || !j->match.names)
        return false;
    order_fill(j->order, j->n);
    for (size_t i = 0; i < j->n; i++)
        key[i] = j->rank[i].has_rank ? (uint64_t)j->rank[i].rank ^ UINT64_C(1) << 63 : UINT64_MAX;
    bool done = order_by_u64(j->order, j->n, key);
    for (size_t i = 0; done && i < j->n; i++)
        done = add_rank(j, j->order[i]);
    return done && note_sizes(j) && match_finish(&j->match) && !names_failed(j->match.names);
}

bool job_waits_find(struct run_member *rank, size_t n, struct arena *mem)
{
    struct job_matching j = { .rank = rank, .n = n, .work = arena_new(), .match.names = names_new() };
    bool done = j.work && j.match.names && (n < 2 || job_match(&j));
    for (uint32_t i = 0; done && n > 1 && i < n; i++)
        done = (rank[j.order[i]].waits = waits_of(&j, i, mem)) != NULL;
    names_free(j.match.names);
    arena_free(j.work);
    return done && !arena_failed(mem);
}
