/* SPDX-License-Identifier: Apache-2.0 */
/* mode_slow_rank.c - ranks that come late to collectives: those whose part of one is conspicuously short. */
#include "cluster/modes.h"

#include "base/files/out.h"
#include "cluster/results/base_tables.h"
#include "cluster/results/recipe.h"
#include "cluster/verdicts/verdicts.h"

static const struct result_column rank_columns[] = { COLUMN("rankId", "INTEGER"),
                                                     COLUMN("slowAffectCount", "INTEGER") };
static const struct result_column op_columns[] = { COLUMN("SlowRank", "TEXT"), COLUMN("OpName", "TEXT"),
                                                   COLUMN("GroupName", "TEXT"), COLUMN("Timestamp", "INTEGER"),
                                                   DESCRIBE_COLUMNS };
enum { OP_CELLS = sizeof op_columns / sizeof *op_columns, SHOWN = 4 };

struct slow_rank_state {
    struct gathered gathered;
    struct keys groups; /* and how many ranks have collectives of each */
    LIST(uint32_t) n_members;
    LIST(int64_t) last_member;
    struct keys voted; /* ranks */
    LIST(uint64_t) votes;
    struct grid ops;
    size_t n_incomplete;
    const char *incomplete; /* the first ones */
};

static void *slow_rank_begin(struct mode_context *c)
{
    struct slow_rank_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s) {
        s->gathered.mem = c->mem;
        s->ops = (struct grid){ .n_columns = OP_CELLS, .mem = c->mem };
    }
    return s;
}

static bool add_member(struct slow_rank_state *s, name_id group, int64_t rank, struct arena *mem)
{
    const uint32_t at = keys_add(&s->groups, group, mem);
    const bool is_new = at == s->n_members.n;
    if (at == KEYS_NO_MEMORY || (is_new && (!list_add(&s->n_members, mem) || !list_add(&s->last_member, mem))))
        return false;
    if (is_new || s->last_member.at[at] != rank)
        s->n_members.at[at]++;
    s->last_member.at[at] = rank;
    return true;
}

static bool slow_rank_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct slow_rank_state *const s = state;
    const struct rank_collectives *const ops = &r->collectives.ops;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    for (size_t i = 0; i < ops->n; i++) {
        const int64_t launch = collective_launch_ns(r, i);
        if (launch != INT64_MIN && step_has_time(&step, launch) && !is_send_or_receive(c->names, ops->name[i]) &&
            (!gathered_add(&s->gathered, ops, i, r->identity.rank, 0, 0) ||
             !add_member(s, ops->group[i], r->identity.rank, c->mem)))
            return false;
    }
    return true;
}

static bool vote(struct slow_rank_state *s, int64_t rank, struct arena *mem)
{
    const uint32_t at = keys_add(&s->voted, (uint64_t)rank, mem);
    if (at == KEYS_NO_MEMORY || (at == s->votes.n && !list_add(&s->votes, mem)))
        return false;
    s->votes.at[at]++;
    return true;
}

/* Members that an operator has: each once. Ranks ascend. */
static size_t members_of(const struct slow_rank_state *s, size_t from, size_t end)
{
    const struct gathered_use *const use = s->gathered.uses.at;
    const uint32_t *const order = s->gathered.order;
    size_t n = 1;
    for (size_t i = from + 1; i < end; i++)
        n += use[order[i]].rank != use[order[i - 1]].rank;
    return n;
}

/* A collective that some member lacks cannot be judged: the one that is missing may be the late one. */
static bool note_incomplete(struct slow_rank_state *s, const struct mode_context *c, name_id op, size_t n,
                            size_t wanted)
{
    if (s->n_incomplete++ < SHOWN)
        s->incomplete = arena_printf(c->mem, "%s%s%s (%zu of %zu)", s->incomplete ? s->incomplete : "",
                                     s->incomplete ? ", " : "", names_text(c->names, op), n, wanted);
    return s->incomplete != NULL;
}

