/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "raw/chip.h"
#include "raw/enums.h"
#include "raw/host_records.h"

bool grid_db(struct db *db, const char *name, const struct db_column *column, const struct grid *g, struct error *e)
{
    if (arena_failed(g->mem))
        return error_no_memory(e, name);
    const struct db_table t = { .name = name,
                                .column = column,
                                .n_columns = g->n_columns,
                                .n_rows = g->cells.n / g->n_columns,
                                .grid = g->cells.at };
    return db_table(db, &t, e);
}

static bool write_devices(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column info[] = { { "id", "INTEGER", NULL }, { "name", "TEXT", NULL } };
    const struct profile *p = x->profile;
    struct grid g = { .n_columns = 2, .mem = x->mem };
    for (size_t d = 0; d < p->n_devices; d++) {
        const struct source *s = &p->device[d].source;
        grid_row(&g, (struct cell[]){ cell_uint(s->device), cell_text(s->chip->name) });
    }
    if (p->n_devices == 0)
        grid_row(&g, (struct cell[]){ cell_int(-1), cell_text(chip_of(PLATFORM_UNKNOWN)->name) });
    return grid_db(db, "NPU_INFO", info, &g, e);
}

bool ranks_db(const struct export *x, struct db *db, int64_t rank, struct error *e)
{
    static const struct db_column column[] = { { "rankId", "INTEGER", NULL }, { "deviceId", "INTEGER", NULL } };
    const struct profile *p = x->profile;
    struct grid g = { .n_columns = 2, .mem = x->mem };
    for (size_t d = 0; d < p->n_devices; d++) {
        const struct source *s = &p->device[d].source;
        grid_row(&g, (struct cell[]){ cell_int(rank >= 0 ? rank : s->settings.rank), cell_uint(s->device) });
    }
    if (p->n_devices == 0)
        grid_row(&g, (struct cell[]){ cell_int(rank), cell_int(-1) });
    return grid_db(db, "RANK_DEVICE_MAP", column, &g, e);
}

bool host_info_db(struct db *db, const char *uid, const char *name, struct arena *mem, struct error *e)
{
    static const struct db_column column[] = { { "hostUid", "TEXT", NULL }, { "hostName", "TEXT", NULL } };
    struct grid g = { .n_columns = 2, .mem = mem };
    grid_row(&g, (struct cell[]){ cell_text(uid), cell_text(name) });
    return grid_db(db, "HOST_INFO", column, &g, e);
}

static bool write_collection(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column times[] = { { "startTimeNs", "INTEGER", NULL }, { "endTimeNs", "INTEGER", NULL } };
    const struct source *s = profile_main_source(x->profile);
    const char *uid = s->settings.host_uid;
    struct grid time = { .n_columns = 2, .mem = x->mem };
    grid_row(&time, (struct cell[]){ cell_int(s->begin_ns), cell_int(s->end_ns) });
    return grid_db(db, "SESSION_TIME_INFO", times, &time, e) &&
           host_info_db(db, *uid ? uid : "0", s->settings.hostname, x->mem, e);
}

