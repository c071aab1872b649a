/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that the AI CPU runs: the host launches one kernel, which submits the small tasks to streams. The device
 * therefore reports the operator, its tasks and their data, and where the operator begins and ends. */
#include "sim/device/sim_device.h"
#include "sim/job/sim_front.h"

#include <string.h>

#include "raw/device_records.h"
#include "raw/host_records.h"

enum { HCCL_FP32 = 4, NODE_COMMUNICATION = 9, NODE_AICPU = 1, TURNS = 2 };
enum { CALL_TICKS = 60 };

/* A group of ranks has a stream for the kernel and streams for the tasks that it hands out. */
static const struct kfc_group {
    const char *name;
    enum sim_stream kernel, task[STREAMS_OF_GROUP];
    uint32_t n_tasks;
} groups[] = {
    { "hccl_dp_group", STREAM_KFC, { STREAM_KFC + 1, STREAM_KFC + 2 }, 2 },
    { "mc2_tp_group", STREAM_MC2, { STREAM_MC2 + 1, STREAM_MC2 + 2, STREAM_MC2 + 3 }, 3 },
};

void kfc_open(struct sim_device *d)
{
    const struct layout *l = &mc2_comm_layout;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        uint8_t *rec = host_record(d->of, HOST_MC2, d->comm.id, d->main.now + 50 + 10 * i);
        record_fill(l, rec, { MC2_GROUP, name_hash(groups[i].name) }, { MC2_RANK_SIZE, RANKS },
                    { MC2_RANK, d->rank % RANKS }, { MC2_USER_RANK, d->rank % RANKS },
                    { MC2_KFC_STREAM, d->stream[groups[i].kernel].id }, { MC2_STREAM_COUNT, groups[i].n_tasks });
        for (uint32_t k = 0; k < groups[i].n_tasks; k++)
            host_put32(rec + MC2_FIRST + 4 * k, d->stream[groups[i].task[k]].id);
    }
}

uint8_t *aicpu_record(struct sim_device *d, const struct layout *l, uint32_t data_len, uint64_t tick)
{
    const struct layout *head = &node_basic_layout;
    uint8_t *rec = slices_record(&d->out[DEVICE_AICPU], l);
    record_fill(head, rec, { HEAD_LEVEL, LEVEL_AICPU }, { HEAD_THREAD, 77 }, { HEAD_DATA_LEN, data_len },
                { HEAD_TIME, tick });
    return rec;
}

/* The id of a task on a stream that the device fills: its flips are recorded by the AI CPU, not by the host. */
static uint16_t task_number(struct sim_device *d, enum sim_stream which, uint64_t tick)
{
    struct device_stream *s = &d->stream[which];
    if (s->is_full_turn) {
        uint8_t *rec = aicpu_record(d, &aicpu_flip_layout, 8, tick);
        layout_put(&aicpu_flip_layout, AICPU_FLIP_STREAM, rec, s->id);
        layout_put(&aicpu_flip_layout, AICPU_FLIP_NUMBER, rec, ++s->batch);
    }
    const uint16_t task = s->next_task++;
    s->is_full_turn = task == UINT16_MAX;
    return task;
}

/* One small task: runs, and leaves an entry. Two entries share a record. */
struct handed {
    const struct kfc_group *group;
    uint64_t tag, started; /* hash of the operator's name; tick at which the kernel handed the first task out */
    uint8_t *record;       /* with room for a second entry; NULL: none */
    unsigned n;
};

static struct sim_span hand_out(struct sim_device *d, struct handed *h, uint32_t lane, enum small what,
                                enum task_kind kind, uint64_t not_before, uint16_t *task_out)
{
    const struct sim_small *small = &sim_smalls[what];
    const enum sim_stream stream = h->group->task[lane];
    const uint64_t tick = h->started + 10ull * h->n, bytes = 65536ull << dice_below(&d->dice, 4);
    const uint16_t task = task_number(d, stream, tick - 2);
    const struct sim_launch l = { kind, 0, 0 };
    const uint64_t ticks = small->moves ? device_us(d, 2 + bytes / 20000) : dice_between(&d->dice, 60, 900);
    const struct sim_span s = stream_run_on_device(d, stream, task, &l, tick > not_before ? tick : not_before, ticks);
    *task_out = task;
    h->n++;
    if (d->of->o->level0)
        return s;

