/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

#include <string.h>

#include "cluster/rank/rank_parts.h"

enum { KEY_STEP, KEY_OP, KEY_GROUP, KEY_SRC, KEY_DST, KEY_PARTS };

bool cluster_matrix_add(struct cluster_matrix *m, const struct rank_summary *s)
{
    const struct rank_comm_matrix *t = &s->comm_matrix;
    for (size_t i = 0; i < t->n; i++) {
        const uint32_t key[KEY_PARTS] = { t->step[i], t->op[i], t->group[i], (uint32_t)t->src[i], (uint32_t)t->dst[i] };
        const uint32_t at = tuple_add(&m->keys, key, KEY_PARTS, m->mem);
        if (at == KEYS_NO_MEMORY || (at == m->links.n && !list_add(&m->links, m->mem)))
            return false;
        struct link *l = &m->links.at[at];
        l->mb += t->transit_mb[i];
        l->ms += t->transit_ms[i];
        l->transport = t->transport[i];
        l->op_name = t->op_name[i];
        l->is_p2p = is_p2p_op(s->names, t->type[i], t->op[i]);
    }
    return true;
}

/* "allreduce-total", and operators of old formats, which have no parts. */
static bool is_whole(const char *op)
{
    return !strstr(op, "middle") && !strstr(op, "top") && !strstr(op, "bottom");
}

static bool add_total(struct tuples *totals, struct job_links *out, const struct job_link *l, name_id op,
                      struct arena *mem)
{
    const uint32_t key[] = { l->step, l->group, (uint32_t)l->src, (uint32_t)l->dst };
    const uint32_t at = tuple_add(totals, key, sizeof key / sizeof *key, mem);
    if (at == KEYS_NO_MEMORY || (at == out->totals.n && !list_add(&out->totals, mem)))
        return false;
    struct job_link *t = &out->totals.at[at];
    const double mb = t->mb + l->mb, ms = t->ms + l->ms;
    *t = *l;
    t->op = op;
    t->mb = mb;
    t->ms = ms;
    t->is_total = true;
    return true;
}

/* Its src is -1: an end is unknown. */
static struct job_link job_link_at(const struct job_links *l, size_t i)
{
    const struct cluster_matrix *m = l->matrix;
    if (i >= m->links.n)
        return l->totals.at[i - m->links.n];
    uint32_t key[KEY_PARTS];
    const struct link *k = &m->links.at[i];
    tuple_parts(&m->keys, (uint32_t)i, key, KEY_PARTS);
    const int64_t src = groups_global(l->groups, key[KEY_GROUP], (int32_t)key[KEY_SRC]);
    const int64_t dst = groups_global(l->groups, key[KEY_GROUP], (int32_t)key[KEY_DST]);
    const bool is_known = src >= 0 && dst >= 0;
    return (struct job_link){ .step = key[KEY_STEP],
                              .op = key[KEY_OP],
                              .group = key[KEY_GROUP],
                              .transport = k->transport,
                              .op_name = k->op_name,
                              .src = is_known ? src : -1,
                              .dst = is_known ? dst : -1,
                              .mb = k->mb,
                              .ms = k->ms,
                              .is_p2p = k->is_p2p };
}

bool cluster_matrix_links(const struct cluster_matrix *m, const struct groups *g, struct job_links *out)
{
    struct tuples totals = { 0 };
    const name_id total = names_addz(m->names, "Total Op Info");
    *out = (struct job_links){ .matrix = m, .groups = g };
    for (size_t i = 0; i < m->links.n; i++) {
        const struct job_link l = job_link_at(out, i);
        out->n_unmapped += l.src < 0;
        if (l.src >= 0 && is_whole(names_text(m->names, l.op)) && !add_total(&totals, out, &l, total, m->mem))
            return false;
    }
    out->n = m->links.n + out->totals.n;
    return true;
}

static const struct result_column columns[] = {
    { "step", "TEXT", NULL, 0 },      { "hccl_op_name", "TEXT", NULL, 0 }, { "group_name", "TEXT", NULL, 0 },
    { "src_rank", "REAL", NULL, 0 },  { "dst_rank", "REAL", NULL, 0 },     { "transport_type", "TEXT", NULL, 0 },
    { "op_name", "TEXT", NULL, 0 },   { "transit_size", "REAL", NULL, 0 }, { "transit_time", "REAL", NULL, 0 },
    { "bandwidth", "REAL", NULL, 0 },
};

bool cluster_matrix_table(const struct job_links *l, struct results_writer *w, const char *class_name, struct error *e)
{
    static const struct result_table table = { .name = "ClusterCommunicationMatrix",
                                               .file = "cluster_communication_matrix.csv",
                                               .column = columns,
                                               .n_columns = sizeof columns / sizeof *columns };
    struct table_sink *sink = l->n > 0 ? writer_table(w, class_name, &table, e) : NULL;
    for (size_t i = 0; sink && i < l->n; i++) {
        const struct job_link link = job_link_at(l, i), *const k = &link;
        const struct cell row[] = {
            cell_name(k->step),    cell_name(k->op),
            cell_name(k->group),   cell_int(k->src),
            cell_int(k->dst),      cell_name(k->transport),
            cell_name(k->op_name), cell_real(k->mb),
            cell_real(k->ms),      cell_real(k->ms > 0 ? k->mb / k->ms : 0),
        };
        if (k->src >= 0 && !writer_rows(w, sink, row, 1, e))
            return false;
    }
    return e->fault == FAULT_NONE;
}

static void cluster_matrix_put_text(struct out *o, const struct names *names, name_id name)
{
    out_json(o, names_text(names, name), names_len(names, name));
}

struct matrix_json {
    const struct job_links *links;
    const struct names *names;
};

static void put_links(const void *context, const struct set_entries *e, const uint32_t *order, size_t n, struct out *o)
{
    const struct matrix_json *j = context;
    bool is_first = true;
    for (size_t i = 0; i < n; i++) {
        const struct job_link link = job_link_at(j->links, e->row[order[i]]), *const l = &link;
        if (l->src < 0)
            continue;
        if (!is_first)
            out_lit(o, ", ");
        is_first = false;
        out_char(o, '"');
        out_i64(o, l->src);
        out_char(o, '-');
        out_i64(o, l->dst);
        out_lit(o, "\": {\"Transport Type\": ");
        cluster_matrix_put_text(o, j->names, l->transport);
        out_lit(o, ", \"Transit Time(ms)\": ");
        out_real(o, l->ms);
        out_lit(o, ", \"Transit Size(MB)\": ");
        out_real(o, l->mb);
        out_lit(o, ", \"Op Name\": ");
        cluster_matrix_put_text(o, j->names, l->op_name);
        out_lit(o, ", \"Bandwidth(GB/s)\": ");
        out_real(o, comm_bandwidth(l->mb, l->ms));
        out_char(o, '}');
    }
}

bool cluster_matrix_json(const struct job_links *l, const struct rank_sets *sets, struct out *o, struct arena *mem)
{
    struct set_entries e = { .mem = mem };
    for (size_t i = 0; i < l->n; i++) {
        const struct job_link link = job_link_at(l, i), *const k = &link;
        const struct set_entry new = { .set = rank_set_of(sets, k->group, k->is_p2p),
                                       .step = k->step,
                                       .op = k->op,
                                       .group = k->group,
                                       .is_total = k->is_total,
                                       .row = (uint32_t)i };
        if (!set_entries_add(&e, &new))
            return false;
    }
    return sets_write(sets, &e, o, put_links, &(struct matrix_json){ l, sets->groups->names });
}
