/* SPDX-License-Identifier: Apache-2.0 */
/* mode_cluster_time_summary.c - what the time of each step of each rank was spent on, and the same against another
 * job. */
#include "cluster/modes.h"

#include <stdlib.h>

#include "cluster/job/job.h"
#include "cluster/modes/time_summary_db.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/results/base_tables.h"
#include "cluster/results/recipe.h"

static const struct result_column columns[] = {
    COLUMN_CSV("rank", "INTEGER", "Rank"),
    COLUMN_CSV("step", "INTEGER", "Step"),
    COLUMN_CSV("stepTime", "REAL", "Step Time(us)"),
    COLUMN_CSV("computation", "REAL", "Computation(us)"),
    COLUMN_CSV("communicationNotOverlapComputation", "REAL", "Communication Not Overlap Computation(us)"),
    COLUMN_CSV("communicationOverlapComputation", "REAL", "Communication Overlap Computation(us)"),
    COLUMN_CSV("communication", "REAL", "Communication(us)"),
    COLUMN_CSV("free", "REAL", "Free(us)"),
    COLUMN_CSV("communicationWaitStageTime", "REAL", "Communication Wait Stage Time(us)"),
    COLUMN_CSV("communicationTransmitStageTime", "REAL", "Communication Transmit Stage Time(us)"),
    COLUMN_CSV("memory", "REAL", "Memory(us)"),
    COLUMN_CSV("memoryNotOverlapComputationCommunication", "REAL", "Memory Not Overlap Computation Communication(us)"),
};
enum { CELLS = sizeof columns / sizeof *columns };
_Static_assert(CELLS == 2 + TIME_VALUES, "rank, step, and the values of a step");

static const struct result_column compare_columns[] = {
    COLUMN("rank", "INTEGER"),
    COLUMN("step", "INTEGER"),
#define COMPARED(name) COLUMN(name, "REAL"), COLUMN(name "Base", "REAL"), COLUMN(name "Diff", "REAL")
    COMPARED("stepTime"),
    COMPARED("computation"),
    COMPARED("communicationNotOverlapComputation"),
    COMPARED("communicationOverlapComputation"),
    COMPARED("communication"),
    COMPARED("free"),
    COMPARED("communicationWaitStageTime"),
    COMPARED("communicationTransmitStageTime"),
    COMPARED("memory"),
    COMPARED("memoryNotOverlapComputationCommunication"),
#undef COMPARED
};
enum { COMPARE_CELLS = sizeof compare_columns / sizeof *compare_columns };

/* A sum of us with what its roundings lost (Kahan), as pandas adds them up: csv files show all digits. */
struct us_sum {
    double us, lost;
};

/* A step of a rank, while it is not known how long the others took. */
struct cluster_time_summary_step_row {
    struct time_row row;
    bool has_step_time;
    struct us_sum wait, transmit;
};

struct cluster_time_summary_state {
    LIST(struct cluster_time_summary_step_row) rows; /* by rank, then in order of appearance */
    struct gathered gathered;                        /* row: of rows */
    size_t n_ranks;                                  /* with collectives */
};

static void *cluster_time_summary_begin(struct mode_context *c)
{
    struct cluster_time_summary_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        s->gathered.mem = c->mem;
    return s;
}

/* The row of a step of a rank, whose rows begin at `first`; by the number of the step. NULL: no memory. */
static struct cluster_time_summary_step_row *cluster_time_summary_row_of(struct cluster_time_summary_state *s,
                                                                         size_t first, struct keys *steps, int64_t rank,
                                                                         int64_t step, struct arena *mem,
                                                                         struct arena *scratch)
{
    const uint32_t at = keys_add(steps, (uint64_t)step, scratch);
    if (at == KEYS_NO_MEMORY)
        return NULL;
    if (first + at == s->rows.n) {
        struct cluster_time_summary_step_row *const new = list_add(&s->rows, mem);
        if (!new)
            return NULL;
        *new = (struct cluster_time_summary_step_row){ .row = { .rank = rank, .step = step } };
    }
    return &s->rows.at[first + at];
}

