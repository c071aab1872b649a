#include "export/session_matrix.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/sort.h"

name_id collective_type(struct names *names, name_id collective)
{
    static const char *const word[] = { "send",      "reduce",        "invalid", "broadcast", "allreduce",    "receive",
                                        "allgather", "reducescatter", "scatter", "alltoall",  "batchsendrecv" };
    const char *name = names_text(names, collective);
    for (const char *at = name; *at; at++)
        for (size_t i = 0; i < sizeof word / sizeof *word; i++)
            if (strncasecmp(at, word[i], strlen(word[i])) == 0)
                return names_addz(names, word[i]);
    const char *end = strstr(name, "__");
    return names_add(names, name, end ? (size_t)(end - name) : strlen(name));
}

/* One link of one collective. */
struct transfer {
    uint32_t collective;
    struct comm_link link;
};

/* What of a type, group and link is told; also the order in which keys come up. */
enum told { TOLD_TOP1, TOLD_MIDDLE, TOLD_BOTTOM1, TOLD_TOTAL, TOLD_BOTTOM2, TOLD_BOTTOM3, TOLD };
static const char *const told_name[TOLD] = { "top1", "middle", "bottom1", "total", "bottom2", "bottom3" };

struct matrix_row {
    uint32_t type_group; /* place in type_groups */
    enum told told;
    uint64_t pair; /* of ranks */
    struct comm_link link;
    struct amount gbs;
    name_id name; /* of the collective; NO_NAME: a sum */
};

/* The matrix of one step and kind; used for one after the other. */
struct matrix {
    struct session_collectives *c;
    struct comm_links links;
    struct keys type_groups, pairs, bundles, keys; /* bundles: of a type, group and link */
    LIST(struct transfer) transfer;
    LIST(uint32_t) bundle;  /* of a transfer */
    LIST(uint64_t) slowest; /* of a transfer: the faster, the lower */
    LIST(uint32_t) order;
    LIST(struct matrix_row) row;
    LIST(uint32_t) key; /* of a row: the object that it stands in */
    LIST(uint32_t) row_order;
};

static void matrix_clear(struct matrix *m)
{
    keys_clear(&m->type_groups), keys_clear(&m->pairs), keys_clear(&m->bundles), keys_clear(&m->keys);
    m->transfer.n = m->bundle.n = m->slowest.n = m->order.n = m->row.n = m->key.n = m->row_order.n = 0;
}

static uint64_t fastest_first(double gbs)
{
    uint64_t bits;
    memcpy(&bits, &gbs, sizeof bits); /* not negative: they sort as their values */
    return ~bits;
}

static bool add_transfers(struct matrix *m, uint32_t collective)
{
    struct collectives *all = &m->c->all;
    struct arena *mem = all->mem;
    const struct collective *of = &all->list.at[collective];
    const uint32_t type_group =
        keys_add(&m->type_groups, (uint64_t)collective_type(all->names, of->name) << 32 | of->group, mem);
    if (!collective_links(all, of, &m->links))
        return false;
    for (size_t i = 0; i < m->links.link.n; i++) {
        const uint32_t pair = keys_add(&m->pairs, m->links.pairs.key.at[i], mem);
        struct transfer *t = list_add(&m->transfer, mem);
        uint32_t *bundle = list_add(&m->bundle, mem), *order = list_add(&m->order, mem);
        uint64_t *slowest = list_add(&m->slowest, mem);
        if (arena_failed(mem))
            return false;
        *t = (struct transfer){ collective, m->links.link.at[i] };
        *bundle = keys_add(&m->bundles, (uint64_t)type_group << 32 | pair, mem);
        *slowest = fastest_first(link_gbs(&t->link).value);
        *order = (uint32_t)m->order.n - 1;
    }
    return !arena_failed(mem);
}

static void add_row(struct matrix *m, uint32_t bundle, enum told told, const struct transfer *t, struct comm_link link,
                    struct amount gbs)
{
    struct arena *mem = m->c->all.mem;
    const uint64_t from = m->bundles.key.at[bundle];
    const uint32_t type_group = (uint32_t)(from >> 32);
    struct matrix_row *row = list_add(&m->row, mem);
    uint32_t *key = list_add(&m->key, mem), *order = list_add(&m->row_order, mem);
    if (!row || !key || !order)
        return;
    *row = (struct matrix_row){ .type_group = type_group,
                                .told = told,
                                .pair = m->pairs.key.at[(uint32_t)from],
                                .link = link,
                                .gbs = gbs,
                                .name = t ? m->c->all.list.at[t->collective].name : NO_NAME };
    *key = keys_add(&m->keys, (uint64_t)type_group * TOLD + told, mem);
    *order = (uint32_t)m->row_order.n - 1;
}

