/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/progress.h"
#include "sim/device/sim_device.h"
#include "sim/job/sim_front.h"

#include <string.h>

enum { TENSORS_MOST = 16, BATCH = 8 };
enum { SIZE_M, SIZE_K, SIZE_N, SIZES };

static uint32_t power_of_two(struct dice *d, uint32_t low, uint32_t high) /* exponents */
{
    return 1u << dice_between(d, low, high);
}

static struct node_tensor tensor_of(uint32_t format, uint32_t type, uint32_t a, uint32_t b, uint32_t c, uint32_t e)
{
    return (struct node_tensor){ TENSOR_INPUT, format, type, { a, b, c, e } };
}

static void tensors_of_size(const struct sim_operator *op, uint32_t type, bool is_blocked, const uint32_t size[SIZES],
                            struct node_tensor *t)
{
    const uint32_t m = size[SIZE_M], k = size[SIZE_K], n = size[SIZE_N];
    struct node_tensor first = tensor_of(FORMAT_ND, type, m, k, 0, 0), second = first, result = first;
    switch (op->shape) {
    case SHAPE_MATMUL:
        second = tensor_of(is_blocked ? FORMAT_FRACTAL_NZ : FORMAT_ND, type, k, n, 0, 0);
        result = tensor_of(FORMAT_ND, type, m, n, 0, 0);
        break;
    case SHAPE_BATCH_MATMUL:
        first = tensor_of(FORMAT_ND, TYPE_FLOAT16, BATCH, m, k, 0);
        second = tensor_of(FORMAT_FRACTAL_NZ, TYPE_FLOAT16, BATCH, k, n, 0);
        result = tensor_of(FORMAT_ND, TYPE_FLOAT16, BATCH, m, n, 0);
        break;
    case SHAPE_CONV:
        first = tensor_of(FORMAT_NC1HWC0, TYPE_FLOAT16, m < 256 ? 1 : m / 128, k / 16, 56, 56);
        first.shape[4] = 16; /* five dimensions, as the format says */
        second = tensor_of(FORMAT_FRACTAL_Z, TYPE_FLOAT16, k / 16, n / 16, 16, 16);
        result = first;
        result.shape[1] = n / 16;
        break;
    case SHAPE_BINARY: break;
    case SHAPE_UNARY: break;
    case SHAPE_CAST: first.data_type = TYPE_FLOAT; break;
    case SHAPE_ATTENTION:
        first = second = tensor_of(FORMAT_ND, type, 2, 16, m, 128);
        result = tensor_of(FORMAT_ND, TYPE_FLOAT, 2, 16, m, 8);
        break;
    }
    for (unsigned i = 0; i < op->n_in; i++)
        t[i] = i == 0 ? first : second;
    for (unsigned i = 0; i < op->n_out; i++) {
        t[op->n_in + i] = result;
        t[op->n_in + i].direction = TENSOR_OUTPUT;
    }
}

static double tensor_bytes(const struct node_tensor *t)
{
    double bytes = t->data_type == TYPE_FLOAT ? 4 : 2;
    for (size_t i = 0; i < sizeof t->shape / sizeof *t->shape && t->shape[i] > 0; i++)
        bytes *= t->shape[i];
    return bytes;
}

/* A device at its peaks: it computes while it moves. */
static double peak_ns(const struct chip *c, const struct sim_operator *op, const uint32_t size[SIZES],
                      const struct node_tensor *t)
{
    enum { GBS_UNPUBLISHED = 100 };
    const double m = size[SIZE_M], k = size[SIZE_K], n = size[SIZE_N];
    double operations = 0, bytes = 0;
    switch (op->shape) {
    case SHAPE_MATMUL: operations = 2 * m * k * n; break;
    case SHAPE_BATCH_MATMUL: operations = BATCH * 2 * m * k * n; break;
    case SHAPE_CONV: operations = 2 * k * tensor_bytes(&t[op->n_in]) / 2; break;
    case SHAPE_ATTENTION: operations = 5 * 2 * 2 * 16 * m * m * 128; break; /* products of the backward pass */
    case SHAPE_BINARY:
    case SHAPE_UNARY:
    case SHAPE_CAST: break;
    }
    for (unsigned i = 0; i < op->n_in + op->n_out; i++)
        bytes += tensor_bytes(&t[i]);
    const double compute_ns = operations / (SIM_CUBE_OPERATIONS * (double)c->n_cube * c->core_mhz / 1000);
    const double move_ns = bytes / (c->memory_gbs > 0 ? c->memory_gbs : GBS_UNPUBLISHED);
    return compute_ns > move_ns ? compute_ns : move_ns;
}

