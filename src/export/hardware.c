#include "export/hardware.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyse/device_tasks.h"
#include "analyse/operators.h"
#include "base/bytes.h"
#include "export/arrows.h"
#include "export/scope.h"
#include "raw/enums.h"

enum { CANN_SORT = 7 };

uint32_t hardware_row(const struct export *x, uint32_t stream)
{
    const struct logic_streams *l = &x->profile->host.records.logic_streams;
    for (size_t i = l->n; i-- > 0;) /* the last word counts */
        for (uint32_t k = 0; k < l->count[i]; k++)
            if (le32(l->physical[i] + 4 * k) == stream)
                return l->logic[i];
    return stream;
}

/* The same for every stream at once: a task asks for it more often than there are streams. */
static uint32_t *all_rows(const struct export *x)
{
    uint32_t *row = arena_take(x->mem, UINT16_MAX + 1, sizeof *row);
    const struct logic_streams *l = &x->profile->host.records.logic_streams;
    for (uint32_t s = 0; row && s <= UINT16_MAX; s++)
        row[s] = s;
    for (size_t i = 0; row && i < l->n; i++)
        for (uint32_t k = 0; k < l->count[i]; k++) {
            const uint32_t stream = le32(l->physical[i] + 4 * k);
            if (stream <= UINT16_MAX)
                row[stream] = l->logic[i];
        }
    return row;
}

struct hardware {
    const struct export *x;
    struct trace *t;
    const struct device *d;
    uint32_t pid, host_pid;
    const uint32_t *row_of_stream;
    name_id copy, simt;
};

static void write_arrow(const struct hardware *h, size_t row, uint32_t host)
{
    const struct profile *p = h->x->profile;
    const struct tasks *t = &h->d->tasks;
    const enum arrow_kind arrow = arrow_to_task(h->x, h->t, h->d, row);
    char text[ARROW_ID_BYTES];
    if (arrow == ARROW_NONE)
        return;
    const char *id = arrow == ARROW_OF_TASK ? arrow_task_id(h->d, row, text)
                                            : arrow_call_id(h->x, p->host.tasks.connection[host] - 1, text);
    if (arrow == ARROW_OF_TASK)
        trace_flow(h->t, 's', "HostToDevice", id, h->host_pid, p->host.tasks.thread[host],
                   source_host_ns(&p->host.source, p->host.tasks.time[host]));
    trace_flow(h->t, 'f', "HostToDevice", id, h->pid, h->row_of_stream[t->stream[row]], t->begin_ns[row]);
}

static void write_task(const struct hardware *h, size_t row)
{
    const struct profile *p = h->x->profile;
    const struct host_tasks *ht = &p->host.tasks;
    const struct tasks *t = &h->d->tasks;
    const uint32_t host = scope_task_host(h->x, t, row), op = host == NO_ROW ? NO_ROW : t->op[row];
    const bool is_copy = host != NO_ROW && ht->type[host] == h->copy;
    const name_id device_type = task_device_type(p, t, row);
    const name_id shown = host == NO_ROW ? device_type : t->type[row];
    const bool has_type = op != NO_ROW && p->host.ops.task_type[op] != NAME_NA;
    const name_id type = has_type ? p->host.ops.task_type[op] : is_copy && !h->x->is_generic ? device_type : shown;
    trace_slice_name(h->t, op != NO_ROW ? p->host.ops.name[op] : shown, h->pid, h->row_of_stream[t->stream[row]],
                     t->begin_ns[row], t->dur_ns[row]);
    trace_args(h->t);
    trace_arg_uint(h->t, "Model Id", host == NO_ROW ? NO_MODEL : ht->model[host]);
    trace_arg_name(h->t, "Task Type", type);
    trace_arg_uint(h->t, "Physic Stream Id", t->stream[row]);
    trace_arg_uint(h->t, "Task Id", t->task[row]);
    trace_arg_uint(h->t, "Batch Id", t->batch[row]);
    trace_arg_uint(h->t, "Subtask Id", t->context[row]);
    trace_arg_int(h->t, "connection_id", host == NO_ROW ? -1 : (int64_t)ht->connection[host]);
    if (is_copy && !h->x->is_generic && p->host.records.memcpys.n > 0) {
        const char *kind = t->copy_kind[row] == COPY_NONE ? NULL : enum_text(&memcpy_kinds, t->copy_kind[row]);
        trace_arg_uint(h->t, "size(B)", t->copy_bytes[row]);
        trace_arg_real(h->t, "bandwidth(GB/s)", t->dur_ns[row] > 0 ? (double)t->copy_bytes[row] / t->dur_ns[row] : 0);
        trace_arg_text(h->t, "operation", kind ? kind : "other");
    }
    if (op != NO_ROW && t->type[row] == h->simt) {
        trace_arg_name(h->t, "Grid Dim", p->host.ops.grid_dim[op]);
        trace_arg_name(h->t, "Block Dim", p->host.ops.block_dim[op]);
    }
    trace_end(h->t);
    write_arrow(h, row, host);
}