/* "-1" where there is no step, as the peer has it. False: the text is no number. */
static bool step_number(const struct names *names, name_id text, int64_t *out)
{
    char *end;
    const char *const t = names_text(names, text);
    *out = text == NAME_EMPTY ? -1 : strtoll(t, &end, 10);
    return text == NAME_EMPTY || (end != t && *end == '\0');
}

static bool cluster_time_summary_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct cluster_time_summary_state *const s = state;
    struct arena *const scratch = c->scratch;
    const struct cluster_options *const o = c->options;
    const int64_t rank = r->identity.rank;
    const size_t first = s->rows.n;
    struct keys steps = { 0 };
    struct cluster_time_summary_step_row *row;
    for (size_t i = 0; i < r->steps.n; i++) {
        if (o->has_step && r->steps.id[i] != o->step)
            continue;
        if (!(row = cluster_time_summary_row_of(s, first, &steps, rank, r->steps.id[i], c->mem, scratch)))
            return false;
        row->has_step_time = true;
        row->row.us[TIME_STEP] = (double)(r->steps.end_ns[i] - r->steps.begin_ns[i]) / 1000.0;
    }
    for (size_t i = 0; i < r->step_trace.n; i++) {
        int64_t step;
        if (!step_number(c->names, r->step_trace.step[i], &step) || (o->has_step && step != o->step))
            continue;
        if (!(row = cluster_time_summary_row_of(s, first, &steps, rank, step, c->mem, scratch)))
            return false;
        row->row.us[TIME_COMPUTATION] = r->step_trace.us[STEP_COLUMN_COMPUTING][i];
        row->row.us[TIME_EXPOSED] = r->step_trace.us[STEP_COLUMN_EXPOSED][i];
        row->row.us[TIME_OVERLAPPED] = r->step_trace.us[STEP_COLUMN_OVERLAPPED][i];
        row->row.us[TIME_COMMUNICATION] = r->step_trace.us[STEP_COLUMN_COMMUNICATION][i];
        row->row.us[TIME_FREE] = r->step_trace.us[STEP_COLUMN_FREE][i];
    }
    for (size_t i = 0; i < r->sums.n; i++) {
        const int64_t step = i < r->steps.n ? r->steps.id[i] : -1;
        if ((i == r->steps.n && r->steps.n > 0) || (o->has_step && step != o->step) || r->sums.copy_ns[i] == 0)
            continue;
        if (!(row = cluster_time_summary_row_of(s, first, &steps, rank, step, c->mem, scratch)))
            return false;
        row->row.us[TIME_MEMORY] = (double)r->sums.copy_ns[i] / 1000.0;
        row->row.us[TIME_MEMORY_EXPOSED] = (double)r->sums.copy_exposed_ns[i] / 1000.0;
    }
    const size_t n_uses = s->gathered.uses.n;
    for (size_t i = 0; i < r->collectives.ops.n; i++) {
        const int64_t launch = collective_launch_ns(r, i);
        const uint32_t at = launch == INT64_MIN ? NO_ROW : step_of(&r->steps, launch);
        const int64_t step = at == NO_ROW ? -1 : r->steps.id[at];
        if (launch == INT64_MIN || (at == NO_ROW && r->steps.n > 0) || (o->has_step && step != o->step))
            continue;
        if (!(row = cluster_time_summary_row_of(s, first, &steps, rank, step, c->mem, scratch)) ||
            !gathered_add(&s->gathered, &r->collectives.ops, i, rank, (uint32_t)step, (uint32_t)(row - s->rows.at)))
            return false;
    }
    s->n_ranks += s->gathered.uses.n > n_uses;
    return true;
}