    const bool is_second = h->record != NULL;
    uint8_t *rec = is_second ? h->record : aicpu_record(d, &device_hccl_layout, 232, tick);
    h->record = is_second ? NULL : rec;
    const double estimate_us = small->moves ? (double)bytes / 18000 : 0;
    uint64_t estimate;
    memcpy(&estimate, &estimate_us, sizeof estimate);
    const uint64_t value[ENTRY_FIELDS] = {
        [ENTRY_ITEM] = d->of->small_name[what],
        [ENTRY_TAG] = h->tag,
        [ENTRY_GROUP] = name_hash(h->group->name),
        [ENTRY_LOCAL_RANK] = d->rank % RANKS,
        [ENTRY_REMOTE_RANK] = (d->rank + 1 + h->n) % RANKS,
        [ENTRY_RANK_SIZE] = RANKS,
        [ENTRY_NOTIFY] = small->moves ? UINT64_MAX : 5,
        [ENTRY_TIME] = tick,
        [ENTRY_ESTIMATE] = estimate,
        [ENTRY_SRC] = 0x1000,
        [ENTRY_DST] = 0x2000,
        [ENTRY_SIZE] = small->moves ? bytes : 0,
        [ENTRY_TASK] = task,
        [ENTRY_STREAM] = d->stream[stream].id,
        [ENTRY_PLANE] = lane,
        [ENTRY_DATA_TYPE] = HCCL_FP32,
        [ENTRY_LINK] = small->link,
        [ENTRY_TRANSPORT] = small->transport,
        [ENTRY_RDMA] = small->rdma & 0xFF,
    };
    uint8_t *entry = rec + DEV_HCCL_FIRST + (is_second ? DEV_HCCL_BYTES : 0);
    for (unsigned f = 0; f < ENTRY_FIELDS; f++)
        layout_put(&device_hccl_entry_layout, f, entry, value[f]);
    return s;
}

static void master_put(struct sim_device *d, uint64_t tick, uint16_t kernel, uint16_t task, bool is_tail)
{
    const struct layout *l = &aicpu_master_layout;
    uint8_t *rec = aicpu_record(d, l, 10, tick);
    record_fill(l, rec, { MASTER_AICPU_STREAM, d->stream[STREAM_KFC].id }, { MASTER_AICPU_TASK, kernel },
                { MASTER_STREAM, d->stream[STREAM_KFC + 1].id }, { MASTER_TASK, task }, { MASTER_KIND, is_tail });
}

/* The launch of an AI CPU kernel, alone or inside of a collective's call. */
static uint16_t kernel_launch(struct sim_device *d, enum sim_stream stream, uint64_t begin, uint64_t kernel,
                              struct sim_span *span, uint32_t us)
{
    struct sim_process *p = d->of;
    const uint32_t thread = d->comm.id;
    const struct sim_launch l = { TASK_AICPU_QUIET, 1, kernel };
    const uint16_t task = stream_issue(d, stream, thread, begin + 95);
    host_track(d, HOST_TRACK, thread, begin + 100, stream, task, &l);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, TYPE_CALL_CPU_KERNEL, thread, begin + 20, begin + 160, 0);
    node_records(d, false, thread, begin + 180, &(struct node){ kernel, kernel, NODE_AICPU, 1, 0 }, NULL);
    host_call(p, HOST_CALL, LEVEL_NODE, TYPE_LAUNCH, thread, begin, begin + 200, kernel);
    *span = stream_run(d, stream, task, &l, begin + 100, device_us(d, us), d->stream[stream + 1].free_at + 500);
    return task;
}

/* The tasks that the host launches itself: a signal before, a signal after. */
static void control_task(struct sim_device *d, uint64_t begin, enum small what, uint64_t tag, uint64_t not_before)
{
    struct sim_process *p = d->of;
    const struct sim_small *small = &sim_smalls[what];
    const struct sim_launch l = { small->kind, 0, 0 };
    const uint16_t task = stream_issue(d, STREAM_CONTROL, d->comm.id, begin + 15);
    host_track(d, HOST_TRACK, d->comm.id, begin + 20, STREAM_CONTROL, task, &l);
    host_call(p, HOST_CALL, LEVEL_COMMUNICATION, TYPE_MASTER, d->comm.id, begin, begin + CALL_TICKS,
              p->small_name[what]);
    if (!p->o->level0)
        comm_info(d, &(struct small_task){ what, 0, p->kfc_group_name, tag, 0, begin }, begin + 40);
    stream_run(d, STREAM_CONTROL, task, &l, begin + 20, dice_between(&d->dice, 50, 300), not_before);
}