static bool is_written(const struct hardware *h, size_t row)
{
    const struct tasks *t = &h->d->tasks;
    return !t->is_hidden[row] && scope_has_task(h->x, t, row);
}

static bool write_device(const struct hardware *h, struct error *e)
{
    const struct tasks *t = &h->d->tasks;
    bool *seen = arena_take(h->x->mem, UINT16_MAX + 1, sizeof *seen);
    if (!seen)
        return error_set(e, FAULT_LIMIT, "no memory for the streams of the timeline");
    trace_process_npu(h->t, h->pid, "Ascend Hardware", h->d->source.device, HARDWARE_SORT);
    for (size_t i = 0; i < t->n; i++)
        seen[h->row_of_stream[t->stream[i]] & UINT16_MAX] |= is_written(h, i);
    for (uint32_t row = 0; row <= UINT16_MAX; row++) {
        char name[32];
        snprintf(name, sizeof name, "Stream %" PRIu32, row);
        if (seen[row])
            trace_thread(h->t, h->pid, row, name, row);
    }
    for (size_t i = 0; i < t->n; i++)
        if (is_written(h, i))
            write_task(h, i);
    return true;
}

bool hardware_track(const struct export *x, struct trace *t, struct error *e)
{
    const struct profile *p = x->profile;
    struct hardware h = { .x = x,
                          .t = t,
                          .host_pid = trace_pid(p->host.source.pid, CANN_SORT, TRACE_HOST),
                          .row_of_stream = all_rows(x),
                          .copy = names_addz(p->names, "MEMCPY_ASYNC"),
                          .simt = names_addz(p->names, "KERNEL_SIMT") };
    if (!h.row_of_stream)
        return error_set(e, FAULT_LIMIT, "no memory for the streams of the timeline");
    for (size_t i = 0; i < p->n_devices; i++) {
        h.d = &p->device[i];
        h.pid = trace_pid(h.d->source.pid, HARDWARE_SORT, h.d->source.device);
        if (h.d->tasks.n > 0 && !write_device(&h, e))
            return false;
    }
    return true;
}

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
    const struct device *d;
    uint32_t first_id;
};

static struct cell mark_cell(const void *rows, size_t i, size_t column)
{
    static const uint64_t FIRST_CONNECTION = 4000000001u;
    const struct mark_rows *r = rows;
    const struct steps *s = &r->d->steps;
    switch (column) {
    case TASK_BEGIN: return cell_int(s->marks.begin_ns[i]);
    case TASK_END: return cell_int(s->marks.end_ns[i]);
    case TASK_DEVICE: return cell_uint(r->d->source.device);
    case TASK_CONNECTION: return cell_uint(FIRST_CONNECTION + s->marks.id[i]);
    case TASK_ID: return cell_uint(r->first_id + i);
    case TASK_PID: return cell_uint(r->d->source.pid);
    case TASK_TYPE: return cell_text("MsTx");
    case TASK_CONTEXT: return cell_uint(NO_CONTEXT);
    case TASK_STREAM: return cell_uint(s->marks.stream[i]);
    case TASK_TASK: return cell_uint(s->marks.task[i]);
    default: return cell_uint(s->marks.model[i]);
    }
}

