#include "export/msprof/hardware.h"

#include "analyse/flow/marks.h"
#include "analyse/host/operators.h"

struct task_rows {
    const struct export *x;
    const struct device *d;
};

enum {
    TASK_BEGIN,
    TASK_END,
    TASK_DEVICE,
    TASK_CONNECTION,
    TASK_ID,
    TASK_PID,
    TASK_TYPE,
    TASK_CONTEXT,
    TASK_STREAM,
    TASK_TASK,
    TASK_MODEL
};

static struct cell task_cell(const void *rows, size_t i, size_t column)
{
    const struct task_rows *r = rows;
    const struct tasks *t = &r->d->tasks;
    const struct host_tasks *h = &r->x->profile->host.tasks;
    const uint32_t host = t->host[i];
    switch (column) {
    case TASK_BEGIN: return cell_int(t->begin_ns[i]);
    case TASK_END: return cell_int(t->end_ns[i]);
    case TASK_DEVICE: return cell_uint(r->d->source.device);
    case TASK_CONNECTION: return cell_int(host == NO_ROW ? -1 : (int64_t)h->connection[host]);
    case TASK_ID: return cell_uint(t->global_id[i]);
    case TASK_PID: return cell_uint(r->d->source.pid);
    case TASK_TYPE: return cell_name(t->type[i]);
    case TASK_CONTEXT: return cell_uint(t->context[i]);
    case TASK_STREAM: return cell_uint(t->stream[i]);
    case TASK_TASK: return cell_uint(t->task[i]);
    default: return cell_uint(host == NO_ROW ? NO_MODEL : h->model[host]);
    }
}

/* Ranges that the user marked and the device saw are tasks too, numbered after the real ones. */
struct mark_rows {
    const struct profile *profile;
    const struct device *d;
    uint32_t first_id;
};

static struct cell mark_cell(const void *rows, size_t i, size_t column)
{
    const struct mark_rows *r = rows;
    const struct steps *s = &r->d->steps;
    switch (column) {
    case TASK_BEGIN: return cell_int(s->marks.begin_ns[i]);
    case TASK_END: return cell_int(s->marks.end_ns[i]);
    case TASK_DEVICE: return cell_uint(r->d->source.device);
    case TASK_CONNECTION: return cell_uint(mark_connection(seen_unique_id(r->profile, &s->marks, i)));
    case TASK_ID: return cell_uint(r->first_id + i);
    case TASK_PID: return cell_uint(r->d->source.pid);
    case TASK_TYPE: return cell_text("MsTx");
    case TASK_CONTEXT: return cell_uint(NO_CONTEXT);
    case TASK_STREAM: return cell_uint(s->marks.stream[i]);
    case TASK_TASK: return cell_uint(s->marks.task[i]);
    default: return cell_uint(s->marks.model[i]);
    }
}

/* Copies that the task scheduler did by itself, under the ids of those that the host asked for. */
struct ts_copy_rows {
    const struct export *x;
    const struct device *d;
    const uint32_t *id;
};

static struct cell ts_copy_cell(const void *rows, size_t i, size_t column)
{
    const struct ts_copy_rows *r = rows;
    const struct device *d = r->d;
    const struct host_tasks *h = &r->x->profile->host.tasks;
    const uint32_t host = d->log.copies.host[i];
    switch (column) {
    case TASK_BEGIN: return cell_int(source_device_ns(&d->source, d->log.copies.begin[i]));
    case TASK_END: return cell_int(source_device_ns(&d->source, d->log.copies.end[i]));
    case TASK_DEVICE: return cell_uint(d->source.device);
    case TASK_CONNECTION: return cell_int(host == NO_ROW ? -1 : (int64_t)h->connection[host]);
    case TASK_ID: return cell_uint(r->id[i]);
    case TASK_PID: return cell_uint(d->source.pid);
    case TASK_TYPE: return cell_name(NAME_MEMCPY_ASYNC);
    case TASK_CONTEXT: return cell_uint(NO_CONTEXT);
    case TASK_STREAM: return cell_uint(d->log.copies.stream[i]);
    case TASK_TASK: return cell_uint(d->log.copies.task[i]);
    default: return cell_uint(host == NO_ROW ? NO_MODEL : h->model[host]);
    }
}

