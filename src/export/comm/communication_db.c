/* SPDX-License-Identifier: Apache-2.0 */
#include "export/comm/communication.h"

#include "raw/enums.h"

/* opId counts the collectives of all devices: those of a device begin at `first`. */
struct comm_rows {
    const struct device *d;
    uint32_t first;
    const struct comm_ops *op;
    const struct comm_tasks *task;
};

static struct cell enum_cell(uint32_t value, const struct enum_table *table)
{
    enum { ENUM_INVALID = 65535 };
    if (value == DATA_TYPE_NONE)
        return cell_uint(value);
    return cell_uint(value != UINT32_MAX && enum_text(table, value) ? value : ENUM_INVALID);
}

CELL_GETTER(op_name, struct comm_rows, cell_name(r->op->name[i]))
CELL_GETTER(op_begin, struct comm_rows, cell_int(r->op->begin_ns[i]))
CELL_GETTER(op_end, struct comm_rows, cell_int(r->op->end_ns[i]))
CELL_GETTER(op_connection, struct comm_rows, cell_uint(r->op->connection[i]))
CELL_GETTER(op_group, struct comm_rows, cell_name(r->op->group[i]))
CELL_GETTER(op_id, struct comm_rows, cell_uint(r->first + (uint32_t)i))
CELL_GETTER(op_relay, struct comm_rows, cell_int(r->op->relay[i]))
CELL_GETTER(op_retry, struct comm_rows, cell_int(r->op->retry[i]))
CELL_GETTER(op_data_type, struct comm_rows, enum_cell(r->op->data_type[i], &hccl_data_types))
CELL_GETTER(op_alg, struct comm_rows, cell_name(r->op->alg[i]))
CELL_GETTER(op_count, struct comm_rows, cell_uint(r->op->count[i]))
CELL_GETTER(op_type, struct comm_rows, cell_name(r->op->op_type[i]))
CELL_GETTER(op_device, struct comm_rows, cell_uint(r->d->source.device))
CELL_GETTER(op_rank_size, struct comm_rows, cell_uint(r->op->rank_size[i]))

static const struct db_column op_columns[] = {
    { "opName", "INTEGER", op_name },        { "startNs", "INTEGER", op_begin },
    { "endNs", "INTEGER", op_end },          { "connectionId", "INTEGER", op_connection },
    { "groupName", "INTEGER", op_group },    { "opId", "INTEGER PRIMARY KEY", op_id },
    { "relay", "INTEGER", op_relay },        { "retry", "INTEGER", op_retry },
    { "dataType", "INTEGER", op_data_type }, { "algType", "INTEGER", op_alg },
    { "count", "NUMERIC", op_count },        { "opType", "INTEGER", op_type },
    { "deviceId", "INTEGER", op_device },    { "rankSize", "INTEGER", op_rank_size },
};

CELL_GETTER(task_op_name, struct comm_rows, cell_name(r->op->name[r->task->op[i]]))
CELL_GETTER(task_id, struct comm_rows, cell_uint(r->d->tasks.global_id[r->task->task_row[i]]))
CELL_GETTER(task_name, struct comm_rows, cell_name(r->task->name[i]))
CELL_GETTER(task_plane, struct comm_rows, cell_uint((uint32_t)r->task->plane[i])) /* none is all ones */
CELL_GETTER(task_group, struct comm_rows, cell_name(r->task->group[i]))
CELL_GETTER(task_notify, struct comm_rows, cell_int(r->task->has_info[i] ? (int64_t)r->task->notify[i] : -1))
CELL_GETTER(task_rdma, struct comm_rows, enum_cell(r->task->rdma[i], &hccl_rdmas))
CELL_GETTER(task_source, struct comm_rows, cell_uint(r->task->src_rank[i]))
CELL_GETTER(task_target, struct comm_rows, cell_uint(r->task->dst_rank[i]))
CELL_GETTER(task_transport, struct comm_rows, enum_cell(r->task->transport[i], &hccl_transports))
CELL_GETTER(task_size, struct comm_rows, cell_int((int64_t)r->task->size[i]))
CELL_GETTER(task_data_type, struct comm_rows, enum_cell(r->task->data_type[i], &hccl_data_types))
CELL_GETTER(task_link, struct comm_rows, enum_cell(r->task->link[i], &hccl_links))
CELL_GETTER(task_op, struct comm_rows, cell_uint(r->first + r->task->op[i]))
CELL_GETTER(task_is_master, struct comm_rows, cell_uint(r->task->is_master[i]))

/* GB/s to B/s in three multiplications, as in the reference: the last digit depends on it. */
CELL_GETTER(task_bandwidth, struct comm_rows,
            cell_real(comm_bandwidth_gbs(r->task, i, !r->d->source.chip->is_native) * 1000 * 1000 * 1000))

static const struct db_column task_columns[] = {
    { "name", "INTEGER", task_op_name },       { "globalTaskId", "INTEGER", task_id },
    { "taskType", "INTEGER", task_name },      { "planeId", "INTEGER", task_plane },
    { "groupName", "INTEGER", task_group },    { "notifyId", "INTEGER", task_notify },
    { "rdmaType", "INTEGER", task_rdma },      { "srcRank", "INTEGER", task_source },
    { "dstRank", "INTEGER", task_target },     { "transportType", "INTEGER", task_transport },
    { "size", "INTEGER", task_size },          { "dataType", "INTEGER", task_data_type },
    { "linkType", "INTEGER", task_link },      { "opId", "INTEGER", task_op },
    { "isMaster", "INTEGER", task_is_master }, { "bandwidth", "NUMERIC", task_bandwidth },
};

bool communication_db(const struct export *x, struct db *db, struct error *e)
{
    uint32_t first = 0;
    for (size_t k = 0; k < x->profile->n_devices; k++) {
        const struct device *d = &x->profile->device[k];
        uint32_t *shown = arena_take(x->mem, d->comm.ops.n, sizeof *shown);
        size_t n = 0;
        if (!shown)
            return error_no_memory(e, "COMMUNICATION_OP");
        for (uint32_t i = 0; i < d->comm.ops.n; i++)
            if (d->comm.ops.is_shown[i])
                shown[n++] = i;
        const struct comm_rows rows = { d, first, &d->comm.ops, &d->comm.tasks };
        if (!db_table(
                db,
                &(struct db_table){
                    .name = "COMMUNICATION_OP", TABLE_COLUMNS(op_columns), .n_rows = n, .rows = &rows, .shown = shown },
                e) ||
            !db_table(db,
                      &(struct db_table){ .name = "COMMUNICATION_TASK_INFO",
                                          TABLE_COLUMNS(task_columns),
                                          .n_rows = d->comm.tasks.n,
                                          .rows = &rows,
                                          .index = "CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)" },
                      e))
            return false;
        first += (uint32_t)d->comm.ops.n;
    }
    return true;
}
