/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/job_stages.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory/ascending.h"
#include "profile/calls.h"

/* Sets of ranks that are joined when they share one. */
struct job_stages_joined {
    struct keys rank;
    LIST(uint32_t) above; /* by place in rank: another of the same set; itself: it stands for the set */
    struct arena *mem;
};

static uint32_t job_stages_place(struct job_stages_joined *j, int64_t rank)
{
    const uint32_t at = keys_add(&j->rank, (uint64_t)rank, j->mem);
    if (at == j->above.n) {
        uint32_t *slot = list_add(&j->above, j->mem);
        if (!slot)
            return KEYS_NO_MEMORY;
        *slot = at;
    }
    return at;
}

static uint32_t set_of(struct job_stages_joined *j, uint32_t at)
{
    while (j->above.at[at] != at) {
        j->above.at[at] = j->above.at[j->above.at[at]];
        at = j->above.at[at];
    }
    return at;
}

static bool join(struct job_stages_joined *j, const int64_t *rank, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = job_stages_place(j, rank[i]);
        if (at == KEYS_NO_MEMORY)
            return false;
        const uint32_t a = set_of(j, at), b = set_of(j, keys_find(&j->rank, (uint64_t)rank[0]));
        j->above.at[a > b ? a : b] = a > b ? b : a;
    }
    return true;
}

static bool is_pipeline(const struct stage_group *g)
{
    return g->is_p2p && g->name && strncasecmp(g->name, "pp", 2) == 0;
}

/* Whether two ranks of a group are in the same pipeline: then it crosses stages. */
static bool crosses(struct job_stages_joined *pipelines, const int64_t *rank, size_t n, struct arena *mem)
{
    struct keys seen = { 0 };
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = keys_find(&pipelines->rank, (uint64_t)rank[i]);
        const uint32_t n_seen = (uint32_t)seen.key.n;
        if (at != KEYS_NONE && keys_add(&seen, set_of(pipelines, at), mem) != n_seen)
            return true;
    }
    return false;
}

static int by_first(const void *a, const void *b)
{
    return compare_i64s(((const struct stage *)a)->rank, ((const struct stage *)b)->rank);
}

/* The sets as lists. */
static bool list_sets(struct job_stages_joined *j, struct stages *s)
{
    const size_t n = j->above.n;
    uint32_t *set = arena_take(j->mem, n + 1, sizeof *set); /* by place: number of its stage + 1 */
    s->at = arena_take(j->mem, n + 1, sizeof *s->at);
    s->of = arena_take(j->mem, n + 1, sizeof *s->of);
    if (!set || !s->at || !s->of)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t top = set_of(j, i);
        if (set[top] == 0)
            set[top] = (uint32_t)++s->n;
        s->at[set[top] - 1].n++;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (!(s->at[i].rank = arena_take(j->mem, s->at[i].n, sizeof *s->at[i].rank)))
            return false;
        s->at[i].n = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct stage *to = &s->at[set[set_of(j, i)] - 1];
        to->rank[to->n++] = (int64_t)j->rank.key.at[i];
    }
    for (size_t i = 0; i < s->n; i++)
        qsort(s->at[i].rank, s->at[i].n, sizeof *s->at[i].rank, compare_i64s);
    qsort(s->at, s->n, sizeof *s->at, by_first);
    s->ranks = j->rank;
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->at[i].n; k++)
            s->of[keys_find(&s->ranks, (uint64_t)s->at[i].rank[k])] = i;
    return true;
}

bool stages_find(struct stages *s, const struct stage_group *group, size_t n, struct arena *mem)
{
    struct job_stages_joined pipelines = { .mem = mem }, stages = { .mem = mem };
    *s = (struct stages){ 0 };
    for (size_t i = 0; i < n; i++)
        if (is_pipeline(&group[i]) && !join(&pipelines, group[i].rank, group[i].n))
            return false;
    if (pipelines.above.n == 0)
        return !arena_failed(mem);
    for (size_t i = 0; i < n; i++)
        if (!group[i].is_p2p && !crosses(&pipelines, group[i].rank, group[i].n, mem) &&
            !join(&stages, group[i].rank, group[i].n))
            return false;
    return list_sets(&stages, s) && !arena_failed(mem);
}

uint32_t stage_of(const struct stages *s, int64_t rank)
{
    const uint32_t at = keys_find(&s->ranks, (uint64_t)rank);
    return at == KEYS_NONE ? NO_ROW : s->of[at];
}

uint32_t stage_peers(const struct stages *s, int64_t rank)
{
    const uint32_t stage = s->n > 1 ? stage_of(s, rank) : NO_ROW;
    return stage != NO_ROW && s->at[stage].n > 1 ? 1 + stage : NO_STAGE;
}