/* Inputs first. Sizes agree as they do in a network: what is multiplied fits. Half of the shortest time of the operator
 * would be enough at the peaks of the chip, so that no kernel is faster than its device, whatever varies its time. */
static void tensors_make(struct sim_device *d, const struct sim_operator *op, struct node_tensor *t)
{
    enum { SMALLEST = 64 };
    uint32_t size[SIZES];
    for (unsigned i = 0; i < SIZES; i++)
        size[i] = power_of_two(&d->dice, 9, 12);
    const uint32_t type = dice_one_in(&d->dice, 4) ? TYPE_FLOAT16 : TYPE_BF16;
    const bool is_blocked = op->shape == SHAPE_MATMUL && dice_one_in(&d->dice, 3);
    for (;;) {
        tensors_of_size(op, type, is_blocked, size, t);
        unsigned largest = SIZE_M;
        for (unsigned i = SIZE_K; i < SIZES && op->shape != SHAPE_ATTENTION; i++)
            if (size[i] > size[largest])
                largest = i;
        if (size[largest] <= SMALLEST || peak_ns(d->of->chip, op, size, t) <= op->us_min * 1000 / 2.0)
            return;
        size[largest] /= 2;
    }
}

static void tensors_write(struct sim_device *d, enum host_file f, uint32_t thread, uint64_t time, uint64_t name,
                          const struct sim_operator *op)
{
    struct node_tensor tensor[TENSORS_MOST];
    const unsigned n = op->n_in + op->n_out;
    tensors_make(d, op, tensor);
    for (unsigned first = 0; first < n; first += TENSOR_MOST) {
        const unsigned here = n - first < TENSOR_MOST ? n - first : TENSOR_MOST;
        record_tensors(host_record(d->of, f, thread, time), name, &tensor[first], here);
    }
}

void node_records(struct sim_device *d, bool is_static, uint32_t thread, uint64_t time, const struct node *n,
                  const struct sim_operator *op)
{
    struct sim_process *p = d->of;
    if (p->o->level0)
        return;
    record_node(host_record(p, is_static ? HOST_NODE_ONCE : HOST_NODE, thread, time), n);
    if (op)
        tensors_write(d, is_static ? HOST_TENSOR_ONCE : HOST_TENSOR, thread, time, n->name, op);
}

/* An operator in one record, whose length depends on the number of tensors. */
void captured_record(struct sim_device *d, uint64_t time, uint16_t task, size_t which, const struct sim_launch *launch)
{
    const struct layout *l = &captured_op_variable_layout;
    const struct sim_operator *op = &sim_operators[which];
    const struct sim_process *p = d->of;
    struct node_tensor tensor[TENSORS_MOST];
    const unsigned n = op->n_in + op->n_out;
    tensors_make(d, op, tensor);
    uint8_t *rec = host_record_of(d->of, HOST_CAPTURED_ONCE, d->main.id, time, CAPTURED_FIRST + n * TENSOR_BYTES);
    record_fill(l, rec, { HEAD_DATA_LEN, CAPTURED_FIRST - HEAD_BYTES + n * TENSOR_BYTES },
                { CAPTURED_MODEL, d->captured_model }, { CAPTURED_DEVICE, (uint64_t)d->id },
                { CAPTURED_STREAM, d->stream[STREAM_CAPTURED].id }, { CAPTURED_TASK, task },
                { CAPTURED_TASK_TYPE, sim_task_kinds[launch->kind].node }, { CAPTURED_BLOCKS, launch->blocks },
                { CAPTURED_NAME, p->operator_name[which].name }, { CAPTURED_OP_TYPE, p->operator_name[which].type },
                { CAPTURED_ATTR, task == 0 ? p->attr_name[0] : 0 }, { CAPTURED_OP_FLAG, task % 2 },
                { CAPTURED_TENSORS, n });
    for (unsigned i = 0; i < n; i++)
        record_tensor(rec + CAPTURED_FIRST + i * TENSOR_BYTES, &tensor[i]);
}

