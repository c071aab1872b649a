/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include <string.h>

#include "base/memory/sort.h"

/* A column of a table: the offset of its pointer in the struct, and the size of an element. */
struct comm_tables_column {
    size_t at, size;
};

#define OPS(name)                                                                                                      \
    {                                                                                                                  \
        offsetof(struct comm_ops, name), sizeof *((struct comm_ops *)NULL)->name                                       \
    }
#define TASKS(name)                                                                                                    \
    {                                                                                                                  \
        offsetof(struct comm_tasks, name), sizeof *((struct comm_tasks *)NULL)->name                                   \
    }

static const struct comm_tables_column op_column[] = {
    OPS(name),   OPS(op_type), OPS(group),     OPS(group_id), OPS(alg),        OPS(begin_ns),  OPS(end_ns),
    OPS(dur_ns), OPS(asked),   OPS(iteration), OPS(model),    OPS(connection), OPS(rank_size), OPS(data_type),
    OPS(relay),  OPS(retry),   OPS(count),     OPS(is_shown), OPS(is_aicpu),
};
static const struct comm_tables_column task_column[] = {
    TASKS(op),          TASKS(name),        TASKS(group),    TASKS(begin_ns), TASKS(end_ns),    TASKS(dur_ns),
    TASKS(estimate_us), TASKS(moved_bytes), TASKS(moved_ns), TASKS(is_piece), TASKS(is_aicpu),  TASKS(plane),
    TASKS(task_row),    TASKS(src_rank),    TASKS(dst_rank), TASKS(rdma),     TASKS(transport), TASKS(link),
    TASKS(data_type),   TASKS(notify),      TASKS(size),     TASKS(has_info), TASKS(is_master),
};
enum { OP_COLUMNS = sizeof op_column / sizeof *op_column, TASK_COLUMNS = sizeof task_column / sizeof *task_column };

/* The pointers have different types. memcpy() accesses them without violating the aliasing rules. */
static void *column_get(const void *table, struct comm_tables_column c)
{
    void *values;
    memcpy(&values, (const char *)table + c.at, sizeof values);
    return values;
}

static void column_set(void *table, struct comm_tables_column c, void *values)
{
    memcpy((char *)table + c.at, &values, sizeof values);
}

static bool resize(void *table, const struct comm_tables_column *column, size_t n_columns, size_t before, size_t n,
                   struct arena *mem)
{
    void *new[TASK_COLUMNS > OP_COLUMNS ? TASK_COLUMNS : OP_COLUMNS];
    for (size_t i = 0; i < n_columns; i++)
        if (!(new[i] = arena_take(mem, n, column[i].size)))
            return false;
    for (size_t i = 0; i < n_columns; i++) {
        if (before > 0)
            memcpy(new[i], column_get(table, column[i]), before * column[i].size);
        column_set(table, column[i], new[i]);
    }
    return true;
}

bool comm_ops_resize(struct comm_ops *o, size_t n, struct arena *mem)
{
    if (!resize(o, op_column, OP_COLUMNS, o->n, n, mem))
        return false;
    o->n = n;
    return true;
}

bool comm_tasks_resize(struct comm_tasks *t, size_t n, struct arena *mem)
{
    if (!resize(t, task_column, TASK_COLUMNS, t->n, n, mem))
        return false;
    t->n = n;
    return true;
}

bool comm_tasks_sort(struct comm_tasks *t, struct arena *scratch)
{
    uint32_t *order = arena_take(scratch, t->n, sizeof *order);
    uint64_t *begin = arena_take(scratch, t->n, sizeof *begin);
    void *moved = arena_take(scratch, t->n, sizeof(uint64_t));
    if (!order || !begin || !moved)
        return false;
    order_fill(order, t->n);
    for (size_t i = 0; i < t->n; i++)
        begin[i] = (uint64_t)t->begin_ns[i] ^ (uint64_t)1 << 63; /* signed times in unsigned order */
    if (!order_by_u64(order, t->n, begin))
        return false;
    for (size_t i = 0; i < TASK_COLUMNS; i++) {
        void *values = column_get(t, task_column[i]);
        order_apply(moved, values, order, t->n, task_column[i].size);
        memcpy(values, moved, t->n * task_column[i].size);
    }
    return true;
}
