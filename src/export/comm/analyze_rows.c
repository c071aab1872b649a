/* SPDX-License-Identifier: Apache-2.0 */
#include "export/comm/communication.h"

#include <inttypes.h>
#include <stdio.h>

static const char total_name[] = "Total HCCL Operators";

/* ---- JSON: as Python's json module spaces it ------------------------------------------------------------------- */

void json_key(struct out *o, const char *name, bool is_first)
{
    if (!is_first)
        out_lit(o, ", ");
    out_json(o, name, strlen(name));
    out_lit(o, ": ");
}

void json_amount(struct out *o, struct amount a)
{
    if (a.is_set)
        out_real(o, a.value);
    else
        out_char(o, '0');
}

void json_collective(const struct collectives *c, const struct collective *of, struct out *o, bool is_first)
{
    char text[700];
    const int n =
        snprintf(text, sizeof text, "%.600s@%.64s", names_text(c->names, of->name), names_text(c->names, of->group));
    if (!is_first)
        out_lit(o, ", ");
    out_json(o, text, (size_t)n);
    out_lit(o, ": ");
}

/* The times, in the order of the reports. The database leaves the ratios out. */
static const size_t time_at[COMM_TIMES] = {
    offsetof(struct comm_cost, elapse_ms),  offsetof(struct comm_cost, transit_ms),
    offsetof(struct comm_cost, wait_ms),    offsetof(struct comm_cost, sync_ms),
    offsetof(struct comm_cost, idle_ms),    offsetof(struct comm_cost, wait_ratio),
    offsetof(struct comm_cost, sync_ratio),
};
const char *const comm_time_name[COMM_TIMES] = {
    "Elapse Time(ms)", "Transit Time(ms)",           "Wait Time(ms)", "Synchronization Time(ms)", "Idle Time(ms)",
    "Wait Time Ratio", "Synchronization Time Ratio",
};

struct amount comm_time(const struct comm_cost *c, size_t i)
{
    return *(const struct amount *)(const void *)((const char *)c + time_at[i]);
}

void json_packets(const struct link_cost *l, struct out *o)
{
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
    out_char(o, '}');
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
        json_key(o, field[i].name, i == 0);
        json_amount(o, field[i].value);
    }
    json_key(o, "Size Distribution", false);
    json_packets(l, o);
    out_char(o, '}');
}

void json_cost(const struct comm_cost *c, struct amount start, struct out *o)
{
    out_char(o, '{');
    json_key(o, "Communication Time Info", true);
    out_char(o, '{');
    json_key(o, "Start Timestamp(us)", true);
    json_amount(o, start);
    for (size_t i = 0; i < COMM_TIMES; i++) {
        json_key(o, comm_time_name[i], false);
        json_amount(o, comm_time(c, i));
    }
    out_char(o, '}');
    json_key(o, "Communication Bandwidth Info", false);
    out_char(o, '{');
    for (int k = 0; k < LINK_KINDS; k++) {
        json_key(o, link_kind_name[k], k == 0);
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
        if (!collective_cost(c, of, &cost))
            return false;
        *n_untimed += !cost.has_master;
        if (!cost.has_master)
            continue;
        json_collective(c, of, o, is_first);
        json_cost(&cost, (struct amount){ collective_start_us(of, cost.begin_ns), true }, o);
        is_first = false;
        if (!comm_cost_add(&total, &cost))
            return false;
    }
    comm_cost_finish(&total);
    json_key(o, total_name, is_first);
    json_cost(&total, (struct amount){ 0 }, o);
    out_char(o, '}');
    return true;
}

void json_link(const struct comm_link *l, struct out *o)
{
    out_char(o, '{');
    json_key(o, "Transport Type", true);
    if (l->transport)
        out_json(o, l->transport, strlen(l->transport));
    else
        out_lit(o, "null");
    json_key(o, "Transit Size(MB)", false);
    out_real(o, l->size_mb);
    json_key(o, "Transit Time(ms)", false);
    out_real(o, l->time_ms);
    json_key(o, "Bandwidth(GB/s)", false);
    json_amount(o, link_gbs(l));
}

static void links_json(const struct comm_links *l, struct out *o)
{
    out_char(o, '{');
    for (size_t i = 0; i < l->link.n; i++) {
        const struct comm_link *link = &l->link.at[i];
        char pair[32];
        snprintf(pair, sizeof pair, "%" PRIu32 "-%" PRIu32, link_source(l, i), link_destination(l, i));
        json_key(o, pair, i == 0);
        json_link(link, o);
        out_char(o, '}');
    }
    out_char(o, '}');
}

bool matrix_json(struct collectives *c, struct out *o)
{
    struct comm_links links = { .mem = c->mem }, total = { .mem = c->mem };
    out_char(o, '{');
    for (size_t i = 0; i < c->list.n; i++) {
        if (!collective_links(c, &c->list.at[i], &links) || !comm_links_add(&total, &links))
            return false;
        json_collective(c, &c->list.at[i], o, i == 0);
        links_json(&links, o);
    }
    json_key(o, total_name, c->list.n == 0);
    links_json(&total, o);
    out_char(o, '}');
    return true;
}

