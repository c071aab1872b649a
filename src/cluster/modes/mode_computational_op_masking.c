/* SPDX-License-Identifier: Apache-2.0 */
/* mode_computational_op_masking.c - how much of the communication of each kind of group is hidden behind kernels. */
#include "cluster/modes.h"

#include <jansson.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "base/text/stamp.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/results/recipe.h"

static const char default_types[] = "dp,edp;edp;dp;ep;pp;mp;tp";

#define MASKING_COLUMNS                                                                                                \
    COLUMN("stepId", "INTEGER"), COLUMN("parallelType", "TEXT"), COLUMN("stepStartTime", "INTEGER"),                   \
        COLUMN("stepEndTime", "INTEGER"), COLUMN("totalCommunicationOperatorTime", "INTEGER"),                         \
        COLUMN("timeRatioOfStepCommunicationOperator", "REAL"),                                                        \
        COLUMN("totalTimeWithoutCommunicationBlackout", "INTEGER"), COLUMN("ratioOfUnmaskedCommunication", "REAL")
static const struct result_column columns[] = { MASKING_COLUMNS };
static const struct result_column rank_columns[] = { COLUMN("rankId", "INTEGER"), MASKING_COLUMNS };
enum { CELLS = sizeof columns / sizeof *columns };

/* Groups of these names are looked at together: "dp+edp". */
struct computational_op_masking_kind {
    const char *text;
    LIST(const char *) names;
};

struct computational_op_masking_state {
    LIST(struct computational_op_masking_kind) kinds;
    struct grid rows, of_ranks;
    const char *bad_types; /* the list, if it is invalid */
};

/* "dp,edp;tp" */
static bool parse_types(struct computational_op_masking_state *s, const char *types, struct arena *mem)
{
    for (const char *at = types;; at++) {
        struct computational_op_masking_kind *const kind = list_add(&s->kinds, mem);
        char *text = arena_text(mem, at, strcspn(at, ";"));
        if (!kind || !text)
            return false;
        at += strlen(text);
        for (char *part = text, *end; part; part = end) {
            end = strchr(part, ',');
            if (end)
                *end++ = '\0';
            part += strspn(part, " ");
            part[strcspn(part, " ")] = '\0';
            const char **const name = list_add(&kind->names, mem);
            if (!name)
                return false;
            *name = part;
            kind->text = kind->text ? arena_printf(mem, "%s+%s", kind->text, part) : part;
            if (*part == '\0')
                s->bad_types = types;
        }
        if (*at == '\0')
            return !arena_failed(mem);
    }
}

static void *begin(struct mode_context *c)
{
    struct computational_op_masking_state *s = arena_take(c->mem, 1, sizeof *s);
    if (!s || !parse_types(s, c->options->parallel_types ? c->options->parallel_types : default_types, c->mem))
        return NULL;
    s->rows = (struct grid){ .n_columns = CELLS, .mem = c->mem };
    s->of_ranks = (struct grid){ .n_columns = 1 + CELLS, .mem = c->mem };
    return s;
}

/* Which collectives are of a kind: their group has one of its names in what the job noted. */
static size_t choose(const struct computational_op_masking_kind *kind, const struct rank_summary *r,
                     const json_t *noted, bool *is_chosen)
{
    const struct rank_collectives *const ops = &r->collectives.ops;
    size_t n = 0;
    for (size_t i = 0; i < ops->n; i++) {
        const json_t *const group = json_object_get(noted, names_text(r->names, ops->group[i]));
        const char *const name = json_string_value(json_object_get(group, "group_name"));
        is_chosen[i] = false;
        for (size_t k = 0; name && k < kind->names.n; k++)
            is_chosen[i] |= strcmp(name, kind->names.at[k]) == 0;
        n += is_chosen[i];
    }
    return n;
}

/* What merged intervals have in common with those in which no kernel ran. */
static int64_t exposed_of(const struct busy *b, const struct summary_exposed *e)
{
    int64_t sum = 0;
    for (size_t i = 0, k = 0; i < b->n && k < e->n;) {
        const int64_t from = b->begin_ns[i] > e->begin_ns[k] ? b->begin_ns[i] : e->begin_ns[k];
        const int64_t to = b->end_ns[i] < e->end_ns[k] ? b->end_ns[i] : e->end_ns[k];
        sum = wrap_add(sum, to > from ? to - from : 0);
        if (b->end_ns[i] < e->end_ns[k])
            i++;
        else
            k++;
    }
    return sum;
}

