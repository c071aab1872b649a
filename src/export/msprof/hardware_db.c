/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include "analyse/flow/marks.h"
#include "analyse/host/host_analysis.h"
#include "raw/host_records.h"

/* The rows of TASK are of three kinds: tasks of the device; ranges between marks of the user on the device, whose ids
 * follow those of the tasks; copies that the task scheduler made by itself, with the id of the host task that asked for
 * them. */
enum { OF_DEVICE, OF_MARKS, OF_SCHEDULER };

struct task_rows {
    const struct profile *profile;
    const struct device *d;
    const struct tasks *task;
    const struct device_marks *mark;
    const struct scheduler_copies *copy;
    uint32_t first_mark_id;
    const uint32_t *copy_id;
};

static struct cell connection_cell(const struct profile *p, uint32_t host)
{
    return cell_int(host == NO_ROW ? -1 : (int64_t)p->host.tasks.connection[host]);
}

static struct cell model_cell(const struct profile *p, uint32_t host)
{
    return cell_uint(host == NO_ROW ? NO_MODEL : p->host.tasks.model[host]);
}

CELL_GETTER(device_id, struct task_rows, cell_uint(r->d->source.device))
CELL_GETTER(device_pid, struct task_rows, cell_uint(r->d->source.pid))
CELL_GETTER(no_context, struct task_rows, cell_uint(NO_CONTEXT))

CELL_GETTER(task_begin, struct task_rows, cell_int(r->task->begin_ns[i]))
CELL_GETTER(task_end, struct task_rows, cell_int(r->task->end_ns[i]))
CELL_GETTER(task_connection, struct task_rows, connection_cell(r->profile, r->task->host[i]))
CELL_GETTER(task_id, struct task_rows, cell_uint(r->task->global_id[i]))
CELL_GETTER(task_type, struct task_rows, cell_name(r->task->type[i]))
CELL_GETTER(task_context, struct task_rows, cell_uint(r->task->context[i]))
CELL_GETTER(task_stream, struct task_rows, cell_uint(task_stream_id(r->d, i)))
CELL_GETTER(task_task, struct task_rows, cell_uint(r->task->task[i]))
CELL_GETTER(task_model, struct task_rows, model_cell(r->profile, r->task->host[i]))

CELL_GETTER(mark_begin, struct task_rows, cell_int(r->mark->begin_ns[i]))
CELL_GETTER(mark_end, struct task_rows, cell_int(r->mark->end_ns[i]))
CELL_GETTER(mark_connection_id, struct task_rows, cell_uint(mark_connection(seen_unique_id(r->profile, r->mark, i))))
CELL_GETTER(mark_id, struct task_rows, cell_uint(r->first_mark_id + i))
CELL_GETTER(mark_type, struct task_rows, cell_text("MsTx"))
CELL_GETTER(mark_stream, struct task_rows, cell_uint(r->mark->stream[i]))
CELL_GETTER(mark_task, struct task_rows, cell_uint(r->mark->task[i]))
CELL_GETTER(mark_model, struct task_rows, cell_uint(r->mark->model[i]))

CELL_GETTER(copy_begin, struct task_rows, cell_int(source_device_ns(&r->d->source, r->copy->begin[i])))
CELL_GETTER(copy_end, struct task_rows, cell_int(source_device_ns(&r->d->source, r->copy->end[i])))
CELL_GETTER(copy_connection, struct task_rows, connection_cell(r->profile, r->copy->host[i]))
CELL_GETTER(copy_id, struct task_rows, cell_uint(r->copy_id[i]))
CELL_GETTER(copy_type, struct task_rows, cell_name(NAME_MEMCPY_ASYNC))
CELL_GETTER(copy_stream, struct task_rows, cell_uint(r->copy->stream[i]))
CELL_GETTER(copy_task, struct task_rows, cell_uint(r->copy->task[i]))
CELL_GETTER(copy_model, struct task_rows, model_cell(r->profile, r->copy->host[i]))