static uint16_t operator_blocks(struct sim_device *d, enum task_kind kind)
{
    /* for the cores of an A2 */
    static const uint16_t cube[] = { 1, 8, 16, 20, 24, 24, 24 }, vector[] = { 1, 4, 16, 32, 40, 48, 48 };
    const bool is_cube = sim_kind_is_of_cubes(kind);
    const struct chip *c = d->of->chip;
    if (kind == TASK_AICPU || kind == TASK_DSA)
        return 1;
    const uint32_t blocks = (is_cube ? cube : vector)[dice_below(&d->dice, sizeof cube / sizeof *cube)];
    const uint32_t cores = is_cube ? SIM_CUBES : SIM_VECTORS, here = is_cube ? c->n_cube : c->n_vector;
    if (d->of->job) /* whose only faults are the requested ones */
        return (uint16_t)here;
    return (uint16_t)((blocks * here + cores - 1) / cores);
}

size_t operator_pick(struct dice *d)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < sim_n_operators; i++)
        sum += sim_operators[i].weight;
    uint32_t left = dice_below(d, sum);
    size_t i = 0;
    while (left >= sim_operators[i].weight)
        left -= sim_operators[i++].weight;
    return i;
}

/* Grad operators run backward for those whose name they continue. */
void operators_pair(uint8_t *forward, uint8_t *reverse)
{
    for (size_t i = 0; i < sim_n_operators; i++)
        forward[i] = reverse[i] = (uint8_t)i;
    for (size_t i = 0; i < sim_n_operators; i++) {
        const size_t len = strlen(sim_operators[i].call);
        for (size_t k = 0; k < sim_n_operators; k++) {
            const char *const call = sim_operators[k].call;
            if (strncmp(call, sim_operators[i].call, len) == 0 && strcmp(call + len, "Grad") == 0) {
                reverse[i] = (uint8_t)k;
                forward[k] = (uint8_t)i;
            }
        }
    }
}

/* The position in the network of a launch. The backward half runs in reverse order; its extra launches have no position
 * (UINT64_MAX). */
uint64_t network_position(uint64_t forward, uint64_t done)
{
    return done < forward ? done : done - forward < forward ? 2 * forward - 1 - done : UINT64_MAX;
}

/* Micro-batches go through the same layers. */
uint64_t network_layer(uint64_t position, uint64_t chunk)
{
    return position == UINT64_MAX || chunk == 0 ? position : position % chunk;
}

struct dice network_dice(uint64_t seed, uint64_t layer)
{
    return dice_for(seed, layer ^ 0x746f726368);
}

size_t network_operator(const uint8_t *forward, const uint8_t *reverse, uint64_t seed, uint64_t layer, bool is_forward)
{
    struct dice d = network_dice(seed, layer);
    const size_t which = forward[operator_pick(&d)];
    return is_forward ? which : reverse[which];
}

static void memory_put(struct sim_device *d, uint32_t thread, uint64_t time, const struct sim_block *b, bool is_release)
{
    enum { RESERVED = 1 << 30 };
    d->allocated = is_release ? d->allocated - b->bytes : d->allocated + b->bytes;
    record_memory(
        host_record(d->of, HOST_MEMORY, thread, time),
        &(struct memory_change){ b->address, b->bytes, b->name, d->allocated, RESERVED, (unsigned)d->id, is_release });
}

/* One operator in seven allocates memory. If the table is full, it releases a block first. A few blocks are never
 * released. */
static void memory_use(struct sim_device *d, uint32_t thread, uint64_t time, uint64_t name)
{
    if (!dice_one_in(&d->dice, 7))
        return;
    if (d->n_live == LIVE_BLOCKS || (d->n_live > 0 && dice_one_in(&d->dice, 3))) {
        const uint32_t i = dice_below(&d->dice, d->n_live);
        if (!dice_one_in(&d->dice, 40))
            memory_put(d, thread, time, &d->live[i], true);
        d->live[i] = d->live[--d->n_live];
    }
    const uint64_t bytes = 512ull * dice_between(&d->dice, 1, 4096);
    d->live[d->n_live] = (struct sim_block){ d->next_address, bytes, name };
    d->next_address += bytes;
    memory_put(d, thread, time + 2, &d->live[d->n_live++], false);
}

/* Releases all remaining blocks at the end of the job. */
void memory_release(struct sim_device *d)
{
    for (uint32_t i = 0; i < d->n_live; i++)
        memory_put(d, d->main.id, d->main.now + i, &d->live[i], true);
    d->n_live = 0;
}