/* ---- database --------------------------------------------------------------------------------------------------- */

bool grid_written(struct db *db, const struct grid *g, const char *name, const struct db_column *column,
                  struct error *e)
{
    if (arena_failed(g->mem))
        return error_no_memory(e, name);
    return db_table(db,
                    &(struct db_table){ .name = name,
                                        .column = column,
                                        .n_columns = g->n_columns,
                                        .n_rows = g->cells.n / g->n_columns,
                                        .grid = g->cells.at,
                                        .is_made_empty = true },
                    e);
}

enum { PLACE_COLUMNS = 2, TIME_COLUMNS = 8, BAND_COLUMNS = 10 };

static void put_place(struct cell *row, const struct collective_place *place)
{
    if (place) {
        row[0] = cell_name(place->step);
        row[1] = cell_name(place->kind);
    }
}

static void band_rows(struct grid *g, const struct collective *of, const struct collective_place *place, int kind,
                      const struct link_cost *l)
{
    if (l->size_mb.value + l->time_ms.value + l->gbs.value + l->large_ratio.value == 0)
        return;
    const size_t n = l->packets.n > 0 ? l->packets.n : 1;
    for (size_t i = 0; i < n; i++) {
        const bool has_packets = i < l->packets.n;
        struct cell row[BAND_COLUMNS + PLACE_COLUMNS] = {
            cell_name(of->name),
            cell_name(of->group),
            cell_text(link_kind_name[kind]),
            cell_real(l->size_mb.value),
            cell_real(l->time_ms.value),
            cell_real(l->gbs.value),
            cell_real(l->large_ratio.value),
            cell_real(has_packets ? packet_size_mb(l, i) : 0),
            cell_uint(has_packets ? l->packets.at[i].n : 0),
            cell_real(has_packets ? l->packets.at[i].time_ms : 0),
        };
        put_place(row + BAND_COLUMNS, place);
        grid_row(g, row);
    }
}

bool costs_db(struct collectives *c, const struct collective_place *place, struct db *db, struct error *e)
{
    static const struct db_column time_column[TIME_COLUMNS + PLACE_COLUMNS] = {
        { "hccl_op_name", "TEXT", NULL },
        { "group_name", "TEXT", NULL },
        { "start_timestamp", "NUMERIC", NULL },
        { "elapse_time", "NUMERIC", NULL },
        { "transit_time", "NUMERIC", NULL },
        { "wait_time", "NUMERIC", NULL },
        { "synchronization_time", "NUMERIC", NULL },
        { "idle_time", "NUMERIC", NULL },
        { "step", "TEXT", NULL },
        { "type", "TEXT", NULL },
    };
    static const struct db_column band_column[BAND_COLUMNS + PLACE_COLUMNS] = {
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
        { "step", "TEXT", NULL },
        { "type", "TEXT", NULL },
    };
    const size_t n_more = place ? PLACE_COLUMNS : 0;
    struct grid times = { .n_columns = TIME_COLUMNS + n_more, .mem = c->mem },
                bands = { .n_columns = BAND_COLUMNS + n_more, .mem = c->mem };
    struct comm_cost cost = { .mem = c->mem };
    for (size_t i = 0; i < c->list.n; i++) {
        const struct collective *of = &c->list.at[i];
        const struct collective_place *here = place ? &place[i] : NULL;
        if (here && !here->is_known)
            continue;
        if (!collective_cost(c, of, &cost))
            return error_no_memory(e, "CommAnalyzerTime");
        if (!cost.has_master)
            continue;
        struct cell row[TIME_COLUMNS + PLACE_COLUMNS] = { cell_name(of->name), cell_name(of->group),
                                                          cell_real(collective_start_us(of, cost.begin_ns)) };
        for (size_t k = 0; k < COMM_TIMES_WITHOUT_RATIOS; k++)
            row[3 + k] = cell_real(comm_time(&cost, k).value);
        put_place(row + TIME_COLUMNS, here);
        grid_row(&times, row);
        for (int k = 0; k < LINK_KINDS; k++)
            band_rows(&bands, of, here, k, &cost.link[k]);
    }
    return grid_written(db, &times, "CommAnalyzerTime", time_column, e) &&
           grid_written(db, &bands, "CommAnalyzerBandwidth", band_column, e);
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
        if (!collective_links(c, of, &links))
            return error_no_memory(e, "CommAnalyzerMatrix");
        for (size_t k = 0; k < links.link.n; k++) {
            const struct comm_link *l = &links.link.at[k];
            grid_row(&grid, (struct cell[]){ cell_name(of->name), cell_name(of->group),
                                             cell_uint(link_source(&links, k)), cell_uint(link_destination(&links, k)),
                                             l->transport ? cell_text(l->transport) : cell_na(), cell_real(l->size_mb),
                                             cell_real(l->time_ms), cell_real(link_gbs(l).value) });
        }
    }
    return grid_written(db, &grid, "CommAnalyzerMatrix", column, e);
}
