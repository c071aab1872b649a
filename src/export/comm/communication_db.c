#include "export/comm/communication.h"

#include "raw/enums.h"

/* Operators get numbers over all devices: those of a device begin at `first`. */
struct comm_rows {
    const struct device *d;
    uint32_t first;
    const uint32_t *row;
};

static struct cell enum_cell(uint32_t value, const struct enum_table *table)
{
    enum { ENUM_INVALID = 65535 };
    if (value == DATA_TYPE_NONE)
        return cell_uint(value);
    return cell_uint(value != UINT32_MAX && enum_text(table, value) ? value : ENUM_INVALID);
}

static struct cell op_cell(const void *rows, size_t i, size_t column)
{
    const struct comm_rows *r = rows;
    const struct comm_ops *o = &r->d->comm.ops;
    const uint32_t row = r->row[i];
    switch (column) {
    case 0: return cell_name(o->name[row]);
    case 1: return cell_int(o->begin_ns[row]);
    case 2: return cell_int(o->end_ns[row]);
    case 3: return cell_uint(o->connection[row]);
    case 4: return cell_name(o->group[row]);
    case 5: return cell_uint(r->first + row);
    case 6: return cell_int(o->relay[row]);
    case 7: return cell_int(o->retry[row]);
    case 8: return enum_cell(o->data_type[row], &hccl_data_types);
    case 9: return cell_name(o->alg[row]);
    case 10: return cell_uint(o->count[row]);
    case 11: return cell_name(o->op_type[row]);
    case 12: return cell_uint(r->d->source.device);
    default: return cell_uint(o->rank_size[row]);
    }
}

static struct cell task_cell(const void *rows, size_t i, size_t column)
{
    const struct comm_rows *r = rows;
    const struct comm_tasks *t = &r->d->comm.tasks;
    switch (column) {
    case 0: return cell_name(r->d->comm.ops.name[t->op[i]]);
    case 1: return cell_uint(r->d->tasks.global_id[t->task_row[i]]);
    case 2: return cell_name(t->name[i]);
    case 3: return cell_uint((uint32_t)t->plane[i]); /* none is all ones */
    case 4: return cell_name(t->group[i]);
    case 5: return cell_int(t->has_info[i] ? (int64_t)t->notify[i] : -1);
    case 6: return enum_cell(t->rdma[i], &hccl_rdmas);
    case 7: return cell_uint(t->src_rank[i]);
    case 8: return cell_uint(t->dst_rank[i]);
    case 9: return enum_cell(t->transport[i], &hccl_transports);
    case 10: return cell_int((int64_t)t->size[i]);
    case 11: return enum_cell(t->data_type[i], &hccl_data_types);
    case 12: return enum_cell(t->link[i], &hccl_links);
    case 13: return cell_uint(r->first + t->op[i]);
    case 14: return cell_uint(t->is_master[i]);
    default: /* in three steps: the last digit depends on it */
        return cell_real(comm_bandwidth_gbs(t, i, !r->d->source.chip->is_native) * 1000 * 1000 * 1000);
    }
}

bool communication_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column op_column[] = {
        { "opName", "INTEGER", NULL },       { "startNs", "INTEGER", NULL },   { "endNs", "INTEGER", NULL },
        { "connectionId", "INTEGER", NULL }, { "groupName", "INTEGER", NULL }, { "opId", "INTEGER PRIMARY KEY", NULL },
        { "relay", "INTEGER", NULL },        { "retry", "INTEGER", NULL },     { "dataType", "INTEGER", NULL },
        { "algType", "INTEGER", NULL },      { "count", "NUMERIC", NULL },     { "opType", "INTEGER", NULL },
        { "deviceId", "INTEGER", NULL },     { "rankSize", "INTEGER", NULL },
    };
    static const struct db_column task_column[] = {
        { "name", "INTEGER", NULL },          { "globalTaskId", "INTEGER", NULL }, { "taskType", "INTEGER", NULL },
        { "planeId", "INTEGER", NULL },       { "groupName", "INTEGER", NULL },    { "notifyId", "INTEGER", NULL },
        { "rdmaType", "INTEGER", NULL },      { "srcRank", "INTEGER", NULL },      { "dstRank", "INTEGER", NULL },
        { "transportType", "INTEGER", NULL }, { "size", "INTEGER", NULL },         { "dataType", "INTEGER", NULL },
        { "linkType", "INTEGER", NULL },      { "opId", "INTEGER", NULL },         { "isMaster", "INTEGER", NULL },
        { "bandwidth", "NUMERIC", NULL },
    };
    uint32_t first = 0;
    for (size_t k = 0; k < x->profile->n_devices; k++) {
        const struct device *d = &x->profile->device[k];
        uint32_t *shown = arena_take(x->mem, d->comm.ops.n, sizeof *shown);
        size_t n = 0;
        if (!shown)
            return error_set(e, FAULT_LIMIT, "no memory for the table COMMUNICATION_OP");
        for (uint32_t i = 0; i < d->comm.ops.n; i++)
            if (d->comm.ops.is_shown[i])
                shown[n++] = i;
        const struct comm_rows rows = { d, first, shown };
        if (!db_table(db,
                      &(struct db_table){ .name = "COMMUNICATION_OP",
                                          .column = op_column,
                                          .n_columns = 14,
                                          .n_rows = n,
                                          .rows = &rows,
                                          .get = op_cell },
                      e) ||
            !db_table(db,
                      &(struct db_table){ .name = "COMMUNICATION_TASK_INFO",
                                          .column = task_column,
                                          .n_columns = 16,
                                          .n_rows = d->comm.tasks.n,
                                          .rows = &rows,
                                          .get = task_cell,
                                          .index = "CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)" },
                      e))
            return false;
        first += (uint32_t)d->comm.ops.n;
    }
    return true;
}