/* Transfers of the same type, group and link, the fastest first. */
static void tell_bundle(struct matrix *m, uint32_t bundle, const uint32_t *transfer, size_t n)
{
    const struct {
        enum told told;
        size_t needs, at;
    } single[] = { { TOLD_TOP1, 1, 0 },  { TOLD_MIDDLE, 1, n / 2 },  { TOLD_BOTTOM1, 1, n - 1 },
                   { TOLD_TOTAL, 1, 0 }, { TOLD_BOTTOM2, 2, n - 2 }, { TOLD_BOTTOM3, 3, n - 3 } };
    struct comm_link sum = { .transport = m->transfer.at[transfer[0]].link.transport };
    for (size_t i = 0; i < n; i++) {
        sum.size_mb += m->transfer.at[transfer[i]].link.size_mb;
        sum.time_ms += m->transfer.at[transfer[i]].link.time_ms;
    }
    for (size_t i = 0; i < sizeof single / sizeof *single && n >= single[i].needs; i++) {
        const struct transfer *t = &m->transfer.at[transfer[single[i].at]];
        if (single[i].told == TOLD_TOTAL)
            add_row(m, bundle, TOLD_TOTAL, NULL, sum, link_gbs(&sum));
        else
            add_row(m, bundle, single[i].told, t, t->link, link_gbs(&t->link));
    }
}

/* Rows of the collectives [first, first + n), as they are told: object by object, links in the order of their first use. */
static bool matrix_fill(struct matrix *m, const uint32_t *collective, size_t n)
{
    matrix_clear(m);
    for (size_t i = 0; i < n; i++)
        if (!add_transfers(m, collective[i]))
            return false;
    if (!order_by_u64(m->order.at, m->order.n, m->slowest.at) || !order_by_u32(m->order.at, m->order.n, m->bundle.at))
        return false;
    for (size_t i = 0, same; i < m->order.n; i += same) {
        const uint32_t bundle = m->bundle.at[m->order.at[i]];
        for (same = 1; i + same < m->order.n && m->bundle.at[m->order.at[i + same]] == bundle;)
            same++;
        tell_bundle(m, bundle, m->order.at + i, same);
    }
    return !arena_failed(m->c->all.mem) && order_by_u32(m->row_order.at, m->row_order.n, m->key.at);
}

static name_id type_of(const struct matrix *m, const struct matrix_row *r)
{
    return (name_id)(m->type_groups.key.at[r->type_group] >> 32);
}

static name_id group_of(const struct matrix *m, const struct matrix_row *r)
{
    return (name_id)m->type_groups.key.at[r->type_group];
}

static void row_json(const struct matrix_row *r, const struct names *names, struct out *o, bool is_first)
{
    char pair[32];
    snprintf(pair, sizeof pair, "%" PRIu32 "-%" PRIu32, (uint32_t)(r->pair >> 32), (uint32_t)r->pair);
    json_key(o, pair, is_first);
    json_link(r->link.transport, r->link.size_mb, r->link.time_ms, r->gbs, o);
    if (r->name != NO_NAME) {
        json_key(o, "Op Name", false);
        out_json(o, names_text(names, r->name), names_len(names, r->name));
    }
    out_char(o, '}');
}

static bool matrix_put(const struct matrix *m, struct out *o)
{
    const struct names *names = m->c->all.names;
    out_char(o, '{');
    for (size_t i = 0; i < m->row.n; i++) {
        const uint32_t at = m->row_order.at[i];
        const struct matrix_row *r = &m->row.at[at];
        const bool is_new = i == 0 || m->key.at[m->row_order.at[i - 1]] != m->key.at[at];
        if (is_new) {
            const char *key = arena_printf(m->c->all.mem, "%s-%s@%s", names_text(names, type_of(m, r)),
                                           told_name[r->told], names_text(names, group_of(m, r)));
            if (!key)
                return false;
            if (i > 0)
                out_char(o, '}');
            json_key(o, key, i == 0);
            out_char(o, '{');
        }
        row_json(r, names, o, is_new);
    }
    if (m->row.n > 0)
        out_char(o, '}');
    out_char(o, '}');
    return true;
}

