/* SPDX-License-Identifier: Apache-2.0 */
/* mode_slow_link.c - collectives whose transfer took conspicuously long, and links that are slower than others of their
 * kind. */
#include "cluster/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/results/base_tables.h"
#include "cluster/results/recipe.h"
#include "cluster/verdicts/verdicts.h"

enum { DEFAULT_TOP = 15, OPS_AT_ONCE = 1024 };
static const double most_elements = 1e15; /* more is damage */

static const struct result_column sum_columns[] = {
    COLUMN("opTypeRelatedRanksDataSize", "TEXT"),
    DESCRIBE_COLUMNS,
    COLUMN("offsetRatio", "REAL"),
    COLUMN("maxRank", "INTEGER"),
    COLUMN("minRank", "INTEGER"),
};
static const struct result_column op_columns[] = {
    COLUMN("rankId", "INTEGER"),   COLUMN("groupName", "TEXT"),       COLUMN("communicationTime", "INTEGER"),
    COLUMN("opName", "TEXT"),      COLUMN("opType", "TEXT"),          COLUMN("dataType", "TEXT"),
    COLUMN("dataSize", "INTEGER"), COLUMN("transmitTime", "INTEGER"), COLUMN("relatedRanks", "INTEGER"),
};
enum { SUM_CELLS = sizeof sum_columns / sizeof *sum_columns, OP_CELLS = sizeof op_columns / sizeof *op_columns };

static const struct result_table op_table = {
    .name = "SlowLinkOps", .file = "slow_link_ops.csv", .column = op_columns, .n_columns = OP_CELLS
};

/* What there is of a use beside its times. */
struct slow_link_kind {
    name_id type, data_type;
    int64_t bytes;
};

struct slow_link_state {
    struct gathered gathered; /* row: of kinds */
    LIST(struct slow_link_kind) kinds;
    int64_t *transmit_ns; /* of each use */
    uint32_t *related;
    struct slow_links links;
    struct table_sink *ops; /* may be all uses */
};

static void *slow_link_begin(struct mode_context *c)
{
    struct slow_link_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s) {
        s->gathered.mem = c->mem;
        slow_links_init(&s->links, c->names, c->mem);
    }
    return s;
}

/* Bytes of an element; 0: unknown. */
static int64_t bytes_of(const char *data_type)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } type[] = {
        { "INT8", 1 },   { "UINT8", 1 }, { "INT16", 2 },   { "UINT16", 2 }, { "FP16", 2 },
        { "BFP16", 2 },  { "INT32", 4 }, { "UINT32", 4 },  { "FP32", 4 },   { "INT64", 8 },
        { "UINT64", 8 }, { "FP64", 8 },  { "INT128", 16 },
    };
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        if (strcmp(type[i].name, data_type) == 0)
            return type[i].bytes;
    return 0;
}

static bool slow_link_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct slow_link_state *const s = state;
    const struct rank_collectives *const ops = &r->collectives.ops;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    for (size_t i = 0; i < ops->n; i++) {
        const int64_t bytes = bytes_of(names_text(c->names, ops->data_type[i]));
        if (bytes == 0 || ops->count[i] < 0 || ops->count[i] > most_elements || !step_has_time(&step, ops->begin_ns[i]))
            continue;
        struct slow_link_kind *const k = list_add(&s->kinds, c->mem);
        if (!k || !gathered_add(&s->gathered, ops, i, r->identity.rank, 0, (uint32_t)s->kinds.n - 1))
            return false;
        *k = (struct slow_link_kind){ ops->type[i], ops->data_type[i], bytes * (int64_t)ops->count[i] };
    }
    return slow_links_add(&s->links, r, c->options);
}

/* The shortest of the same name is the transfer. Sends and receives are two operators: nothing is known of them. */
static bool find_transfers(struct slow_link_state *s, const struct mode_context *c)
{
    const struct gathered *const g = &s->gathered;
    s->transmit_ns = arena_take(c->mem, g->uses.n, sizeof *s->transmit_ns);
    s->related = arena_take(c->mem, g->uses.n, sizeof *s->related);
    if (!s->transmit_ns || !s->related || !gathered_sort(&s->gathered))
        return false;
    for (size_t from = 0, end; from < g->uses.n; from = end) {
        uint32_t part[GATHERED_PARTS];
        end = gathered_end(g, from);
        gathered_parts(g, g->uses.at[g->order[from]].op, part);
        if (is_send_or_receive(c->names, part[GATHERED_NAME]))
            continue;
        int64_t shortest = INT64_MAX;
        for (size_t i = from; i < end; i++)
            shortest = g->uses.at[g->order[i]].ns < shortest ? g->uses.at[g->order[i]].ns : shortest;
        for (size_t i = from; i < end; i++) {
            s->transmit_ns[g->order[i]] = shortest;
            s->related[g->order[i]] = (uint32_t)(end - from);
        }
    }
    return true;
}

struct slow_link_sorting {
    const struct slow_link_state *s;
    const struct names *names;
};

static const struct slow_link_kind *slow_link_kind_of(const struct slow_link_state *s, uint32_t use)
{
    return &s->kinds.at[s->gathered.uses.at[use].row];
}

