#include "export/analyze_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char total_name[] = "Total HCCL Operators";
static const char *const kind_name[LINK_KINDS] = {
    [LINK_RDMA] = "RDMA", [LINK_HCCS] = "HCCS", [LINK_PCIE] = "PCIE", [LINK_SDMA] = "SDMA", [LINK_SIO] = "SIO"
};

bool collectives_ready(struct collectives *c, const struct profile *p)
{
    c->copy = arena_take(c->mem, c->most_events, sizeof *c->copy);
    return c->copy && comm_sorter_init(&c->sorter, p, c->most_events, c->mem);
}

static bool cost_of(struct collectives *c, const struct collective *of, struct comm_cost *cost)
{
    const size_t skipped = of->n_all - of->n_own;
    memcpy(c->copy, c->event + of->first + skipped, of->n_own * sizeof *c->copy);
    comm_cost_clear(cost);
    return comm_cost_fill(cost, &c->sorter, c->copy, of->n_own, comm_closing(names_text(c->names, of->name)));
}

static bool links_of(struct collectives *c, const struct collective *of, struct comm_links *links)
{
    memcpy(c->copy, c->event + of->first, of->n_all * sizeof *c->copy);
    comm_links_clear(links);
    return comm_links_fill(links, &c->sorter, c->copy, of->n_all, comm_closing(names_text(c->names, of->name)));
}

/* The reference keeps the distance of the clocks in a double of microseconds, of which there is one every quarter of one, and
 * takes it as it prints, with one decimal. The beginning of a collective is shown as coarse as that, so that the distance must
 * be added in the same way. */
static double start_us(const struct source *s, double begin_ns)
{
    const int64_t mono_ns = s->begin_ns - s->wall_offset_ns;
    const double offset_us = (double)(s->begin_ns / 1000) - (double)mono_ns / 1000;
    const double whole_us = floor(offset_us);
    const int64_t offset_ns = (int64_t)whole_us * 1000 + (int64_t)nearbyint((offset_us - whole_us) * 10) * 100;
    const int64_t ns = (int64_t)nearbyint(begin_ns) + offset_ns;
    char text[32];
    snprintf(text, sizeof text, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
    return strtod(text, NULL);
}

/* ---- JSON: as Python's json module spaces it ------------------------------------------------------------------- */

static void key(struct out *o, const char *name, bool is_first)
{
    if (!is_first)
        out_lit(o, ", ");
    out_json(o, name, strlen(name));
    out_lit(o, ": ");
}

static void amount(struct out *o, struct amount a)
{
    if (a.is_set)
        out_real(o, a.value);
    else
        out_char(o, '0');
}

static void op_key(const struct collectives *c, const struct collective *of, struct out *o, bool is_first)
{
    char text[700];
    const int n =
        snprintf(text, sizeof text, "%.600s@%.64s", names_text(c->names, of->name), names_text(c->names, of->group));
    if (!is_first)
        out_lit(o, ", ");
    out_json(o, text, (size_t)n);
    out_lit(o, ": ");
}

/* What is told of the time, in the order of the reports. The database leaves the ratios out. */
enum { TIMES = 7, TIMES_WITHOUT_RATIOS = 5 };
static const struct {
    const char *name;
    size_t at;
} time_field[TIMES] = {
    { "Elapse Time(ms)", offsetof(struct comm_cost, elapse_ms) },
    { "Transit Time(ms)", offsetof(struct comm_cost, transit_ms) },
    { "Wait Time(ms)", offsetof(struct comm_cost, wait_ms) },
    { "Synchronization Time(ms)", offsetof(struct comm_cost, sync_ms) },
    { "Idle Time(ms)", offsetof(struct comm_cost, idle_ms) },
    { "Wait Time Ratio", offsetof(struct comm_cost, wait_ratio) },
    { "Synchronization Time Ratio", offsetof(struct comm_cost, sync_ratio) },
};

static struct amount time_of(const struct comm_cost *c, size_t i)
{
    return *(const struct amount *)(const void *)((const char *)c + time_field[i].at);
}

static void link_json(const struct link_cost *l, struct out *o)
{
    const struct {
        const char *name;
        struct amount value;
    } field[] = { { "Transit Size(MB)", l->size_mb },
                  { "Transit Time(ms)", l->time_ms },
                  { "Bandwidth(GB/s)", l->gbs },
                  { "Large Packet Ratio", l->large_ratio } };
    out_char(o, '{');
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        key(o, field[i].name, i == 0);
        amount(o, field[i].value);
    }
    key(o, "Size Distribution", false);
    out_char(o, '{');
    for (size_t i = 0; i < l->packets.n; i++) {
        if (i > 0)
            out_lit(o, ", ");
        out_char(o, '"');
        out_real(o, packet_size_mb(l, i));
        out_lit(o, "\": [");
        out_u64(o, l->packets.at[i].n);
        out_lit(o, ", ");
        out_real(o, l->packets.at[i].time_ms);
        out_char(o, ']');
    }
    out_lit(o, "}}");
}