static const struct db_kind_column task_columns[] = {
    { "startNs", "INTEGER", { task_begin, mark_begin, copy_begin } },
    { "endNs", "INTEGER", { task_end, mark_end, copy_end } },
    { "deviceId", "INTEGER", { device_id, device_id, device_id } },
    { "connectionId", "INTEGER", { task_connection, mark_connection_id, copy_connection } },
    { "globalTaskId", "INTEGER", { task_id, mark_id, copy_id } },
    { "globalPid", "INTEGER", { device_pid, device_pid, device_pid } },
    { "taskType", "INTEGER", { task_type, mark_type, copy_type } },
    { "contextId", "INTEGER", { task_context, no_context, no_context } },
    { "streamId", "INTEGER", { task_stream, mark_stream, copy_stream } },
    { "taskId", "INTEGER", { task_task, mark_task, copy_task } },
    { "modelId", "INTEGER", { task_model, mark_model, copy_model } },
};

/* The ids of the scheduler's copies. Those without a host task get new ids from *next_id on. */
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
    uint32_t next_id = x->profile->n_global_ids;
    for (size_t k = 0; k < x->profile->n_devices; k++) {
        const struct device *d = &x->profile->device[k];
        struct task_rows rows = { x->profile, d, &d->tasks, &d->steps.marks, &d->log.copies, next_id, NULL };
        next_id += (uint32_t)d->steps.marks.n;
        rows.copy_id = ts_copy_ids(x, d, &next_id);
        if (!rows.copy_id)
            return error_no_memory(e, "TASK");
        const size_t n[] = {
            [OF_DEVICE] = d->tasks.n, [OF_MARKS] = d->steps.marks.n, [OF_SCHEDULER] = d->log.copies.n
        };
        for (unsigned kind = OF_DEVICE; kind <= OF_SCHEDULER; kind++) {
            const struct db_table t = {
                .name = "TASK", .n_rows = n[kind], .rows = &rows, .index = "TaskIndex ON TASK (startNs,globalTaskId)"
            };
            if (!db_table_kind(db, t, KIND_COLUMNS(task_columns), kind, e))
                return false;
        }
    }
    return true;
}

/* Cells of the operator of a host task. */
#define OF_OP(function, make, column)                                                                                  \
    CELL_GETTER(function, struct profile, make(r->host.ops.column[r->host.tasks.op[i]]))
OF_OP(op_name, cell_name, name)
CELL_GETTER(op_task_id, struct profile, cell_uint(r->host.tasks.global_id[i]))
OF_OP(op_blocks, cell_uint, blocks)
OF_OP(op_mix_blocks, cell_uint, mix_blocks)
OF_OP(op_task_type, cell_name, task_type)
OF_OP(op_type, cell_name, op_type)
OF_OP(op_input_formats, cell_name, formats[TENSOR_INPUT])
OF_OP(op_input_types, cell_name, types[TENSOR_INPUT])
OF_OP(op_input_shapes, cell_shape, shapes[TENSOR_INPUT])
OF_OP(op_output_formats, cell_name, formats[TENSOR_OUTPUT])
OF_OP(op_output_types, cell_name, types[TENSOR_OUTPUT])
OF_OP(op_output_shapes, cell_shape, shapes[TENSOR_OUTPUT])
OF_OP(op_attr, cell_name, attr)
OF_OP(op_state, cell_name, state)
OF_OP(op_hf32, cell_name, hf32)
OF_OP(op_grid_dim, cell_name, grid_dim)
OF_OP(op_block_dim, cell_name, block_dim)