static int by_kind(const void *a, const void *b, void *sorting)
{
    const struct slow_link_sorting *const o = sorting;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct slow_link_kind *const p = slow_link_kind_of(o->s, x), *const q = slow_link_kind_of(o->s, y);
    const int type = p->type == q->type ? 0 : names_compare(o->names, p->type, q->type);
    if (type != 0)
        return type;
    if (p->bytes != q->bytes)
        return p->bytes < q->bytes ? -1 : 1;
    return (o->s->related[x] > o->s->related[y]) - (o->s->related[x] < o->s->related[y]);
}

static int by_kind_then_order(const void *a, const void *b, void *sorting)
{
    const int order = by_kind(a, b, sorting);
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return order != 0 ? order : (x > y) - (x < y);
}

/* Uses of one kind: if one of their transfers is far from the others, all of them are shown. False: no memory. */
static bool slow_link_judge(struct slow_link_state *s, const struct mode_context *c, const uint32_t *use, size_t n,
                            struct grid *sums, struct grid *ops)
{
    struct arena *const scratch = arena_new();
    struct durations d = { 0 };
    struct description of;
    size_t shortest = 0, longest = 0;
    bool works = scratch != NULL;
    for (size_t i = 0; works && i < n; i++) {
        works = durations_add(&d, s->transmit_ns[use[i]], 1, scratch);
        shortest = s->transmit_ns[use[i]] < s->transmit_ns[use[shortest]] ? i : shortest;
        longest = s->transmit_ns[use[i]] > s->transmit_ns[use[longest]] ? i : longest;
    }
    works = works && durations_describe(&d, &of);
    arena_free(scratch);
    if (!works)
        return false;
    const double far = 3 * of.population_std;
    if (!(far > 0) || (of.min >= of.mean - far && of.max <= of.mean + far))
        return true;
    const struct slow_link_kind *const kind = slow_link_kind_of(s, use[0]);
    const char *const name =
        arena_printf(c->mem, "%s%u_%lld", names_text(c->names, kind->type), s->related[use[0]], (long long)kind->bytes);
    struct cell row[SUM_CELLS] = { cell_text(name) };
    describe_cells(row + 1, &of);
    row[1 + DESCRIBE_CELLS] = cell_real(fmax(fabs(of.max - of.mean), fabs(of.min - of.mean)) / of.std);
    row[2 + DESCRIBE_CELLS] = cell_int(s->gathered.uses.at[use[longest]].rank);
    row[3 + DESCRIBE_CELLS] = cell_int(s->gathered.uses.at[use[shortest]].rank);
    grid_row(sums, row);
    for (size_t i = 0; i < n; i++) {
        const struct gathered_use *const u = &s->gathered.uses.at[use[i]];
        uint32_t part[GATHERED_PARTS];
        gathered_parts(&s->gathered, u->op, part);
        const struct cell op[OP_CELLS] = {
            cell_int(u->rank),
            cell_name(part[GATHERED_GROUP]),
            cell_int(u->ns),
            cell_name(part[GATHERED_NAME]),
            cell_name(kind->type),
            cell_name(slow_link_kind_of(s, use[i])->data_type),
            cell_int(kind->bytes),
            cell_int(s->transmit_ns[use[i]]),
            cell_uint(s->related[use[i]]),
        };
        grid_row(ops, op);
        if (ops->cells.n >= OPS_AT_ONCE * OP_CELLS && !recipe_stream(&s->ops, c, &op_table, ops))
            return false;
    }
    return name && !arena_failed(c->mem) && recipe_stream(&s->ops, c, &op_table, ops);
}

static bool judge_all(struct slow_link_state *s, const struct mode_context *c, struct grid *sums, struct grid *ops)
{
    const size_t n = s->gathered.uses.n;
    struct slow_link_sorting sorting = { s, c->names };
    if (!find_transfers(s, c))
        return false;
    uint32_t *const order = s->gathered.order; /* it is no longer needed by operator */
    qsort_r(order, n, sizeof *order, by_kind_then_order, &sorting);
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && by_kind(&order[from], &order[end], &sorting) == 0;)
            end++;
        if (!slow_link_judge(s, c, order + from, end - from, sums, ops))
            return false;
    }
    return true;
}

static bool slow_link_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct slow_link_state *const s = state;
    struct grid sums = { .n_columns = SUM_CELLS, .mem = c->mem }, ops = { .n_columns = OP_CELLS, .mem = c->mem };
    static const struct grid_key by_offset[] = { { 1 + DESCRIBE_CELLS, true }, { 0, false } };
    const size_t top = c->options->top ? c->options->top : DEFAULT_TOP;
    if (!judge_all(s, c, &sums, &ops) || !grid_sort(&sums, by_offset, 2, c->names))
        return error_no_memory(e, c->mode->name);
    if (sums.cells.n > top * SUM_CELLS)
        sums.cells.n = top * SUM_CELLS;
    return (recipe_table(out, "SlowLinkSum", "slow_link_sum.csv", RECIPE_COLUMNS(sum_columns), &sums) &&
            slow_links_finish(&s->links, out)) ||
           error_no_memory(e, c->mode->name);
}

const struct mode mode_slow_link = {
    .name = "slow_link",
    .class_name = "SlowLink",
    .about = "transfers that took conspicuously long, and slow links",
    .needs = RANK_COLLECTIVES,
    .uses = RANK_STEPS | RANK_COMM_MATRIX,
    .begin = slow_link_begin,
    .add = slow_link_add,
    .finish = slow_link_finish,
};