static void cost_json(const struct comm_cost *c, struct amount start, struct out *o)
{
    out_char(o, '{');
    key(o, "Communication Time Info", true);
    out_char(o, '{');
    key(o, "Start Timestamp(us)", true);
    amount(o, start);
    for (size_t i = 0; i < TIMES; i++) {
        key(o, time_field[i].name, false);
        amount(o, time_of(c, i));
    }
    out_char(o, '}');
    key(o, "Communication Bandwidth Info", false);
    out_char(o, '{');
    for (int k = 0; k < LINK_KINDS; k++) {
        key(o, kind_name[k], k == 0);
        link_json(&c->link[k], o);
    }
    out_lit(o, "}}");
}

bool costs_json(struct collectives *c, struct out *o, uint64_t *n_untimed)
{
    struct comm_cost cost = { .mem = c->mem }, total = { .mem = c->mem };
    bool is_first = true;
    out_char(o, '{');
    for (size_t i = 0; i < c->list.n; i++) {
        const struct collective *of = &c->list.at[i];
        if (!cost_of(c, of, &cost))
            return false;
        *n_untimed += !cost.has_master;
        if (!cost.has_master)
            continue;
        op_key(c, of, o, is_first);
        cost_json(&cost, (struct amount){ start_us(&of->device->source, cost.begin_ns), true }, o);
        is_first = false;
        if (!comm_cost_add(&total, &cost))
            return false;
    }
    comm_cost_finish(&total);
    key(o, total_name, is_first);
    cost_json(&total, (struct amount){ 0 }, o);
    out_char(o, '}');
    return true;
}

static void links_json(const struct comm_links *l, struct out *o)
{
    out_char(o, '{');
    for (size_t i = 0; i < l->link.n; i++) {
        const struct comm_link *link = &l->link.at[i];
        char pair[32];
        snprintf(pair, sizeof pair, "%" PRIu32 "-%" PRIu32, link_source(l, i), link_destination(l, i));
        key(o, pair, i == 0);
        out_char(o, '{');
        key(o, "Transport Type", true);
        if (link->transport)
            out_json(o, link->transport, strlen(link->transport));
        else
            out_lit(o, "null");
        key(o, "Transit Size(MB)", false);
        out_real(o, link->size_mb);
        key(o, "Transit Time(ms)", false);
        out_real(o, link->time_ms);
        key(o, "Bandwidth(GB/s)", false);
        amount(o, link_gbs(link));
        out_char(o, '}');
    }
    out_char(o, '}');
}

bool matrix_json(struct collectives *c, struct out *o)
{
    struct comm_links links = { .mem = c->mem }, total = { .mem = c->mem };
    out_char(o, '{');
    for (size_t i = 0; i < c->list.n; i++) {
        if (!links_of(c, &c->list.at[i], &links) || !comm_links_add(&total, &links))
            return false;
        op_key(c, &c->list.at[i], o, i == 0);
        links_json(&links, o);
    }
    key(o, total_name, c->list.n == 0);
    links_json(&total, o);
    out_char(o, '}');
    return true;
}

/* ---- database --------------------------------------------------------------------------------------------------- */

static bool write_grid(struct db *db, const struct grid *g, const char *name, const struct db_column *column,
                       struct error *e)
{
    if (arena_failed(g->mem))
        return error_set(e, FAULT_LIMIT, "no memory for the table %s", name);
    return db_table(db,
                    &(struct db_table){ .name = name,
                                        .column = column,
                                        .n_columns = g->n_columns,
                                        .n_rows = g->cells.n / g->n_columns,
                                        .grid = g->cells.at,
                                        .is_made_empty = true },
                    e);
}