static void expanded_run(struct sim_device *d)
{
    struct sim_process *p = d->of;
    const uint32_t thread = d->comm.id, which = 0; /* all-reduce */
    const struct sim_collective *c = &sim_collectives[which];
    const uint64_t begin = d->comm.now + 20, count = 4096ull << dice_below(&d->dice, 8);
    const uint64_t tag = comm_name(p, c->node, p->kfc_group_name);
    control_task(d, begin + 100, SMALL_RECORD, tag, 0);
    struct sim_span kernel;
    const uint16_t task = kernel_launch(d, STREAM_KFC, begin + 300, p->kfc_name[0], &kernel, 30);
    node_records(d, false, thread, begin + 800, &(struct node){ tag, name_hash(c->node), NODE_COMMUNICATION, 0, 0 },
                 NULL);
    if (!p->o->level0)
        comm_op(d, begin + 805, p->kfc_group_name, HCCL_FP32, count);

    uint8_t *rec = aicpu_record(d, &device_hccl_op_layout, 36, kernel.begin + 100);
    const struct layout *l = &device_hccl_op_layout;
    record_fill(l, rec, { DEV_OP_FLAGS, dice_one_in(&d->dice, 4) }, { DEV_OP_DATA_TYPE, HCCL_FP32 },
                { DEV_OP_ALG, p->alg_name }, { DEV_OP_COUNT, count }, { DEV_OP_GROUP, p->kfc_group_name },
                { DEV_OP_RANK_SIZE, RANKS }, { DEV_OP_STREAM, d->stream[STREAM_KFC].id }, { DEV_OP_TASK, task });

    struct handed h = { .group = &groups[0], .tag = tag, .started = kernel.begin + 120 };
    uint16_t head, tail, other;
    struct sim_span s = hand_out(d, &h, 0, SMALL_WAIT, TASK_NOTIFY_WAIT, 0, &head);
    master_put(d, kernel.begin + 130, task, head, false);
    hand_out(d, &h, 1, SMALL_WAIT, TASK_NOTIFY_WAIT, s.begin + 20, &other);
    hand_out(d, &h, 0, SMALL_COPY, TASK_COPY_LOCAL, 0, &other);
    const struct sim_span sent = hand_out(d, &h, 1, SMALL_PAYLOAD, TASK_RDMA_SEND, 0, &other);
    hand_out(d, &h, 0, SMALL_REDUCE, TASK_REDUCE, 0, &other);
    s = hand_out(d, &h, 0, SMALL_RECORD, TASK_NOTIFY_RECORD, sent.end + 20, &tail);
    master_put(d, kernel.end - 100, task, tail, true);

    control_task(d, begin + 600, SMALL_WAIT, tag, s.end);
    host_call(p, HOST_CALL, LEVEL_NODE, TYPE_COLLECTIVE + which, thread, begin + 40, begin + 860, tag);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_COLLECTIVE + which, thread, begin, begin + 900, 0);
    d->comm.now = begin + 900;
}

/* How the turns of a fused operator passed: communication, and computing between. */
static void turn_put(struct sim_device *d, uint16_t task, uint64_t tick, unsigned turn)
{
    const struct layout *l = &kfc_comm_turn_layout;
    uint8_t *rec = aicpu_record(d, l, 76, tick);
    const uint64_t comm[] = { 0, 100, 200, 350, 500, 1500, 1700 };
    for (unsigned i = 0; i < sizeof comm / sizeof *comm; i++)
        layout_put(l, TURN_SERVER_BEGIN + i, rec, tick + comm[i]);
    record_fill(l, rec, { TURN_SIZE, 8192 }, { TURN_DEVICE, (uint64_t)d->id },
                { TURN_STREAM, d->stream[STREAM_MC2].id }, { TURN_TASK, task }, { TURN_COUNT, TURNS },
                { TURN_CURRENT, turn + 1 });
    l = &kfc_compute_turn_layout;
    rec = aicpu_record(d, l, 44, tick);
    record_fill(l, rec, { COMPUTE_TURN_WAIT, tick + 20 }, { COMPUTE_TURN_BEGIN, tick + 400 },
                { COMPUTE_TURN_END, tick + 1200 }, { COMPUTE_TURN_SIZE, 8192 },
                { COMPUTE_TURN_DEVICE, (uint64_t)d->id }, { COMPUTE_TURN_STREAM, d->stream[STREAM_MC2].id },
                { COMPUTE_TURN_TASK, task }, { COMPUTE_TURN_COUNT, TURNS }, { COMPUTE_TURN_CURRENT, turn + 1 });
}

static void fused_run(struct sim_device *d)
{
    struct sim_process *p = d->of;
    const uint64_t begin = d->comm.now + 20;
    struct sim_span kernel;
    const uint16_t task = kernel_launch(d, STREAM_MC2, begin + 100, p->kfc_name[1], &kernel, 90);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_FUSED, d->comm.id, begin, begin + 400, 0);
    d->comm.now = begin + 400;
    for (unsigned turn = 0; turn < TURNS; turn++)
        turn_put(d, task, kernel.begin + 100 + turn * 1800ull, turn);
    struct handed h = { .group = &groups[1], .tag = p->kfc_name[1], .started = kernel.begin + 200 };
    uint16_t other;
    hand_out(d, &h, 1, SMALL_WAIT, TASK_NOTIFY_WAIT, 0, &other);
    hand_out(d, &h, 0, SMALL_CORE, TASK_CCORE, 0, &other);
    hand_out(d, &h, 0, SMALL_COPY, TASK_COPY_LOCAL, 0, &other);
    hand_out(d, &h, 1, SMALL_REDUCE, TASK_REDUCE, 0, &other);
    hand_out(d, &h, 2, SMALL_COPY, TASK_COPY_LOCAL, 0, &other);
    hand_out(d, &h, 0, SMALL_CORE, TASK_CCORE, 0, &other);
}

void kfc_run(struct sim_device *d)
{
    enum { ALL_REDUCE = 0 };
    const struct front_task queued = comm_begin(d, ALL_REDUCE);
    const uint64_t begin = d->comm.now;
    if (dice_one_in(&d->dice, 3))
        fused_run(d);
    else
        expanded_run(d);
    comm_end(d, &queued, begin);
}