/* Those that the host does not know are numbered after everything that has a number. */
static uint32_t *ts_copy_ids(const struct export *x, const struct device *d, uint32_t *next_id)
{
    uint32_t *id = arena_take(x->mem, d->log.copies.n, sizeof *id);
    for (size_t i = 0; id && i < d->log.copies.n; i++) {
        const uint32_t host = d->log.copies.host[i];
        id[i] = host == NO_ROW ? (*next_id)++ : x->profile->host.tasks.global_id[host];
    }
    return id;
}

static bool write_tasks(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "startNs", "INTEGER", NULL },      { "endNs", "INTEGER", NULL },        { "deviceId", "INTEGER", NULL },
        { "connectionId", "INTEGER", NULL }, { "globalTaskId", "INTEGER", NULL }, { "globalPid", "INTEGER", NULL },
        { "taskType", "INTEGER", NULL },     { "contextId", "INTEGER", NULL },    { "streamId", "INTEGER", NULL },
        { "taskId", "INTEGER", NULL },       { "modelId", "INTEGER", NULL },
    };
    struct db_table table = { .name = "TASK",
                              .column = column,
                              .n_columns = sizeof column / sizeof *column,
                              .index = "TaskIndex ON TASK (startNs,globalTaskId)" };
    uint32_t next_id = x->profile->n_global_ids;
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct task_rows tasks = { x, &x->profile->device[d] };
        const struct mark_rows marks = { x->profile, &x->profile->device[d], next_id };
        table.rows = &tasks;
        table.get = task_cell;
        table.n_rows = tasks.d->tasks.n;
        if (!db_table(db, &table, e))
            return false;
        table.rows = &marks;
        table.get = mark_cell;
        table.n_rows = marks.d->steps.marks.n;
        if (!db_table(db, &table, e))
            return false;
        next_id += (uint32_t)marks.d->steps.marks.n;
        const struct ts_copy_rows copies = { x, tasks.d, ts_copy_ids(x, tasks.d, &next_id) };
        if (!copies.id)
            return error_set(e, FAULT_LIMIT, "no memory for the table TASK");
        table.rows = &copies;
        table.get = ts_copy_cell;
        table.n_rows = tasks.d->log.copies.n;
        if (!db_table(db, &table, e))
            return false;
    }
    return true;
}

/* Host tasks with an operator, one for each id. */
struct op_rows {
    const struct profile *p;
    const uint32_t *host;
};

static struct cell op_cell(const void *rows, size_t i, size_t column)
{
    const struct op_rows *r = rows;
    const struct ops *o = &r->p->host.ops;
    const uint32_t host = r->host[i], op = r->p->host.tasks.op[host];
    switch (column) {
    case 0: return cell_name(o->name[op]);
    case 1: return cell_uint(r->p->host.tasks.global_id[host]);
    case 2: return cell_uint(o->blocks[op]);
    case 3: return cell_uint(o->mix_blocks[op]);
    case 4: return cell_name(o->task_type[op]);
    case 5: return cell_name(o->op_type[op]);
    case 6: return cell_name(o->formats[0][op]);
    case 7: return cell_name(o->types[0][op]);
    case 8: return cell_shape(o->shapes[0][op]);
    case 9: return cell_name(o->formats[1][op]);
    case 10: return cell_name(o->types[1][op]);
    case 11: return cell_shape(o->shapes[1][op]);
    case 12: return cell_name(o->attr[op]);
    case 13: return cell_name(o->state[op]);
    case 14: return cell_name(o->hf32[op]);
    case 15: return cell_name(o->grid_dim[op]);
    default: return cell_name(o->block_dim[op]);
    }
}

static struct cell schedule_cell(const void *rows, size_t i, size_t column)
{
    static const size_t same_as[] = { 0, 1, 4, 5 };
    return op_cell(rows, i, same_as[column]);
}

uint32_t *op_task_rows(const struct profile *p, bool is_schedule, struct arena *mem, size_t *n)
{
    const struct host_tasks *h = &p->host.tasks;
    uint32_t *row = arena_take(mem, h->n, sizeof *row);
    *n = 0;
    for (uint32_t i = 0; row && i < h->n; i++) {
        if (h->op[i] == NO_ROW || (i > 0 && h->global_id[i] == h->global_id[i - 1] && h->op[i - 1] != NO_ROW))
            continue;
        if (op_is_schedule(p, h->stream[i], h->op[i]) == is_schedule)
            row[(*n)++] = i;
    }
    return row;
}

