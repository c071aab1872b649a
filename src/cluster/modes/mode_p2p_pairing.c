/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/modes/mode_parts.h"

#include <string.h>

#include "cluster/results/base_tables.h"
#include "cluster/results/recipe.h"

static const struct result_column columns[] = {
    COLUMN("rankId", "INTEGER"),      COLUMN("opName", "TEXT"),
    COLUMN("groupName", "TEXT"),      COLUMN_CSV("startNs", "INTEGER", "startNs"),
    COLUMN("opConnectionId", "TEXT"),
};
enum { CELLS = sizeof columns / sizeof *columns };
static const struct result_table table = {
    .name = "P2PPairing", .file = "p2p_pairing.csv", .column = columns, .n_columns = CELLS
};

enum direction { NEITHER, SEND, RECEIVE };

/* hcom_send__741_0_1: kind and digits of the group; NEITHER: another operator. */
static enum direction direction_of(const char *name, const char **group, size_t *len)
{
    static const struct {
        const char *text;
        enum direction is;
    } kind[] = { { "hcom_send__", SEND },    { "hcom_Send__", SEND },       { "hcom_recv__", RECEIVE },
                 { "hcom_Recv__", RECEIVE }, { "hcom_receive__", RECEIVE }, { "hcom_Receive__", RECEIVE } };
    static const char digits[] = "0123456789";
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        const size_t n = strlen(kind[i].text);
        if (strncmp(name, kind[i].text, n) != 0)
            continue;
        const char *at = *group = name + n;
        *len = strspn(at, digits);
        for (size_t part = 0; part < 3; part++) {
            const size_t count = strspn(at, digits);
            at += count;
            if (count == 0 || *at != (part < 2 ? '_' : '\0'))
                return NEITHER;
            at++;
        }
        return kind[i].is;
    }
    return NEITHER;
}

/* Collectives are ordered by begin: the numbers are those of time. */
bool p2p_find(struct p2p_ops *out, const struct mode_context *c, const struct rank_summary *r, struct arena *mem)
{
    const struct rank_collectives *const ops = &r->collectives.ops;
    struct tuples links = { 0 };
    LIST(uint32_t) next = { 0 };
    for (size_t i = 0; i < ops->n; i++) {
        const char *digits;
        size_t n_digits;
        const enum direction is = direction_of(names_text(c->names, ops->name[i]), &digits, &n_digits);
        if (is == NEITHER || collective_launch_ns(r, i) == INT64_MIN)
            continue;
        struct p2p_op *const op = list_add(&out->list, mem);
        if (!op)
            return false;
        *op = (struct p2p_op){ i, digits, n_digits, is == SEND, -1, -1, 0 };
        if (ops->src[i] < 0 || ops->dst[i] < 0)
            continue;
        op->from = is == SEND ? ops->src[i] : ops->dst[i];
        op->to = is == SEND ? ops->dst[i] : ops->src[i];
        const uint32_t part[] = { ops->group[i], (uint32_t)op->from, (uint32_t)op->to };
        const uint32_t link = tuple_add(&links, part, 3, mem);
        if (link == KEYS_NO_MEMORY || (link == next.n && !list_add(&next, mem)))
            return false;
        op->n = next.at[link]++;
    }
    return true;
}

bool p2p_pairs_add(struct p2p_pairs *p, const struct mode_context *c, const struct rank_summary *r)
{
    const struct rank_collectives *const ops = &r->collectives.ops;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    struct arena *const scratch = c->scratch;
    struct p2p_ops found = { 0 };
    struct grid g = { .n_columns = CELLS, .mem = scratch };
    bool works = p2p_find(&found, c, r, scratch);
    for (size_t i = 0; works && i < found.list.n; i++) {
        const struct p2p_op *const op = &found.list.at[i];
        if (!step_has_time(&step, collective_launch_ns(r, op->row)))
            continue;
        if (op->from < 0) {
            p->n_unknown++;
            continue;
        }
        const char *const id = arena_printf(scratch, "%.*s_%lld_%lld_%u", (int)op->n_digits, op->digits,
                                            (long long)op->from, (long long)op->to, op->n);
        works = id != NULL;
        if (works)
            grid_row(&g, (const struct cell[CELLS]){ cell_int(r->identity.rank), cell_name(ops->name[op->row]),
                                                     cell_name(ops->group[op->row]), cell_int(ops->begin_ns[op->row]),
                                                     cell_text(id) });
    }
    return works && recipe_stream(&p->sink, c, &table, &g);
}

static void *p2p_pairing_begin(struct mode_context *c)
{
    return arena_take(c->mem, 1, sizeof(struct p2p_pairs));
}

static bool p2p_pairing_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    return p2p_pairs_add(state, c, r);
}

static bool p2p_pairing_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct p2p_pairs *const s = state;
    return s->n_unknown == 0 ||
           results_note(out, "p2p_pairing: the peer of %zu sends and receives is not known; record level 1 or higher",
                        s->n_unknown) ||
           error_no_memory(e, c->mode->name);
}

const struct mode mode_p2p_pairing = {
    .name = "p2p_pairing",
    .class_name = "P2PPairing",
    .about = "which send belongs to which receive",
    .needs = RANK_COLLECTIVES,
    .uses = RANK_STEPS | RANK_CALLS | RANK_TASKS,
    .begin = p2p_pairing_begin,
    .add = p2p_pairing_add,
    .finish = p2p_pairing_finish,
    .streams = true,
};