static const struct db_column op_columns[] = {
    { "name", "INTEGER", op_name },
    { "globalTaskId", "INTEGER PRIMARY KEY", op_task_id },
    { "blockNum", "INTEGER", op_blocks },
    { "mixBlockNum", "INTEGER", op_mix_blocks },
    { "taskType", "INTEGER", op_task_type },
    { "opType", "INTEGER", op_type },
    { "inputFormats", "INTEGER", op_input_formats },
    { "inputDataTypes", "INTEGER", op_input_types },
    { "inputShapes", "INTEGER", op_input_shapes },
    { "outputFormats", "INTEGER", op_output_formats },
    { "outputDataTypes", "INTEGER", op_output_types },
    { "outputShapes", "INTEGER", op_output_shapes },
    { "attrInfo", "INTEGER", op_attr },
    { "opState", "INTEGER", op_state },
    { "hf32Eligible", "INTEGER", op_hf32 },
    { "gridDim", "INTEGER", op_grid_dim },
    { "blockDim", "INTEGER", op_block_dim },
};

static const struct db_column schedule_columns[] = {
    { "name", "INTEGER", op_name },
    { "globalTaskId", "INTEGER PRIMARY KEY", op_task_id },
    { "taskType", "INTEGER", op_task_type },
    { "opType", "INTEGER", op_type },
};

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
    const struct profile *p = x->profile;
    struct db_table compute = { .name = "COMPUTE_TASK_INFO", TABLE_COLUMNS(op_columns), .rows = p }, schedule = {
        .name = "COMMUNICATION_SCHEDULE_TASK_INFO", TABLE_COLUMNS(schedule_columns), .rows = p
    };
    compute.shown = op_task_rows(p, false, x->mem, &compute.n_rows);
    schedule.shown = op_task_rows(p, true, x->mem, &schedule.n_rows);
    if (!compute.shown || !schedule.shown)
        return error_no_memory(e, "COMPUTE_TASK_INFO");
    return db_table(db, &compute, e) && db_table(db, &schedule, e);
}

struct copy_row {
    uint32_t id;
    uint16_t kind;
    uint64_t bytes;
};

static struct cell operation_cell(uint16_t kind)
{
    enum { KIND_OTHER = 65535 };
    return cell_uint(kind == COPY_OTHER ? KIND_OTHER : kind);
}

CELL_GETTER(copied_task, struct copy_row, cell_uint(r[i].id))
CELL_GETTER(copied_bytes, struct copy_row, cell_uint(r[i].bytes))
CELL_GETTER(copied_where, struct copy_row, operation_cell(r[i].kind))

static bool write_copies(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "globalTaskId", "NUMERIC", copied_task },
        { "size", "NUMERIC", copied_bytes },
        { "memcpyOperation", "NUMERIC", copied_where },
    };
    for (size_t d = 0; d < x->profile->n_devices; d++) {
        const struct tasks *t = &x->profile->device[d].tasks;
        const struct device_log *log = &x->profile->device[d].log;
        size_t n = 0, most = log->copies.n;
        for (size_t i = 0; i < t->n; i++)
            most += t->copy_kind[i] != COPY_NONE;
        struct copy_row *row = arena_take(x->mem, most, sizeof *row);
        if (!row)
            return error_no_memory(e, "MEMCPY_INFO");
        for (uint32_t i = 0; i < t->n; i++)
            if (t->copy_kind[i] != COPY_NONE)
                row[n++] = (struct copy_row){ t->global_id[i], t->copy_kind[i], t->copy_bytes[i] };
        for (size_t i = 0; i < log->copies.n; i++)
            if (log->copies.kind[i] != COPY_NONE)
                row[n++] = (struct copy_row){ x->profile->host.tasks.global_id[log->copies.host[i]],
                                              log->copies.kind[i], log->copies.bytes[i] };
        const struct db_table table = { .name = "MEMCPY_INFO", TABLE_COLUMNS(column), .n_rows = n, .rows = row };
        if (!db_table(db, &table, e))
            return false;
    }
    return true;
}

bool hardware_db(const struct export *x, struct db *db, struct error *e)
{
    return write_tasks(x, db, e) && write_ops(x, db, e) && write_copies(x, db, e);
}
