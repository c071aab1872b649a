/* SPDX-License-Identifier: Apache-2.0 */
/* mode_ep_load_balance.c - tokens that each rank of a group of experts computed. */
#include "cluster/modes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "base/memory/keys.h"
#include "base/files/out.h"
#include "base/text/stamp.h"
#include "cluster/results/recipe.h"

enum { DEFAULT_TOP = 20 };

static const struct result_column rank_columns[] = { COLUMN("rank", "INTEGER"), COLUMN("epRanks", "TEXT"),
                                                     COLUMN("inputShapesSummary", "INTEGER") };
static const struct result_column group_columns[] = { COLUMN("epRanks", "TEXT"), COLUMN("tokensDiff", "INTEGER") };

struct ep_load_balance_span {
    int64_t least, most;
};

struct ep_load_balance_state {
    struct grid ranks;
    struct keys groups; /* texts of their ranks */
    LIST(struct ep_load_balance_span) span;
};

static void *ep_load_balance_begin(struct mode_context *c)
{
    struct ep_load_balance_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        s->ranks = (struct grid){ .n_columns = 3, .mem = c->mem };
    return s;
}

/* The first dimensions of all but the last two shapes, added up: "64,512;128,512;8,512,1024;2" has 192. -1: it has
 * none. */
static int64_t tokens_of(const char *shapes)
{
    const char *const end_marks = ";\"";
    size_t n = 0;
    for (const char *at = shapes; *at; at += strcspn(at, end_marks), at += strspn(at, end_marks))
        n += strcspn(at, end_marks) > 0;
    if (n < 2)
        return -1;
    int64_t tokens = 0;
    size_t i = 0;
    for (const char *at = shapes + strspn(shapes, end_marks); i + 2 < n; i++) {
        char *end;
        const int64_t first = strtoll(at, &end, 10);
        if (end == at || first < 0 || first > INT32_MAX)
            return -1;
        tokens += first;
        at += strcspn(at, end_marks);
        at += strspn(at, end_marks);
    }
    return tokens;
}

/* "0,1,2,3": ranks of the first group that is called exp; "" without one. NAME_NA: no memory. */
static name_id experts_of(const struct rank_summary *r, struct names *names)
{
    const char *const text = r->identity.parallel_group_info;
    struct error e = { 0 };
    json_error_t why;
    struct out o;
    if (!out_open_memory(&o, &e))
        return NAME_NA;
    json_t *const noted = text ? json_read(text, strlen(text), 0, &why) : NULL;
    const char *id;
    json_t *group;
    json_object_foreach(noted, id, group)
    {
        const char *const name = json_string_value(json_object_get(group, "group_name"));
        if (!name || strcmp(name, "exp") != 0)
            continue;
        const json_t *const ranks = json_object_get(group, "global_ranks");
        for (size_t i = 0; i < json_array_size(ranks); i++) {
            out_bytes(&o, ",", i > 0);
            out_i64(&o, (int64_t)json_integer_value(json_array_get(ranks, i)));
        }
        break;
    }
    json_decref(noted);
    const name_id ranks = json_memory_failed() ? NAME_NA : names_add(names, o.buf, o.n);
    out_discard(&o);
    return ranks;
}

static bool ep_load_balance_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct ep_load_balance_state *const s = state;
    const struct summary_runs *const k = &r->kernels;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    const name_id grouped = names_addz(c->names, "GroupedMatmul");
    int64_t sum = 0;
    bool has_some = false;
    for (size_t i = 0; i < k->n; i++) {
        if (k->op_type[i] != grouped || !step_has_row(&step, k->step[i]))
            continue;
        const int64_t tokens = tokens_of(names_text(c->names, k->input_shapes[i]));
        has_some |= tokens >= 0;
        sum = wrap_add(sum, tokens >= 0 ? tokens * (int64_t)(k->first[i + 1] - k->first[i]) : 0);
    }
    if (!has_some)
        return true;
    const name_id experts = experts_of(r, c->names);
    const uint32_t at = keys_add(&s->groups, experts, c->mem);
    const bool is_new = at == s->span.n;
    if (experts == NAME_NA || at == KEYS_NO_MEMORY || (is_new && !list_add(&s->span, c->mem)))
        return false;
    struct ep_load_balance_span *const span = &s->span.at[at];
    *span = (struct ep_load_balance_span){ is_new || sum < span->least ? sum : span->least,
                                           is_new || sum > span->most ? sum : span->most };
    grid_row(&s->ranks, (const struct cell[]){ cell_int(r->identity.rank), cell_name(experts), cell_int(sum) });
    return !arena_failed(c->mem);
}

static bool ep_load_balance_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct ep_load_balance_state *const s = state;
    struct grid groups = { .n_columns = 2, .mem = c->mem };
    static const struct grid_key by_difference[] = { { 1, true }, { 0, false } };
    const size_t top = c->options->top ? c->options->top : DEFAULT_TOP;
    for (size_t i = 0; i < s->span.n; i++)
        grid_row(&groups, (const struct cell[]){ cell_name((name_id)s->groups.key.at[i]),
                                                 cell_int(wrap_sub(s->span.at[i].most, s->span.at[i].least)) });
    if (!grid_sort(&groups, by_difference, 2, c->names))
        return error_no_memory(e, c->mode->name);
    if (groups.cells.n > 2 * top)
        groups.cells.n = 2 * top;
    return (recipe_table(out, "EPTokensSummary", "ep_tokens_summary.csv", RECIPE_COLUMNS(rank_columns), &s->ranks) &&
            recipe_table(out, "TopEPTokensInfo", "top_ep_tokens_info.csv", RECIPE_COLUMNS(group_columns), &groups)) ||
           error_no_memory(e, c->mode->name);
}

const struct mode mode_ep_load_balance = {
    .name = "ep_load_balance",
    .class_name = "EPLoadBalance",
    .about = "tokens of the ranks of a group of experts",
    .needs = RANK_TASKS,
    .uses = RANK_STEPS,
    .begin = ep_load_balance_begin,
    .add = ep_load_balance_add,
    .finish = ep_load_balance_finish,
};
