/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/machine.h"
#include "export/msprof/prof_outputs.h"

/* The tables of the device. */
static bool write_device(const struct collection_export *x, struct db *db, struct error *e)
{
    return !x->collection->has_device || device_db(&x->device, db, e);
}

/* Of a collection without a device nothing recorded the machine: this machine is assumed. Else write_device() has
 * written it. */
static bool write_host(const struct collection_export *x, struct db *db, struct error *e)
{
    char name[256] = "";
    if (x->collection->has_device)
        return true;
    gethostname(name, sizeof name - 1);
    const char *uid = arena_printf(x->mem, "%" PRIu64, machine_uid());
    return host_info_db(db, uid, name, x->mem, e);
}

/* The rows are in the order of the reference. */
static bool write_metadata(const struct collection_export *x, struct db *db, struct error *e)
{
    const struct collection *s = x->collection;
    struct grid g = { .n_columns = 2, .mem = x->mem };
    if (s->has_device)
        metadata_schema(&g);
    for (size_t i = 0; i < s->metadata.n; i++)
        grid_row(&g, (struct cell[]){ cell_text(s->metadata.row[i].key), cell_text(s->metadata.row[i].text) });
    metadata_losses(&g, &s->lost);
    if ((s->settings.is_simulated || (s->has_device && source_is_simulated(profile_main_source(&s->profile)))) &&
        !s->collector.is_simulated)
        metadata_simulated(&g);
    recording_metadata(&g, &s->collector);
    return recording_steps_db(db, &s->collector, x->mem, e) && metadata_db(db, &g, e);
}

/* Appends the kinds of the framework's calls to those of the device. */
static bool write_api_types(const struct collection_export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = { { "id", "INTEGER PRIMARY KEY", NULL }, { "name", "TEXT", NULL } };
    static const char *const name[] = { "op", "queue", "trace", "mstx" };
    struct grid g = { .n_columns = 2, .mem = x->mem };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        grid_row(&g, (struct cell[]){ cell_uint(50001 + i), cell_text(name[i]) });
    return grid_db(db, "ENUM_API_TYPE", column, &g, e);
}

CELL_GETTER(gc_begin, struct collected_garbage, cell_int(r->begin_ns[i]))
CELL_GETTER(gc_end, struct collected_garbage, cell_int(r->end_ns[i]))
/* The thread of a garbage collection is unknown: the process id stands for it. */
CELL_GETTER(gc_tid, struct collected_garbage, cell_uint((uint64_t)r->process[i] << 32 | r->process[i]))

static bool write_gc(const struct collection_export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "startNs", "INTEGER", gc_begin },
        { "endNs", "INTEGER", gc_end },
        { "globalTid", "INTEGER", gc_tid },
    };
    const struct db_table t = {
        .name = "GC_RECORD", TABLE_COLUMNS(column), .n_rows = x->framework->gc.n, .rows = &x->framework->gc
    };
    return db_table(db, &t, e);
}

struct framework_db_step_rows {
    const struct profiler_steps *steps;
    const struct names *names;
};

/* The number of a step, from what follows the "#" in its name; NULL if that is no number. */
static struct cell step_number(const struct names *names, name_id id)
{
    const char *text = names_text(names, id);
    char *end;
    const long long number = strtoll(text, &end, 10);
    return end > text && *end == '\0' ? cell_int(number) : cell_na();
}

CELL_GETTER(step_id, struct framework_db_step_rows, step_number(r->names, r->steps->id[i]))
CELL_GETTER(step_begin, struct framework_db_step_rows, cell_int(r->steps->host_begin_ns[i]))
CELL_GETTER(step_end, struct framework_db_step_rows, cell_int(r->steps->host_end_ns[i]))

static bool write_steps(const struct collection_export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "id", "INTEGER", step_id },
        { "startNs", "INTEGER", step_begin },
        { "endNs", "INTEGER", step_end },
    };
    const struct framework_db_step_rows rows = { &x->collection->steps, x->collection->profile.names };
    const struct db_table t = { .name = "STEP_TIME", TABLE_COLUMNS(column), .n_rows = rows.steps->n, .rows = &rows };
    return db_table(db, &t, e);
}

static bool write_ranks(const struct collection_export *x, struct db *db, struct error *e)
{
    const struct collection_settings *t = &x->collection->settings;
    return ranks_db(&x->device, db, t->has_rank ? t->rank : -1, e);
}

/* Which rows the database of some steps has: what began in them, where a table has times; samples from the time in
 * which the devices worked on them; and rows about the tasks that are left. */
struct wanted_rows {
    const struct collection_export *x;
    const bool *has_task; /* by global id: TASK has it */
};