static int by_rank_and_step(const void *a, const void *b)
{
    const struct time_row *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static void us_add(struct us_sum *s, double us)
{
    const double less = us - s->lost, sum = s->us + less;
    s->lost = (sum - s->us) - less;
    s->us = sum;
}

/* Of operators of the same name the shortest is the transfer; what the others take longer is waiting. */
static bool share_waits(struct cluster_time_summary_state *s)
{
    const size_t n = s->gathered.uses.n;
    int64_t *shortest = arena_take(s->gathered.mem, n, sizeof *shortest);
    if (!shortest || !gathered_sort(&s->gathered))
        return false;
    const struct gathered_use *const use = s->gathered.uses.at;
    const uint32_t *const order = s->gathered.order;
    for (size_t from = 0, end; from < n; from = end) {
        end = gathered_end(&s->gathered, from);
        int64_t least = INT64_MAX;
        for (size_t i = from; i < end; i++)
            least = use[order[i]].ns < least ? use[order[i]].ns : least;
        for (size_t i = from; i < end; i++)
            shortest[order[i]] = least;
    }
    for (size_t i = 0; s->n_ranks > 1 && i < n; i++) {
        struct cluster_time_summary_step_row *const row = &s->rows.at[use[i].row];
        const double transmit = (double)shortest[i] / 1000.0;
        us_add(&row->wait, (double)use[i].ns / 1000.0 - transmit);
        us_add(&row->transmit, transmit);
    }
    arena_drop(s->gathered.mem, shortest);
    return true;
}

static bool complete(struct cluster_time_summary_state *s, struct time_rows *out, struct arena *mem)
{
    if (!share_waits(s))
        return false;
    for (size_t i = 0; i < s->rows.n; i++) {
        struct time_row *const to = list_add(&out->rows, mem);
        if (!to)
            return false;
        *to = s->rows.at[i].row;
        if (!s->rows.at[i].has_step_time)
            to->us[TIME_STEP] = to->us[TIME_COMPUTATION] + to->us[TIME_EXPOSED] + to->us[TIME_FREE];
        to->us[TIME_FREE] -= to->us[TIME_MEMORY_EXPOSED];
        to->us[TIME_WAIT] = s->rows.at[i].wait.us;
        to->us[TIME_TRANSMIT] = s->rows.at[i].transmit.us;
    }
    if (out->rows.n > 0)
        qsort(out->rows.at, out->rows.n, sizeof *out->rows.at, by_rank_and_step);
    return true;
}

static bool summary_table(const struct time_rows *t, const struct mode_context *c, struct results *out)
{
    struct grid g = { .n_columns = CELLS, .mem = c->mem };
    size_t n_below = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        struct cell row[CELLS] = { cell_int(t->rows.at[i].rank), cell_int(t->rows.at[i].step) };
        for (size_t k = 0; k < TIME_VALUES; k++)
            row[2 + k] = cell_real(t->rows.at[i].us[k]);
        grid_row(&g, row);
        n_below += t->rows.at[i].us[TIME_FREE] < 0;
    }
    if (n_below > 0 &&
        !results_note(out,
                      "%s: free time is below 0 in %zu steps of ranks; copies inside of collectives count as memory",
                      c->mode->name, n_below))
        return false;
    return recipe_table(out, "ClusterTimeSummary", "cluster_time_summary.csv", RECIPE_COLUMNS(columns), &g);
}

/* Collectives that fewer ranks have than others of their group: what they waited for cannot be known from the rest. */
static bool note_incomplete(const struct cluster_time_summary_state *s, const struct mode_context *c,
                            struct results *out)
{
    const struct gathered *const g = &s->gathered;
    struct keys groups = { 0 };
    LIST(size_t) most = { 0 };
    size_t n_incomplete = 0;
    for (unsigned round = 0; round < 2; round++)
        for (size_t from = 0, end; from < g->uses.n; from = end) {
            uint32_t part[GATHERED_PARTS];
            end = gathered_end(g, from);
            gathered_parts(g, g->uses.at[g->order[from]].op, part);
            const uint32_t at = keys_add(&groups, part[GATHERED_GROUP], c->mem);
            if (at == KEYS_NO_MEMORY || (at == most.n && !list_add(&most, c->mem)))
                return false;
            if (is_send_or_receive(c->names, part[GATHERED_NAME]))
                continue;
            if (round == 0 && end - from > most.at[at])
                most.at[at] = end - from;
            n_incomplete += round == 1 && end - from < most.at[at];
        }
    return n_incomplete == 0 ||
           results_note(out,
                        "%s: %zu collectives are not recorded on every rank of their group; their wait and transmit "
                        "times may be wrong",
                        c->mode->name, n_incomplete);
}

static bool cluster_time_summary_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct time_rows rows = { 0 };
    return (complete(state, &rows, c->mem) && summary_table(&rows, c, out) && note_incomplete(state, c, out)) ||
           error_no_memory(e, c->mode->name);
}

