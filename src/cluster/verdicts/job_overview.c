/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "cluster/results/base_tables.h"

struct job_overview_state {
    struct groups groups;
    struct cluster_matrix matrix;
    struct keys steps; /* names, as rows of out->steps */
    struct keys numbers;
    LIST(size_t) of_number; /* the step of the rank that is added, by its number */
    struct job_overview *out;
    struct arena *mem; /* of the report */
};

static void *job_overview_begin(struct mode_context *c)
{
    struct job_overview_state *const s = arena_take(c->mem, 1, sizeof *s);
    struct job_overview *const out = arena_take(c->report->mem, 1, sizeof *out);
    if (!s || !out)
        return NULL;
    *s = (struct job_overview_state){ .groups = { .names = c->names, .mem = c->mem },
                                      .matrix = { .names = c->names, .mem = c->mem },
                                      .out = out,
                                      .mem = c->report->mem };
    c->report->overview = out;
    return s;
}

static const char *copy_of(const struct job_overview_state *s, name_id name)
{
    const struct names *const names = s->groups.names;
    return arena_text(s->mem, names_text(names, name), names_len(names, name));
}

static uint32_t step_row(struct job_overview_state *s, name_id name, struct arena *mem)
{
    const uint32_t at = keys_add(&s->steps, name, mem);
    if (at == KEYS_NO_MEMORY || at < s->out->steps.n)
        return at;
    const char **const slot = list_add(&s->out->steps, s->mem);
    return slot && (*slot = copy_of(s, name)) ? at : KEYS_NO_MEMORY;
}

/* The steps of a rank by their numbers; of equal ones the last. */
static bool number_steps(struct job_overview_state *s, const struct rank_steps *steps, struct arena *mem)
{
    keys_clear(&s->numbers);
    s->of_number.n = 0;
    for (size_t i = 0; i < steps->n; i++) {
        const uint32_t at = keys_add(&s->numbers, (uint64_t)steps->id[i], mem);
        if (at == KEYS_NO_MEMORY || (at == s->of_number.n && !list_add(&s->of_number, mem)))
            return false;
        s->of_number.at[at] = i;
    }
    return true;
}

/* When a step was, if its name is the number of one. */
static void find_range(const struct job_overview_state *s, struct overview_cell *to, const char *name,
                       const struct rank_steps *steps)
{
    char *end;
    const int64_t id = strtoll(name, &end, 10);
    const uint32_t at = *name && !*end ? keys_find(&s->numbers, (uint64_t)id) : KEYS_NONE;
    if (at == KEYS_NONE)
        return;
    to->has_range = true;
    to->begin_ns = steps->begin_ns[s->of_number.at[at]];
    to->end_ns = steps->end_ns[s->of_number.at[at]];
}

static bool job_overview_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct job_overview_state *const s = state;
    const struct rank_step_trace *const t = summary_step_times(r);
    int64_t *const rank = list_add(&s->out->ranks, s->mem);
    if (!rank || !groups_add(&s->groups, r) || !cluster_matrix_add(&s->matrix, r) ||
        !number_steps(s, &r->steps, c->mem))
        return false;
    *rank = r->identity.rank;
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t step = step_row(s, t->step[i], c->mem);
        struct overview_cell *const cell = step == KEYS_NO_MEMORY ? NULL : list_add(&s->out->cells, s->mem);
        if (!cell)
            return false;
        *cell = (struct overview_cell){ .rank = *rank,
                                        .step = step,
                                        .us = { t->us[STEP_COLUMN_COMPUTING][i], t->us[STEP_COLUMN_EXPOSED][i],
                                                t->us[STEP_COLUMN_FREE][i] } };
        find_range(s, cell, names_text(c->names, t->step[i]), &r->steps);
    }
    return true;
}

static bool add_groups(struct job_overview_state *s)
{
    for (size_t i = 0; i < s->groups.noted.n; i++) {
        const struct noted_group *const from = &s->groups.noted.at[i];
        struct overview_group *const to = list_add(&s->out->groups, s->mem);
        if (!to)
            return false;
        *to = (struct overview_group){ .name = arena_text(s->mem, from->pg_name, strlen(from->pg_name)),
                                       .n = from->n_global,
                                       .rank = arena_take(s->mem, from->n_global + 1, sizeof *to->rank) };
        if (!to->name || !to->rank)
            return false;
        memcpy(to->rank, from->global, from->n_global * sizeof *to->rank);
    }
    return true;
}

/* Totals of groups and steps, summed up over both. */
static bool add_links(struct job_overview_state *s, struct arena *mem)
{
    struct job_links all;
    struct tuples keys = { 0 };
    if (!cluster_matrix_links(&s->matrix, &s->groups, &all))
        return false;
    for (size_t i = 0; i < all.totals.n; i++) {
        const struct job_link *const l = &all.totals.at[i];
        if (l->src == l->dst)
            continue;
        const uint32_t key[] = { l->transport, (uint32_t)l->src, (uint32_t)l->dst };
        const uint32_t at = tuple_add(&keys, key, sizeof key / sizeof *key, mem);
        if (at == KEYS_NO_MEMORY)
            return false;
        if (at == s->out->links.n) {
            struct overview_link *const new = list_add(&s->out->links, s->mem);
            if (!new || !(new->transport = copy_of(s, l->transport)))
                return false;
            new->src = l->src;
            new->dst = l->dst;
        }
        s->out->links.at[at].mb += l->mb;
        s->out->links.at[at].ms += l->ms;
    }
    return true;
}

static bool job_overview_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct job_overview_state *const s = state;
    (void)out;
    return (add_groups(s) && add_links(s, c->mem)) || error_no_memory(e, c->mode->name);
}

const struct mode mode_overview = {
    .name = "overview",
    .uses = RANK_STEPS | RANK_STEP_TRACE | RANK_COMM_TABLES | RANK_COMM_MATRIX | RANK_COLLECTIVES,
    .begin = job_overview_begin,
    .add = job_overview_add,
    .finish = job_overview_finish,
};