/* Steps in the order of the first collective of each that is listed, whatever their own order; those without one are left out. */
static size_t *steps_as_listed(const struct session_collectives *c, size_t *n)
{
    size_t *step = arena_take(c->all.mem, c->n_steps, sizeof *step);
    uint32_t *first = arena_take(c->all.mem, c->n_steps, sizeof *first), *order = NULL;
    *n = 0;
    order = arena_take(c->all.mem, c->n_steps, sizeof *order);
    if (!step || !first || !order)
        return NULL;
    for (uint32_t s = 0; s < c->n_steps; s++) {
        first[s] = UINT32_MAX;
        for (int kind = 0; kind < KINDS; kind++) {
            const size_t bin = bin_of(s, kind);
            if (c->first[bin] < c->first[bin + 1] && c->order[c->first[bin]] < first[s])
                first[s] = c->order[c->first[bin]];
        }
        if (first[s] != UINT32_MAX)
            order[(*n)++] = s;
    }
    if (!order_by_u32(order, *n, first))
        return NULL;
    for (size_t i = 0; i < *n; i++)
        step[i] = order[i];
    return step;
}

bool session_matrix_json(struct session_collectives *c, struct out *o)
{
    struct matrix m = { .c = c, .links = { .mem = c->all.mem } };
    size_t n;
    const size_t *step = steps_as_listed(c, &n);
    if (!step)
        return false;
    out_char(o, '{');
    for (size_t i = 0; i < n; i++) {
        json_key(o, names_text(c->all.names, c->step[step[i]]), i == 0);
        out_char(o, '{');
        for (int kind = 0; kind < KINDS; kind++) {
            const size_t bin = bin_of(step[i], kind);
            json_key(o, collective_kind_name[kind], kind == 0);
            if (!matrix_fill(&m, c->order + c->first[bin], c->first[bin + 1] - c->first[bin]) || !matrix_put(&m, o))
                return false;
        }
        out_char(o, '}');
    }
    out_char(o, '}');
    return true;
}

static bool matrix_rows(const struct matrix *m, const struct collective_place *place, struct grid *g)
{
    const struct names *names = m->c->all.names;
    for (size_t i = 0; i < m->row.n; i++) {
        const struct matrix_row *r = &m->row.at[m->row_order.at[i]];
        const char *name = arena_printf(g->mem, "%s-%s", names_text(names, type_of(m, r)), told_name[r->told]);
        if (!name)
            return false;
        grid_row(g, (struct cell[]){ cell_text(name), cell_name(group_of(m, r)), cell_uint((uint32_t)(r->pair >> 32)),
                                     cell_uint((uint32_t)r->pair),
                                     r->link.transport ? cell_text(r->link.transport) : cell_na(),
                                     cell_real(r->link.size_mb), cell_real(r->link.time_ms), cell_real(r->gbs.value),
                                     cell_name(place->step), cell_name(place->kind),
                                     r->name == NO_NAME ? cell_text("") : cell_name(r->name) });
    }
    return !arena_failed(g->mem);
}

bool session_matrix_db(struct session_collectives *c, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
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
    struct matrix m = { .c = c, .links = { .mem = c->all.mem } };
    struct grid g = { .n_columns = sizeof column / sizeof *column, .mem = c->all.mem };
    size_t n;
    const size_t *step = steps_as_listed(c, &n);
    bool done = step != NULL;
    for (size_t b = 0; done && b < n * KINDS; b++) {
        const size_t bin = bin_of(step[b / KINDS], (int)(b % KINDS)), first = c->first[bin],
                     n_here = c->first[bin + 1] - first;
        done = n_here == 0 ||
               (matrix_fill(&m, c->order + first, n_here) && matrix_rows(&m, &c->place[c->order[first]], &g));
    }
    if (!done)
        return error_set(e, FAULT_LIMIT, "no memory for the table CommAnalyzerMatrix");
    return grid_written(db, &g, "CommAnalyzerMatrix", column, e);
}