static bool write_ops(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "name", "INTEGER", NULL },
        { "globalTaskId", "INTEGER PRIMARY KEY", NULL },
        { "blockNum", "INTEGER", NULL },
        { "mixBlockNum", "INTEGER", NULL },
        { "taskType", "INTEGER", NULL },
        { "opType", "INTEGER", NULL },
        { "inputFormats", "INTEGER", NULL },
        { "inputDataTypes", "INTEGER", NULL },
        { "inputShapes", "INTEGER", NULL },
        { "outputFormats", "INTEGER", NULL },
        { "outputDataTypes", "INTEGER", NULL },
        { "outputShapes", "INTEGER", NULL },
        { "attrInfo", "INTEGER", NULL },
        { "opState", "INTEGER", NULL },
        { "hf32Eligible", "INTEGER", NULL },
        { "gridDim", "INTEGER", NULL },
        { "blockDim", "INTEGER", NULL },
    };
    static const struct db_column schedule_column[] = {
        { "name", "INTEGER", NULL },
        { "globalTaskId", "INTEGER PRIMARY KEY", NULL },
        { "taskType", "INTEGER", NULL },
        { "opType", "INTEGER", NULL },
    };
    const struct profile *p = x->profile;
    size_t n_compute, n_schedule;
    const uint32_t *compute = op_task_rows(p, false, x->mem, &n_compute),
                   *schedule = op_task_rows(p, true, x->mem, &n_schedule);
    if (!compute || !schedule)
        return error_set(e, FAULT_LIMIT, "no memory for the table COMPUTE_TASK_INFO");
    const struct op_rows rows = { p, compute }, schedule_rows = { p, schedule };
    return db_table(db,
                    &(struct db_table){ .name = "COMPUTE_TASK_INFO",
                                        .column = column,
                                        .n_columns = 17,
                                        .n_rows = n_compute,
                                        .rows = &rows,
                                        .get = op_cell },
                    e) &&
           db_table(db,
                    &(struct db_table){ .name = "COMMUNICATION_SCHEDULE_TASK_INFO",
                                        .column = schedule_column,
                                        .n_columns = 4,
                                        .n_rows = n_schedule,
                                        .rows = &schedule_rows,
                                        .get = schedule_cell },
                    e);
}

struct copy_row {
    uint32_t id;
    uint16_t kind;
    uint64_t bytes;
};

static struct cell copy_cell(const void *rows, size_t i, size_t column)
{
    enum { KIND_OTHER = 65535 };
    const struct copy_row *r = (const struct copy_row *)rows + i;
    switch (column) {
    case 0: return cell_uint(r->id);
    case 1: return cell_uint(r->bytes);
    default: return cell_uint(r->kind == COPY_OTHER ? KIND_OTHER : r->kind);
    }
}

static bool write_copies(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = { { "globalTaskId", "NUMERIC", NULL },
                                               { "size", "NUMERIC", NULL },
                                               { "memcpyOperation", "NUMERIC", NULL } };
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct tasks *t = &x->profile->device[d].tasks;
        const struct device_log *log = &x->profile->device[d].log;
        size_t n = 0, most = log->copies.n;
        for (size_t i = 0; i < t->n; i++)
            most += t->copy_kind[i] != COPY_NONE;
        struct copy_row *row = arena_take(x->mem, most, sizeof *row);
        if (!row)
            return error_set(e, FAULT_LIMIT, "no memory for the table MEMCPY_INFO");
        for (uint32_t i = 0; i < t->n; i++)
            if (t->copy_kind[i] != COPY_NONE)
                row[n++] = (struct copy_row){ t->global_id[i], t->copy_kind[i], t->copy_bytes[i] };
        for (size_t i = 0; i < log->copies.n; i++)
            if (log->copies.kind[i] != COPY_NONE)
                row[n++] = (struct copy_row){ x->profile->host.tasks.global_id[log->copies.host[i]],
                                              log->copies.kind[i], log->copies.bytes[i] };
        if (!db_table(db,
                      &(struct db_table){ .name = "MEMCPY_INFO",
                                          .column = column,
                                          .n_columns = 3,
                                          .n_rows = n,
                                          .rows = row,
                                          .get = copy_cell },
                      e))
            return false;
    }
    return true;
}

bool hardware_db(const struct export *x, struct db *db, struct error *e)
{
    return write_tasks(x, db, e) && write_ops(x, db, e) && write_copies(x, db, e);
}