static bool write_tasks(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        {"startNs",       "INTEGER", NULL},
        { "endNs",        "INTEGER", NULL},
        { "deviceId",     "INTEGER", NULL},
        { "connectionId", "INTEGER", NULL},
        { "globalTaskId", "INTEGER", NULL},
        { "globalPid",    "INTEGER", NULL},
        { "taskType",     "INTEGER", NULL},
        { "contextId",    "INTEGER", NULL},
        { "streamId",     "INTEGER", NULL},
        { "taskId",       "INTEGER", NULL},
        { "modelId",      "INTEGER", NULL},
    };
    struct db_table table = { .name = "TASK",
                              .column = column,
                              .n_columns = sizeof column / sizeof *column,
                              .index = "TaskIndex ON TASK (startNs,globalTaskId)" };
    uint32_t next_id = x->profile->n_global_ids;
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct task_rows tasks = { x, &x->profile->device[d] };
        const struct mark_rows marks = { &x->profile->device[d], next_id };
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

static bool write_ops(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        {"name",             "INTEGER",             NULL},
        { "globalTaskId",    "INTEGER PRIMARY KEY", NULL},
        { "blockNum",        "INTEGER",             NULL},
        { "mixBlockNum",     "INTEGER",             NULL},
        { "taskType",        "INTEGER",             NULL},
        { "opType",          "INTEGER",             NULL},
        { "inputFormats",    "INTEGER",             NULL},
        { "inputDataTypes",  "INTEGER",             NULL},
        { "inputShapes",     "INTEGER",             NULL},
        { "outputFormats",   "INTEGER",             NULL},
        { "outputDataTypes", "INTEGER",             NULL},
        { "outputShapes",    "INTEGER",             NULL},
        { "attrInfo",        "INTEGER",             NULL},
        { "opState",         "INTEGER",             NULL},
        { "hf32Eligible",    "INTEGER",             NULL},
        { "gridDim",         "INTEGER",             NULL},
        { "blockDim",        "INTEGER",             NULL},
    };
    static const struct db_column schedule_column[] = {
        {"name",          "INTEGER",             NULL},
        { "globalTaskId", "INTEGER PRIMARY KEY", NULL},
        { "taskType",     "INTEGER",             NULL},
        { "opType",       "INTEGER",             NULL},
    };
    const struct profile *p = x->profile;
    const struct host_tasks *h = &p->host.tasks;
    uint32_t *compute = arena_take(x->mem, h->n, sizeof *compute),
             *schedule = arena_take(x->mem, h->n, sizeof *schedule);
    size_t n_compute = 0, n_schedule = 0;
    if (!compute || !schedule)
        return error_set(e, FAULT_LIMIT, "no memory for the table COMPUTE_TASK_INFO");
    for (uint32_t i = 0; i < h->n; i++) {
        if (h->op[i] == NO_ROW || (i > 0 && h->global_id[i] == h->global_id[i - 1] && h->op[i - 1] != NO_ROW))
            continue;
        if (op_is_schedule(p, h->stream[i], h->op[i]))
            schedule[n_schedule++] = i;
        else
            compute[n_compute++] = i;
    }
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

struct copy_rows {
    const struct tasks *t;
    const uint32_t *row;
};

static struct cell copy_cell(const void *rows, size_t i, size_t column)
{
    enum { KIND_OTHER = 65535 };
    const struct copy_rows *r = rows;
    const uint32_t row = r->row[i];
    switch (column) {
    case 0: return cell_uint(r->t->global_id[row]);
    case 1: return cell_uint(r->t->copy_bytes[row]);
    default: return cell_uint(r->t->copy_kind[row] == COPY_OTHER ? KIND_OTHER : r->t->copy_kind[row]);
    }
}

static bool write_copies(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        {"globalTaskId",     "NUMERIC", NULL},
        { "size",            "NUMERIC", NULL},
        { "memcpyOperation", "NUMERIC", NULL}
    };
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct tasks *t = &x->profile->device[d].tasks;
        uint32_t *row = arena_take(x->mem, t->n, sizeof *row);
        size_t n = 0;
        if (!row)
            return error_set(e, FAULT_LIMIT, "no memory for the table MEMCPY_INFO");
        for (uint32_t i = 0; i < t->n; i++)
            if (t->copy_kind[i] != COPY_NONE)
                row[n++] = i;
        const struct copy_rows rows = { t, row };
        if (!db_table(db,
                      &(struct db_table){ .name = "MEMCPY_INFO",
                                          .column = column,
                                          .n_columns = 3,
                                          .n_rows = n,
                                          .rows = &rows,
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
