/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include "base/memory/sort.h"
#include "export/framework/communication_matrix.h"

/* Writes the collectives of one step and kind, with their sum. False: no memory. */
static bool kind_json(struct step_collectives *c, size_t bin, struct comm_cost *cost, struct comm_cost *total,
                      struct out *o)
{
    const uint32_t first = c->first[bin], end = c->first[bin + 1];
    comm_cost_clear(total);
    out_char(o, '{');
    for (uint32_t i = first; i < end; i++) {
        const struct collective *of = &c->all.list.at[c->order[i]];
        if (!collective_cost(&c->all, of, cost) || !comm_cost_add(total, cost))
            return false;
        json_collective(&c->all, of, o, i == first);
        json_cost(cost, (struct amount){ collective_start_us(of, cost->begin_ns), true }, o);
    }
    if (end > first) {
        comm_cost_finish(total);
        json_key(o, "Total Op Info", false);
        json_step_total(total, o);
    }
    out_char(o, '}');
    return true;
}

static bool steps_json(struct step_collectives *c, struct out *o)
{
    struct comm_cost cost = { .mem = c->all.mem }, total = { .mem = c->all.mem };
    out_char(o, '{');
    for (size_t step = 0; step < c->n_steps; step++) {
        json_key(o, names_text(c->all.names, c->step[step]), step == 0);
        out_char(o, '{');
        for (int kind = 0; kind < KINDS; kind++) {
            json_key(o, collective_kind_name[kind], kind == 0);
            if (!kind_json(c, bin_of(step, kind), &cost, &total, o))
                return false;
        }
        out_char(o, '}');
    }
    out_char(o, '}');
    return true;
}

/* Fills the matrix of one step and kind. False: no memory. */
static bool communication_json_fill(struct matrix *m, struct comm_links *links, struct step_collectives *c, size_t bin)
{
    matrix_clear(m);
    m->is_p2p = bin % KINDS == KIND_P2P;
    for (uint32_t i = c->first[bin]; i < c->first[bin + 1]; i++) {
        const struct collective *of = &c->all.list.at[c->order[i]];
        if (!collective_links(&c->all, of, links) || !matrix_add(m, of->name, of->group, links))
            return false;
    }
    return matrix_finish(m);
}

/* The steps that have collectives, in the order of their first ones in the list, as the reference writes them. NULL: no
 * memory. */
static uint32_t *steps_as_listed(const struct step_collectives *c, size_t *n)
{
    uint32_t *order = arena_take(c->all.mem, c->n_steps, sizeof *order);
    uint32_t *listed = arena_take(c->all.mem, c->n_steps, sizeof *listed);
    *n = 0;
    for (uint32_t step = 0; order && listed && step < c->n_steps; step++) {
        listed[step] = UINT32_MAX;
        for (int kind = 0; kind < KINDS; kind++) {
            const uint32_t first = c->first[bin_of(step, kind)];
            if (first < c->first[bin_of(step, kind) + 1] && c->order[first] < listed[step])
                listed[step] = c->order[first];
        }
        if (listed[step] != UINT32_MAX)
            order[(*n)++] = step;
    }
    return order && listed && order_by_u32(order, *n, listed) ? order : NULL;
}

static bool matrices_json(struct step_collectives *c, struct out *o)
{
    struct matrix m = { .rules = &matrix_rules[c->framework_id], .names = c->all.names, .mem = c->all.mem };
    struct comm_links links = { .mem = c->all.mem };
    size_t n;
    const uint32_t *step = steps_as_listed(c, &n);
    if (!step)
        return false;
    out_char(o, '{');
    for (size_t i = 0; i < n; i++) {
        json_key(o, names_text(c->all.names, c->step[step[i]]), i == 0);
        out_char(o, '{');
        for (int kind = 0; kind < KINDS; kind++) {
            const size_t bin = bin_of(step[i], kind);
            json_key(o, collective_kind_name[kind], kind == 0);
            if (!communication_json_fill(&m, &links, c, bin) || !matrix_put(&m, o))
                return false;
        }
        out_char(o, '}');
    }
    out_char(o, '}');
    return true;
}

/* Writes communication.json or communication_matrix.json; there is no file without collectives. */
static bool write_json(const struct collection_export *x, const char *path, uint64_t *n_rows,
                       bool (*put)(struct step_collectives *c, struct out *o), struct error *e)
{
    struct step_collectives c;
    struct out o;
    bool has_any;
    if (!step_collectives_find(&c, x, put == matrices_json, &has_any))
        return error_no_memory(e, path);
    if (!has_any)
        return true;
    if (!out_open(&o, path, e))
        return false;
    if (!put(&c, &o) || arena_failed(x->mem)) {
        out_discard(&o);
        return error_no_memory(e, path);
    }
    *n_rows = c.all.list.n;
    return out_close(&o, e);
}

bool communication_json_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    return write_json(x, path, n_rows, steps_json, e);
}

bool communication_matrix_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    return write_json(x, path, n_rows, matrices_json, e);
}

bool communication_analyzer_write(const struct collection_export *x, const char *path, uint64_t *n_rows,
                                  struct error *e)
{
    const struct profile *p = &x->collection->profile;
    struct collectives c;
    if (p->is_level0)
        return true;
    if (!collectives_find(&c, p, x->mem))
        return error_no_memory(e, path);
    struct db *db = c.list.n > 0 ? db_open(path, p->names, e) : NULL;
    if (!db)
        return c.list.n == 0;
    if (!costs_db(&c, NULL, db, e) || !matrix_db(&c, db, e)) {
        db_discard(db);
        return false;
    }
    *n_rows = db_rows(db);
    return db_close(db, e);
}

static bool matrices_db(struct step_collectives *c, struct db *db, struct error *e)
{
    static const struct db_column column[MATRIX_COLUMNS] = {
        { "hccl_op_name", "TEXT", NULL },
        { "group_name", "TEXT", NULL },
        { "src_rank", "TEXT", NULL },
        { "dst_rank", "TEXT", NULL },
        { "transport_type", "TEXT", NULL },
        { "transit_size", "NUMERIC", NULL },
        { "transit_time", "NUMERIC", NULL },
        { "bandwidth", "NUMERIC", NULL },
        { "step", "TEXT", NULL },
        { "type", "TEXT", NULL },
        { "op_name", "TEXT", NULL },
    };
    struct matrix m = { .rules = &matrix_rules[c->framework_id], .names = c->all.names, .mem = c->all.mem };
    struct comm_links links = { .mem = c->all.mem };
    struct grid g = { .n_columns = MATRIX_COLUMNS, .mem = c->all.mem };
    size_t n;
    const uint32_t *step = steps_as_listed(c, &n);
    bool done = step != NULL;
    for (size_t b = 0; done && b < n * KINDS; b++) {
        const size_t bin = bin_of(step[b / KINDS], (int)(b % KINDS));
        if (c->first[bin] < c->first[bin + 1])
            done =
                communication_json_fill(&m, &links, c, bin) && matrix_rows(&m, &c->place[c->order[c->first[bin]]], &g);
    }
    if (!done)
        return error_no_memory(e, "CommAnalyzerMatrix");
    return grid_written(db, &g, "CommAnalyzerMatrix", column, e);
}

bool communication_json_db(const struct collection_export *x, struct db *db, struct error *e)
{
    struct step_collectives c;
    bool has_any;
    if (!step_collectives_find(&c, x, false, &has_any))
        return error_no_memory(e, "CommAnalyzerTime");
    return !has_any || (costs_db(&c.all, c.place, db, e) && (c.all.are_kernels || matrices_db(&c, db, e)));
}