/* The calls of one operator, from the outside in. */
struct sim_operator_calls {
    uint64_t workspace_begin, workspace_end, acl_begin, node_begin, runtime_begin, track, runtime_end, records,
        node_end, acl_end;
};

static struct sim_operator_calls calls_make(struct dice *d, uint64_t now)
{
    struct sim_operator_calls c;
    c.workspace_begin = now + dice_between(d, 15, 40);
    c.workspace_end = c.workspace_begin + dice_between(d, 180, 600);
    c.acl_begin = c.workspace_end + dice_between(d, 20, 70);
    c.node_begin = c.acl_begin + dice_between(d, 55, 120);
    c.runtime_begin = c.node_begin + dice_between(d, 30, 90);
    c.track = c.runtime_begin + dice_between(d, 60, 130);
    c.runtime_end = c.track + dice_between(d, 70, 150);
    c.records = c.runtime_end + dice_between(d, 3, 12);
    c.node_end = c.runtime_end + dice_between(d, 20, 60);
    c.acl_end = c.node_end + dice_between(d, 20, 60);
    return c;
}

/* With a framework's queue all calls are made by the thread at its end. */
struct sim_thread *launcher(struct sim_device *d, struct sim_thread *t)
{
    return d->of->front ? &d->comm : t;
}

void operator_launch(struct sim_device *d, struct sim_thread *t, const struct planned *plan)
{
    struct sim_process *p = d->of;
    progress_work(1);
    const size_t which = plan ? plan->which : p->front ? front_next(p->front) : operator_pick(&d->dice);
    const struct sim_operator *op = &sim_operators[which];
    const enum task_kind runs_as = sim_kind_on(p->chip, op->kind);
    const struct sim_task_kind *kind = &sim_task_kinds[runs_as];
    const bool is_aside = !plan && op->kind == TASK_VECTOR && dice_one_in(&d->dice, 20);
    const enum sim_stream stream = is_aside ? STREAM_SIDE : STREAM_MAIN;
    const uint64_t name = p->operator_name[which].name;
    const struct front_task queued = front_run(p);
    if (t->now < d->now)
        t->now = d->now;
    if (t->now < queued.ready)
        t->now = queued.ready;

    const struct sim_operator_calls c = calls_make(&d->dice, t->now);
    const uint32_t type = TYPE_ACL_OPERATOR + 2 * (uint32_t)which;
    host_call(p, HOST_CALL, LEVEL_ACL, type, t->id, c.workspace_begin, c.workspace_end, 0);
    const struct sim_launch l = { runs_as, operator_blocks(d, runs_as), p->operator_name[which].kernel };
    const uint16_t task = stream_issue(d, stream, t->id, c.track - 5);
    host_track(d, HOST_TRACK, t->id, c.track, stream, task, &l);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, kind->call, t->id, c.runtime_begin, c.runtime_end, 0);
    node_records(d, false, t->id, c.records,
                 &(struct node){ name, p->operator_name[which].type, kind->node,
                                 l.blocks | (uint32_t)kind->other_ratio << 16,
                                 op->shape == SHAPE_CONV && dice_one_in(&d->dice, 2) },
                 op);
    if (kind->context != 0 && !p->o->level0)
        record_context(host_record(p, HOST_CONTEXT, t->id, c.records), name);
    if (which == 0 && !p->o->level0)
        record_attributes(host_record(p, HOST_ATTR, t->id, c.records), name, p->attr_name[dice_below(&d->dice, 2)]);
    memory_use(d, t->id, c.records + 1, p->operator_name[which].call);
    host_call(p, HOST_CALL, LEVEL_NODE, TYPE_LAUNCH, t->id, c.node_begin, c.node_end, name);
    host_call(p, HOST_CALL, LEVEL_ACL, type + 1, t->id, c.acl_begin, c.acl_end, 0);

    if (plan) {
        stream_run_at(d, stream, task, &l, c.track, plan->when);
    } else {
        const uint64_t quarter_us = dice_between(&d->dice, op->us_min * 4u, op->us_max * 4u);
        stream_run(d, stream, task, &l, c.track, device_us(d, quarter_us) / 4 + dice_below(&d->dice, 8), 0);
    }
    front_launched(p, &queued, t->now + 8, c.acl_end + 4);
    t->now = c.acl_end;
    d->now = t->now > d->now ? t->now : d->now;
    device_log(d, device_tick(d, d->now));
}