/* The row of an operator that some ranks were late in; they are voted for. */
static bool slow_rank_add_row(struct slow_rank_state *s, const struct mode_context *c, size_t from, size_t end,
                              const bool *is_late)
{
    struct error e = { 0 };
    struct out o;
    struct durations d = { 0 };
    struct description described;
    struct arena *const scratch = arena_new();
    int64_t first_ns = INT64_MAX;
    bool works = scratch && out_open_memory(&o, &e);
    if (!works) {
        arena_free(scratch);
        return false;
    }
    for (size_t i = from; works && i < end; i++) {
        const struct gathered_use *const use = &s->gathered.uses.at[s->gathered.order[i]];
        works = durations_add(&d, use->ns, 1, scratch);
        if (!is_late[i - from] || !works)
            continue;
        out_bytes(&o, ",", o.n > 0);
        out_i64(&o, use->rank);
        first_ns = use->begin_ns < first_ns ? use->begin_ns : first_ns;
        works = vote(s, use->rank, c->mem);
    }
    const char *const ranks = works ? arena_text(c->mem, o.buf, o.n) : NULL;
    out_discard(&o);
    works = ranks && durations_describe(&d, &described);
    arena_free(scratch);
    if (!works)
        return false;
    uint32_t part[GATHERED_PARTS];
    gathered_parts(&s->gathered, s->gathered.uses.at[s->gathered.order[from]].op, part);
    struct cell row[OP_CELLS] = { cell_text(ranks), cell_name(part[GATHERED_NAME]), cell_name(part[GATHERED_GROUP]),
                                  cell_int(first_ns) };
    describe_cells(row + 4, &described);
    grid_row(&s->ops, row);
    return !arena_failed(c->mem);
}

static bool slow_rank_judge(struct slow_rank_state *s, const struct mode_context *c)
{
    const size_t n = s->gathered.uses.n;
    int64_t *const ns = arena_take(c->mem, n, sizeof *ns);
    bool *const is_late = arena_take(c->mem, n, sizeof *is_late);
    double *const scratch = arena_take(c->mem, n, sizeof *scratch);
    if (!ns || !is_late || !scratch)
        return false;
    for (size_t from = 0, end; from < n; from = end) {
        uint32_t part[GATHERED_PARTS];
        end = gathered_end(&s->gathered, from);
        gathered_parts(&s->gathered, s->gathered.uses.at[s->gathered.order[from]].op, part);
        const size_t wanted = s->n_members.at[keys_find(&s->groups, part[GATHERED_GROUP])];
        const size_t members = members_of(s, from, end);
        if (members < wanted) {
            if (!note_incomplete(s, c, part[GATHERED_NAME], members, wanted))
                return false;
            continue;
        }
        for (size_t i = from; i < end; i++)
            ns[i - from] = s->gathered.uses.at[s->gathered.order[i]].ns;
        if (late_ranks(ns, end - from, is_late, scratch) > 0 && !slow_rank_add_row(s, c, from, end, is_late))
            return false;
    }
    return true;
}

static bool slow_rank_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct slow_rank_state *const s = state;
    struct grid ranks = { .n_columns = 2, .mem = c->mem };
    static const struct grid_key by_time[] = { { 3, false }, { 1, false } }, by_votes[] = { { 1, true }, { 0, false } };
    bool works = gathered_sort(&s->gathered) && slow_rank_judge(s, c);
    for (size_t i = 0; works && i < s->votes.n; i++)
        grid_row(&ranks, (const struct cell[]){ cell_int((int64_t)s->voted.key.at[i]), cell_uint(s->votes.at[i]) });
    if (works && s->n_incomplete > 0)
        works = results_note(out,
                             "slow_rank: %zu collectives are not recorded on every rank of their group and are left "
                             "out: %s%s",
                             s->n_incomplete, s->incomplete, s->n_incomplete > SHOWN ? ", …" : "");
    return (works && grid_sort(&s->ops, by_time, 2, c->names) && grid_sort(&ranks, by_votes, 2, c->names) &&
            recipe_table(out, "SlowRank", "rank_stats.csv", RECIPE_COLUMNS(rank_columns), &ranks) &&
            recipe_table(out, "SlowOpStats", "slow_op_stats.csv", RECIPE_COLUMNS(op_columns), &s->ops)) ||
           error_no_memory(e, c->mode->name);
}

const struct mode mode_slow_rank = {
    .name = "slow_rank",
    .class_name = "SlowRankAnalysis",
    .about = "ranks for which the others wait in collectives",
    .needs = RANK_COLLECTIVES,
    .uses = RANK_STEPS | RANK_CALLS,
    .begin = slow_rank_begin,
    .add = slow_rank_add,
    .finish = slow_rank_finish,
};