void metadata_schema(struct grid *g)
{
    static const char *const row[][2] = { { "SCHEMA_VERSION", "1.2.0" },
                                          { "SCHEMA_VERSION_MAJOR", "1" },
                                          { "SCHEMA_VERSION_MINOR", "2" },
                                          { "SCHEMA_VERSION_MICRO", "0" } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        grid_row(g, (struct cell[]){ cell_text(row[i][0]), cell_text(row[i][1]) });
}

void metadata_losses(struct grid *g, const struct losses *lost)
{
    for (int why = 0; why < LOSS_KINDS; why++) {
        char *name = arena_printf(g->mem, "ASCOPE_LOST_%s", loss_key((enum loss)why));
        const char *n = arena_printf(g->mem, "%" PRIu64, lost->by[why].n);
        if (!name || !n || lost->by[why].n == 0)
            continue;
        for (char *c = name; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        grid_row(g, (struct cell[]){ cell_text(name), cell_text(n) });
    }
}

void metadata_simulated(struct grid *g)
{
    grid_row(g, (struct cell[]){ cell_text("ASCOPE_SIMULATED"), cell_text("1") });
}

bool metadata_db(struct db *db, const struct grid *g, struct error *e)
{
    static const struct db_column column[] = { { "name", "TEXT", NULL }, { "value", "TEXT", NULL } };
    return grid_db(db, "META_DATA", column, g, e);
}

bool device_db(const struct export *x, struct db *db, struct error *e)
{
    const struct registry *const r = x->registry;
    for (size_t i = 0; i < r->n_db_writers; i++) {
        if (db_wants(db, r->db_writer[i].tables) && !r->db_writer[i].write(x, db, e))
            return false;
        if (arena_failed(x->mem) || names_failed(x->profile->names))
            return error_no_memory(e, x->profile->path);
    }
    return true;
}

bool identity_db(const struct export *x, struct db *db, struct error *e)
{
    return write_collection(x, db, e) && write_devices(x, db, e);
}

bool about_db(const struct export *x, struct db *db, int64_t rank, struct error *e)
{
    struct grid g = { .n_columns = 2, .mem = x->mem };
    if (!db_wants(db, "RANK_DEVICE_MAP META_DATA"))
        return true;
    metadata_schema(&g);
    metadata_losses(&g, &x->profile->lost);
    if (source_is_simulated(profile_main_source(x->profile)) && !x->profile->collector.is_simulated)
        metadata_simulated(&g);
    recording_metadata(&g, &x->profile->collector);
    if (!recording_steps_db(db, &x->profile->collector, x->mem, e))
        return false;
    return ranks_db(x, db, rank, e) && metadata_db(db, &g, e);
}

enum { ENUM_NOT_KNOWN = 65534, ENUM_INVALID = 65535 };

static const struct enum_name api_type[] = {
    { LEVEL_RUNTIME, "runtime" }, { LEVEL_COMMUNICATION, "communication" },
    { LEVEL_NODE, "node" },       { LEVEL_MODEL, "model" },
    { LEVEL_ACL, "acl" },
};
static const struct enum_name overlap_type[] = {
    { OVERLAP_COMPUTING, "COMPUTE" },
    { OVERLAP_COMMUNICATION, "COMMUNICATION" },
    { OVERLAP_EXPOSED, "COMM_NOT_OVERLAP_COMP" },
    { OVERLAP_FREE, "FREE" },
};
static const struct enum_table api_types = { api_type, sizeof api_type / sizeof *api_type };
static const struct enum_table overlap_types = { overlap_type, sizeof overlap_type / sizeof *overlap_type };

/* The names of numbers in raw records, and of the two numbers for "not reported" and "unknown". */
static const struct {
    const char *table;
    const struct enum_table *numbers;
    const char *not_known, *invalid; /* NULL: the table has no such row */
} enums[] = {
    { "ENUM_API_TYPE", &api_types, NULL, NULL },
    { "ENUM_MODULE", &modules, NULL, NULL },
    { "ENUM_HCCL_DATA_TYPE", &hccl_data_types, "N/A", "INVALID_TYPE" },
    { "ENUM_HCCL_LINK_TYPE", &hccl_links, "N/A", "INVALID_TYPE" },
    { "ENUM_HCCL_TRANSPORT_TYPE", &hccl_transports, "N/A", "INVALID_TYPE" },
    { "ENUM_HCCL_RDMA_TYPE", &hccl_rdmas, "N/A", "INVALID_TYPE" },
    { "ENUM_MSTX_EVENT_TYPE", &mark_events, NULL, NULL },
    { "ENUM_MEMCPY_OPERATION", &memcpy_kinds, NULL, "other" },
    { "ENUM_OVERLAP_ANALYSIS_TYPE", &overlap_types, NULL, "RESERVE" },
};

bool enums_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = { { "id", "INTEGER PRIMARY KEY", NULL }, { "name", "TEXT", NULL } };
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++) {
        struct grid g = { .n_columns = 2, .mem = x->mem };
        for (size_t k = 0; k < enums[i].numbers->n; k++) {
            const struct enum_name *n = &enums[i].numbers->name[k];
            if (n->value < ENUM_NOT_KNOWN)
                grid_row(&g, (struct cell[]){ cell_uint(n->value), cell_text(n->name) });
        }
        if (enums[i].not_known)
            grid_row(&g, (struct cell[]){ cell_uint(ENUM_NOT_KNOWN), cell_text(enums[i].not_known) });
        if (enums[i].invalid)
            grid_row(&g, (struct cell[]){ cell_uint(ENUM_INVALID), cell_text(enums[i].invalid) });
        if (!grid_db(db, enums[i].table, column, &g, e))
            return false;
    }
    return true;
}
