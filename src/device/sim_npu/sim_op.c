/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_queue.h"

#include <string.h>

#include "ascope/record.h"
#include "device/sim_npu/sim_op_names.h"

static __thread struct ascope_sim_op *innermost __attribute__((tls_model("initial-exec")));

/* The name without the prefix "aten::"; NULL: it has none, and is not an operator that computes. */
static const char *plain_name(const char *name)
{
    static const char prefix[] = "aten::";
    const size_t n = sizeof prefix - 1;
    return strncmp(name, prefix, n) == 0 && name[n] ? name + n : NULL;
}

void ascope_sim_op_begin(struct ascope_sim_op *op, const char *name)
{
    struct ascope_sim_op *const parent = innermost;
    const char *const plain = plain_name(name);
    const struct sim_op_row *row = plain ? sim_op_row_of(plain) : NULL;
    op->name = name;
    op->n_in = op->n_out = 0;
    op->parent = parent;
    op->is_whole = row && row->work == SIM_OP_KERNEL;
    op->has_parts = false;
    bool is_part = false;
    if (parent) {
        parent->has_parts = true;
        is_part = parent->is_whole || parent->is_part;
    }
    op->is_part = is_part;
    op->wants_tensors = plain && !is_part;
    innermost = op;
}

/* "native_group_norm" becomes "NativeGroupNorm". */
static void type_from(char type[static SIM_TYPE_BYTES], const char *name)
{
    size_t n = 0;
    bool is_begin = true;
    for (; *name && n + 1 < SIM_TYPE_BYTES; name++) {
        const bool is_between = *name == '_' || *name == '.';
        if (!is_between)
            type[n++] = (char)(is_begin && *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
        is_begin = is_between;
    }
    type[n] = '\0';
}

/* True when a result is in memory of its own, not in that of an input: it is no view. */
static bool makes_memory(const struct ascope_sim_op *op)
{
    for (uint32_t o = 0; o < op->n_out; o++) {
        bool is_input = false;
        for (uint32_t i = 0; i < op->n_in; i++)
            is_input |= op->out[o].storage && op->out[o].storage == op->in[i].storage;
        if (!is_input)
            return true;
    }
    return false;
}

/* What an operator is on the device; fills its type and bytes. SIM_OP_IDLE: it computes nothing, or operators inside of
 * it do. */
static enum sim_op_work work_of(const struct ascope_sim_op *op, struct sim_queued *t)
{
    const char *const name = plain_name(op->name);
    const struct sim_op_row *const row = sim_op_row_of(name);
    enum sim_op_work work = row ? row->work : SIM_OP_KERNEL;
    for (uint32_t i = 0; i < op->n_out; i++)
        t->bytes += op->out[i].bytes;
    if (work == SIM_OP_TO_HOST)
        t->bytes = sizeof(double);
    if (t->bytes == 0 || work == SIM_OP_IDLE)
        return SIM_OP_IDLE;
    const char *type = row ? row->type : NULL;
    if (work == SIM_OP_COPY) {
        const bool is_cast = op->n_in >= 2 && op->in[0].tensor.type != op->in[1].tensor.type;
        const bool is_straight = op->n_in < 2 || (op->in[0].is_dense && op->in[1].is_dense);
        if (is_cast || !is_straight)
            work = SIM_OP_KERNEL;
        type = is_cast ? "Cast" : is_straight ? type : "ViewCopy";
    }
    if (type) {
        strncpy(t->type, type, sizeof t->type - 1);
        return work;
    }
    if (op->has_parts ||
        (name[strlen(name) - 1] != '_' && !makes_memory(op))) /* names of in-place operators end with "_" */
        return SIM_OP_IDLE;
    type_from(t->type, name);
    return work;
}

bool ascope_sim_op_end(struct ascope_sim_op *op)
{
    if (innermost != op)
        return false;
    innermost = op->parent;
    if (!op->wants_tensors || !ascope_records(ASCOPE_RECORDS_DEVICE))
        return true;
    struct sim_queued t = { .n_in = op->n_in, .n_out = op->n_out };
    t.work = work_of(op, &t);
    if (t.work == SIM_OP_IDLE)
        return true;
    for (uint32_t i = 0; i < op->n_in; i++)
        t.in[i] = op->in[i].tensor;
    for (uint32_t i = 0; i < op->n_out; i++)
        t.out[i] = op->out[i].tensor;
    sim_queue_put(&t);
    if (t.work == SIM_OP_TO_HOST)
        ascope_sim_ops_wait(); /* the program reads a number that the device has to compute first */
    return true;
}
