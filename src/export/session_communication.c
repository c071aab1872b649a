#include "export/session_communication.h"

#include "export/session_collectives.h"
#include "export/session_matrix.h"

/* Sums of a step: without a start, and without what is no sum. */
static void total_json(const struct comm_cost *c, struct out *o)
{
    out_char(o, '{');
    json_key(o, "Communication Time Info", true);
    out_char(o, '{');
    for (size_t i = 0; i < COMM_TIMES; i++) {
        json_key(o, comm_time_name[i], i == 0);
        if (i < COMM_TIMES_WITHOUT_RATIOS)
            out_real(o, comm_time(c, i).value);
        else
            json_amount(o, comm_time(c, i));
    }
    out_char(o, '}');
    json_key(o, "Communication Bandwidth Info", false);
    out_char(o, '{');
    for (int k = 0; k < LINK_KINDS; k++) {
        json_key(o, link_kind_name[k], k == 0);
        out_char(o, '{');
        json_key(o, "Transit Time(ms)", true);
        json_amount(o, c->link[k].time_ms);
        json_key(o, "Transit Size(MB)", false);
        json_amount(o, c->link[k].size_mb);
        json_key(o, "Size Distribution", false);
        json_packets(&c->link[k], o);
        out_char(o, '}');
    }
    out_lit(o, "}}");
}

/* Those of one step and kind. */
static bool kind_json(struct session_collectives *c, size_t bin, struct comm_cost *cost, struct comm_cost *total,
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
        total_json(total, o);
    }
    out_char(o, '}');
    return true;
}

static bool steps_json(struct session_collectives *c, struct out *o)
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

/* Both files alike. */
static bool write_json(const struct session_export *x, const char *path, uint64_t *n_rows,
                       bool (*put)(struct session_collectives *c, struct out *o), struct error *e)
{
    struct session_collectives c;
    struct out o;
    bool has_any;
    if (!session_collectives_find(&c, x->session, &has_any, x->mem))
        return error_set(e, FAULT_LIMIT, "%s: no memory for the cost of communication", path);
    if (!has_any)
        return true;
    if (!out_open(&o, path, e))
        return false;
    if (!put(&c, &o) || arena_failed(x->mem)) {
        out_discard(&o);
        return error_set(e, FAULT_LIMIT, "%s: no memory for the cost of communication", path);
    }
    *n_rows = c.all.list.n;
    return out_close(&o, e);
}

bool session_communication_write(const struct session_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    return write_json(x, path, n_rows, steps_json, e);
}

bool session_matrix_write(const struct session_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    return write_json(x, path, n_rows, session_matrix_json, e);
}

bool session_communication_db(const struct session_export *x, struct db *db, struct error *e)
{
    struct session_collectives c;
    bool has_any;
    if (!session_collectives_find(&c, x->session, &has_any, x->mem))
        return error_set(e, FAULT_LIMIT, "no memory for the cost of communication");
    return !has_any || (costs_db(&c.all, c.place, db, e) && session_matrix_db(&c, db, e));
}