static bool keeps_host(const void *context, int64_t ns)
{
    return collection_shows(((const struct wanted_rows *)context)->x, ns);
}

static bool keeps_launch(const void *context, int64_t ns)
{
    const struct collection_part *p = ((const struct wanted_rows *)context)->x->part;
    return ns >= p->begin_ns && ns <= p->launched_ns;
}

static bool keeps_device(const void *context, int64_t ns)
{
    return collection_shows_device(((const struct wanted_rows *)context)->x, ns);
}

/* Ids beyond n_global_ids are of marks and copies, about which no other table has rows. */
static bool keeps_task(const void *context, int64_t id)
{
    const struct wanted_rows *w = context;
    return id < 0 || id >= (int64_t)w->x->collection->profile.n_global_ids || w->has_task[id];
}

static const struct db_filter part_filters[] = {
    { "PYTORCH_API", "startNs", NULL }, /* NULL: written from data that is cut to the steps already */
    { "GC_RECORD", "startNs", NULL },
    { "STEP_TIME", "startNs", keeps_host },
    { "CANN_API", "startNs", keeps_launch },
    { "MSTX_EVENTS", "startNs", keeps_launch },
    { "OSRT_API", "startNs", keeps_launch },
    { "NPU_OP_MEM", "timestampNs", keeps_launch },
    { "MEMORY_RECORD", "timestamp", keeps_host },
    { "OP_MEMORY", "allocationTime", keeps_host },
    { NULL, "startNs", keeps_device },
    { NULL, "timestampNs", keeps_device },
    { NULL, "globalTaskId", keeps_task },
};

static bool cut_rows(const struct collection_export *x, struct db *db, struct error *e)
{
    const struct profile *p = &x->collection->profile;
    bool *has_task = arena_take(x->mem, p->n_global_ids, sizeof *has_task);
    struct wanted_rows *w = arena_take(x->mem, 1, sizeof *w);
    if (!has_task || !w)
        return error_no_memory(e, "the database of a part");
    for (size_t d = 0; d < p->n_devices; d++) {
        const struct tasks *t = &p->device[d].tasks;
        for (size_t i = 0; i < t->n; i++)
            if (t->global_id[i] < p->n_global_ids && collection_shows_device(x, t->begin_ns[i]))
                has_task[t->global_id[i]] = true;
    }
    *w = (struct wanted_rows){ x, has_task };
    db_filters(db, part_filters, sizeof part_filters / sizeof *part_filters, w);
    return true;
}

bool pytorch_tables(const struct collection_export *x, struct db *db, struct error *e)
{
    static const struct {
        bool (*write)(const struct collection_export *x, struct db *db, struct error *e);
        const char *tables; /* see struct db_writer */
    } part[] = {
        { write_host, "HOST_INFO" },
        { write_ranks, "RANK_DEVICE_MAP" },
        { write_metadata, "META_DATA" },
        { write_api_types, NULL },
        { pytorch_api_db, "PYTORCH_API CONNECTION_IDS" },
        { write_gc, NULL },
        { write_steps, "STEP_TIME" },
        { framework_memory_db, NULL },
    };
    bool done = write_device(x, db, e);
    for (size_t i = 0; done && i < sizeof part / sizeof *part; i++)
        done = !db_wants(db, part[i].tables) || (part[i].write(x, db, e) && !arena_failed(x->mem));
    return done || error_no_memory(e, x->collection->path);
}

bool ms_tables(const struct collection_export *x, struct db *db, struct error *e)
{
    struct export whole = x->device;
    whole.scope = SCOPE_ALL;
    whole.window = whole.host_window = NULL;
    return !x->collection->has_device ||
           (device_db(&whole, db, e) && (!db_wants(db, "STEP_TIME") || write_steps(x, db, e)) &&
            (!db_wants(db, "StepTraceTime") || step_times_db(x, db, e)) &&
            about_db(&whole, db, x->collection->settings.rank, e));
}

static bool write_file(const struct collection_export *x, const char *path, uint64_t *n_rows,
                       bool (*tables)(const struct collection_export *x, struct db *db, struct error *e),
                       struct error *e)
{
    struct db *db = db_open(path, x->collection->profile.names, e);
    if (!db)
        return false;
    if ((x->part && !cut_rows(x, db, e)) || !tables(x, db, e)) {
        db_discard(db);
        return error_no_memory(e, path);
    }
    *n_rows = db_rows(db);
    return db_close(db, e);
}

bool pytorch_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    return write_file(x, path, n_rows, pytorch_tables, e);
}

bool ms_db_write(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    return !x->collection->has_device || write_file(x, path, n_rows, ms_tables, e);
}