/* The rows of a kind: one for each step. `b` has room for all collectives. */
static void computational_op_masking_add_steps(struct computational_op_masking_state *s,
                                               const struct computational_op_masking_kind *kind,
                                               const struct rank_summary *r, const struct chosen_step *step,
                                               const bool *is_chosen, struct busy *b)
{
    const struct rank_collectives *const ops = &r->collectives.ops;
    for (size_t at = 0, first = 0; at < r->steps.n; at++) {
        const int64_t begin = r->steps.begin_ns[at], end = r->steps.end_ns[at];
        int64_t total = 0;
        if (end <= begin || !step_has_row(step, (uint32_t)at))
            continue;
        while (first < ops->n && ops->end_ns[first] <= begin)
            first++;
        b->n = 0;
        for (size_t i = first; i < ops->n && ops->begin_ns[i] < end; i++)
            if (is_chosen[i] && ops->end_ns[i] > begin &&
                (step->is_all || (ops->begin_ns[i] >= begin && ops->end_ns[i] <= end))) {
                b->begin_ns[b->n] = ops->begin_ns[i];
                b->end_ns[b->n++] = ops->end_ns[i];
            }
        busy_merge(b);
        for (size_t i = 0; i < b->n; i++)
            total = wrap_add(total, b->end_ns[i] - b->begin_ns[i]);
        const int64_t exposed = exposed_of(b, &r->exposed);
        const double length = (double)(end - begin);
        const struct cell row[1 + CELLS] = {
            cell_int(r->identity.rank),
            cell_int(r->steps.id[at]),
            cell_text(kind->text),
            cell_int(begin),
            cell_int(end),
            cell_int(total),
            cell_real((double)total / length),
            cell_int(exposed),
            cell_real(round_exact((double)exposed / length, 5)),
        };
        grid_row(&s->of_ranks, row);
        grid_row(&s->rows, row + 1);
    }
}

static bool computational_op_masking_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct computational_op_masking_state *const s = state;
    const char *const text = r->identity.parallel_group_info;
    const size_t n = r->collectives.ops.n;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    json_error_t why;
    json_t *const noted = text ? json_read(text, strlen(text), JSON_REJECT_DUPLICATES, &why) : NULL;
    bool *const is_chosen = arena_take(c->scratch, n, sizeof *is_chosen);
    struct busy b = { .begin_ns = arena_take(c->scratch, n, sizeof *b.begin_ns),
                      .end_ns = arena_take(c->scratch, n, sizeof *b.end_ns) };
    const bool works = !arena_failed(c->scratch) && !json_memory_failed();
    for (size_t i = 0; works && i < s->kinds.n; i++)
        if (choose(&s->kinds.at[i], r, noted, is_chosen) > 0)
            computational_op_masking_add_steps(s, &s->kinds.at[i], r, &step, is_chosen, &b);
    json_decref(noted);
    return works && !arena_failed(c->mem);
}

static bool computational_op_masking_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct computational_op_masking_state *const s = state;
    if (s->bad_types)
        return error_set(e, FAULT_ASKED,
                         "%s: a name is missing in the kinds of groups \"%s\"; write them as \"dp;tp,mp\"",
                         c->mode->name, s->bad_types);
    return (recipe_table(out, "ComputationalOperatorMaskingLinearity", "computational_operator_masking_linearity.csv",
                         RECIPE_COLUMNS(columns), &s->rows) &&
            recipe_table(out, "ComputationalOperatorMaskingByRank", "computational_operator_masking_by_rank.csv",
                         RECIPE_COLUMNS(rank_columns), &s->of_ranks)) ||
           error_no_memory(e, c->mode->name);
}

const struct mode mode_computational_op_masking = {
    .name = "computational_op_masking",
    .class_name = "ComputationalOpMasking",
    .about = "communication that is hidden behind kernels",
    .needs = RANK_STEPS | RANK_COLLECTIVES | RANK_TASKS,
    .begin = begin,
    .add = computational_op_masking_add,
    .finish = computational_op_masking_finish,
};