static void band_rows(struct grid *g, const struct collective *of, int kind, const struct link_cost *l)
{
    if (l->size_mb.value + l->time_ms.value + l->gbs.value + l->large_ratio.value == 0)
        return;
    const size_t n = l->packets.n > 0 ? l->packets.n : 1;
    for (size_t i = 0; i < n; i++) {
        const bool has_packets = i < l->packets.n;
        grid_row(g, (struct cell[]){ cell_name(of->name), cell_name(of->group), cell_text(kind_name[kind]),
                                     cell_real(l->size_mb.value), cell_real(l->time_ms.value), cell_real(l->gbs.value),
                                     cell_real(l->large_ratio.value), cell_real(has_packets ? packet_size_mb(l, i) : 0),
                                     cell_uint(has_packets ? l->packets.at[i].n : 0),
                                     cell_real(has_packets ? l->packets.at[i].time_ms : 0) });
    }
}

bool costs_db(struct collectives *c, struct db *db, struct error *e)
{
    static const struct db_column time_column[] = {
        { "hccl_op_name", "TEXT", NULL },
        { "group_name", "TEXT", NULL },
        { "start_timestamp", "NUMERIC", NULL },
        { "elapse_time", "NUMERIC", NULL },
        { "transit_time", "NUMERIC", NULL },
        { "wait_time", "NUMERIC", NULL },
        { "synchronization_time", "NUMERIC", NULL },
        { "idle_time", "NUMERIC", NULL },
    };
    static const struct db_column band_column[] = {
        { "hccl_op_name", "TEXT", NULL },
        { "group_name", "TEXT", NULL },
        { "transport_type", "TEXT", NULL },
        { "transit_size", "NUMERIC", NULL },
        { "transit_time", "NUMERIC", NULL },
        { "bandwidth", "NUMERIC", NULL },
        { "large_packet_ratio", "NUMERIC", NULL },
        { "package_size", "NUMERIC", NULL },
        { "count", "NUMERIC", NULL },
        { "total_duration", "NUMERIC", NULL },
    };
    struct grid times = { .n_columns = 8, .mem = c->mem }, bands = { .n_columns = 10, .mem = c->mem };
    struct comm_cost cost = { .mem = c->mem };
    for (size_t i = 0; i < c->list.n; i++) {
        const struct collective *of = &c->list.at[i];
        if (!cost_of(c, of, &cost))
            return error_set(e, FAULT_LIMIT, "no memory for the table CommAnalyzerTime");
        if (!cost.has_master)
            continue;
        struct cell row[8] = { cell_name(of->name), cell_name(of->group),
                               cell_real(start_us(&of->device->source, cost.begin_ns)) };
        for (size_t k = 0; k < TIMES_WITHOUT_RATIOS; k++)
            row[3 + k] = cell_real(time_of(&cost, k).value);
        grid_row(&times, row);
        for (int k = 0; k < LINK_KINDS; k++)
            band_rows(&bands, of, k, &cost.link[k]);
    }
    return write_grid(db, &times, "CommAnalyzerTime", time_column, e) &&
           write_grid(db, &bands, "CommAnalyzerBandwidth", band_column, e);
}

bool matrix_db(struct collectives *c, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "hccl_op_name", "TEXT", NULL },    { "group_name", "TEXT", NULL },     { "src_rank", "TEXT", NULL },
        { "dst_rank", "TEXT", NULL },        { "transport_type", "TEXT", NULL }, { "transit_size", "NUMERIC", NULL },
        { "transit_time", "NUMERIC", NULL }, { "bandwidth", "NUMERIC", NULL },
    };
    struct grid grid = { .n_columns = 8, .mem = c->mem };
    struct comm_links links = { .mem = c->mem };
    for (size_t i = 0; i < c->list.n; i++) {
        const struct collective *of = &c->list.at[i];
        if (!links_of(c, of, &links))
            return error_set(e, FAULT_LIMIT, "no memory for the table CommAnalyzerMatrix");
        for (size_t k = 0; k < links.link.n; k++) {
            const struct comm_link *l = &links.link.at[k];
            grid_row(&grid, (struct cell[]){ cell_name(of->name), cell_name(of->group),
                                             cell_uint(link_source(&links, k)), cell_uint(link_destination(&links, k)),
                                             l->transport ? cell_text(l->transport) : cell_na(), cell_real(l->size_mb),
                                             cell_real(l->time_ms), cell_real(link_gbs(l).value) });
        }
    }
    return write_grid(db, &grid, "CommAnalyzerMatrix", column, e);
}