/* The same of another job: as an earlier run left it, or from its ranks. */
static bool base_rows(struct mode_context *c, struct time_rows *out, struct error *e)
{
    const char *const path = c->options->base;
    if (time_summary_has(path, c->mem))
        return time_summary_read(path, out, c->mem, e);
    struct job base = { 0 };
    struct mode_context of_base = *c;
    bool works = job_init(&base, e) && job_find(&base, path, e) && job_complete(&base, NULL, e);
    base.load = c->job->load;
    of_base.job = &base;
    of_base.names = base.names;
    void *const state = works ? cluster_time_summary_begin(&of_base) : NULL;
    for (size_t i = 0; works && state && i < base.ranks.n; i++) {
        struct arena *const mem = arena_new();
        struct rank_summary r;
        of_base.scratch = mem;
        works = mem && job_summary(&base, i, c->mode->needs | c->mode->uses, mem, &r, NULL, e) &&
                cluster_time_summary_add(state, &of_base, &r);
        arena_free(mem);
    }
    works = works && state && complete(state, out, c->mem);
    if (!works && e->fault == FAULT_NONE)
        error_no_memory(e, path);
    job_fini(&base);
    return works;
}

static bool compare_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct time_rows rows = { 0 }, base = { 0 };
    struct grid g = { .n_columns = COMPARE_CELLS, .mem = c->mem };
    if (!c->options->base)
        return c->options->is_all_modes ||
               error_set(e, FAULT_ASKED, "%s: no job to compare with; name one with --base DIR", c->mode->name);
    if (!base_rows(c, &base, e))
        return false;
    if (!complete(state, &rows, c->mem))
        return error_no_memory(e, c->mode->name);
    if (base.rows.n > 0)
        qsort(base.rows.at, base.rows.n, sizeof *base.rows.at, by_rank_and_step);
    size_t n_alone = 0;
    for (size_t i = 0, k = 0; i < rows.rows.n; i++) {
        const struct time_row *const now = &rows.rows.at[i];
        while (k < base.rows.n && by_rank_and_step(&base.rows.at[k], now) < 0)
            k++;
        if (k == base.rows.n || by_rank_and_step(&base.rows.at[k], now) != 0) {
            n_alone++;
            continue;
        }
        struct cell row[COMPARE_CELLS] = { cell_int(now->rank), cell_int(now->step) };
        for (size_t v = 0; v < TIME_VALUES; v++) {
            row[2 + 3 * v] = cell_real(now->us[v]);
            row[3 + 3 * v] = cell_real(base.rows.at[k].us[v]);
            row[4 + 3 * v] = cell_real(now->us[v] - base.rows.at[k].us[v]);
        }
        grid_row(&g, row);
    }
    if (base.log_trouble && !results_note(out, "%s: %s", c->mode->name, base.log_trouble))
        return error_no_memory(e, c->mode->name);
    if (n_alone > 0 && !results_note(out, "%s: %zu steps of ranks are not in %s, and are left out", c->mode->name,
                                     n_alone, c->options->base))
        return error_no_memory(e, c->mode->name);
    return (summary_table(&rows, c, out) &&
            recipe_table(out, "ClusterTimeCompareSummary", "cluster_time_compare_summary.csv",
                         RECIPE_COLUMNS(compare_columns), &g)) ||
           error_no_memory(e, c->mode->name);
}

const struct mode mode_cluster_time_summary = {
    .name = "cluster_time_summary",
    .class_name = "ClusterTimeSummary",
    .about = "how the time of each step was spent",
    .needs = RANK_STEP_TRACE,
    .uses = RANK_STEPS | RANK_COLLECTIVES | RANK_CALLS | RANK_TASKS,
    .begin = cluster_time_summary_begin,
    .add = cluster_time_summary_add,
    .finish = cluster_time_summary_finish,
};

const struct mode mode_cluster_time_compare_summary = {
    .name = "cluster_time_compare_summary",
    .class_name = "ClusterTimeCompareSummary",
    .about = "the same, compared with another job (--base)",
    .needs = RANK_STEP_TRACE,
    .uses = RANK_STEPS | RANK_COLLECTIVES | RANK_CALLS | RANK_TASKS,
    .begin = cluster_time_summary_begin,
    .add = cluster_time_summary_add,
    .finish = compare_finish,
};
