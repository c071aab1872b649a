/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_device.h"
#include "sim/job/sim_front.h"

enum { HCCL_FP16 = 3, NODE_COMMUNICATION = 9 };
/* The calls of a collective's small tasks all have the same length and distance. */
enum { CALL_TICKS = 110, NEXT_CALL = 122 };

static size_t collective_pick(struct dice *d)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < sim_n_collectives; i++)
        sum += sim_collectives[i].weight;
    uint32_t left = dice_below(d, sum);
    size_t i = 0;
    while (left >= sim_collectives[i].weight)
        left -= sim_collectives[i++].weight;
    return i;
}

/* Two dies of one package have their own link; packages are connected by a switch. */
static uint32_t link_of(const struct sim_device *d, const struct sim_small *small, uint32_t remote)
{
    enum { LINK_HCCS = 1, LINK_SIO = 4, LINK_HCCS_SWITCH = 5 };
    if (!d->of->chip->has_two_dies || small->link != LINK_HCCS)
        return small->link;
    return remote == ((d->rank % RANKS) ^ 1) ? LINK_SIO : LINK_HCCS_SWITCH;
}

void comm_info(struct sim_device *d, const struct small_task *s, uint64_t time)
{
    const uint32_t remote = (d->rank + 1 + s->plane) % RANKS;
    record_comm_part(host_record(d->of, HOST_HCCL, d->comm.id, time),
                     &(struct comm_part){ .what = s->what,
                                          .plane = s->plane,
                                          .rank = d->rank % RANKS,
                                          .remote = remote,
                                          .ranks = RANKS,
                                          .link = link_of(d, &sim_smalls[s->what], remote),
                                          .data_type = HCCL_FP16,
                                          .name = d->of->small_name[s->what],
                                          .group = s->group,
                                          .tag = s->tag,
                                          .bytes = s->bytes,
                                          .notify = d->of->n_collectives % 4096 * 256 + s->plane });
}

void comm_op(struct sim_device *d, uint64_t time, uint64_t group, uint32_t data_type, uint64_t count)
{
    record_comm(host_record(d->of, HOST_HCCL_OP, d->comm.id, time), dice_one_in(&d->dice, 5), data_type,
                d->of->alg_name, count, group);
}

uint64_t comm_name(struct sim_process *p, const char *node, uint64_t group)
{
    char name[64];
    comm_name_make(name, sizeof name, node, group, ++p->n_collectives);
    return host_name(p, name);
}

static void small_run(struct sim_device *d, const struct small_task *s, uint64_t not_before)
{
    struct sim_process *p = d->of;
    const struct sim_small *small = &sim_smalls[s->what];
    const struct sim_task_kind *kind = &sim_task_kinds[small->kind];
    const enum sim_stream stream = (enum sim_stream)(STREAM_COMM + s->plane);
    const struct sim_launch l = { small->kind, 0, 0 };
    const uint64_t time = s->begin + 35;
    const uint16_t task = stream_issue(d, stream, d->comm.id, time - 5);
    host_track(d, HOST_TRACK, d->comm.id, time, stream, task, &l);
    if (small->kind == TASK_COPY_LOCAL)
        record_memcpy(host_record(p, HOST_MEMCPY, d->comm.id, time), s->bytes, COPY_ON_DEVICE);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, kind->call, d->comm.id, s->begin + 15, s->begin + 80, 0);
    if (!p->o->level0)
        comm_info(d, s, s->begin + 90);
    host_call(p, HOST_CALL, LEVEL_COMMUNICATION, s->plane == 0 ? TYPE_MASTER : TYPE_SLAVE, d->comm.id, s->begin,
              s->begin + CALL_TICKS, p->small_name[s->what]);
    /* 20 GB/s after a start-up time; signals are short, waits for a peer are longer */
    const uint64_t ticks = small->moves            ? device_us(d, 2) + device_us(d, s->bytes) / 20000
                           : s->what == SMALL_WAIT ? dice_between(&d->dice, 100, 2500)
                                                   : dice_between(&d->dice, 60, 400);
    stream_run(d, stream, task, &l, time, ticks + dice_below(&d->dice, 40), not_before);
}

/* The communication stream first waits for the event that the compute stream has recorded. */
static uint64_t wait_event(struct sim_device *d, uint64_t not_before)
{
    struct sim_process *p = d->of;
    const uint32_t thread = d->comm.id;
    const uint64_t begin = d->comm.now;
    const struct sim_launch l = { TASK_EVENT_WAIT, 0, 0 };
    const uint16_t task = stream_issue(d, STREAM_COMM, thread, begin + 45);
    host_track(d, HOST_TRACK, thread, begin + 50, STREAM_COMM, task, &l);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, TYPE_CALL_EVENT_WAIT, thread, begin + 20, begin + 120, 0);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_EVENT_WAIT, thread, begin, begin + 150, 0);
    d->comm.now = begin + 170;
    const uint64_t arrives = device_tick(d, begin + 50), is_free = d->stream[STREAM_COMM].free_at;
    const uint64_t starts = arrives > is_free ? arrives : is_free;
    const uint64_t waits = not_before > starts ? not_before - starts : 0;
    const struct sim_span s = stream_run(d, STREAM_COMM, task, &l, begin + 50, waits + 20, 0);
    return s.end > not_before ? s.end : not_before;
}

struct front_task comm_begin(struct sim_device *d, size_t which)
{
    const struct front_task task = front_collective(d->of, which);
    if (d->comm.now < d->now)
        d->comm.now = d->now;
    if (d->comm.now < task.ready)
        d->comm.now = task.ready;
    if (d->of->front)
        d->comm.now += 10; /* out of the queue */
    return task;
}

/* One thread takes all tasks out of the queue: the next task waits for this one. */
void comm_end(struct sim_device *d, const struct front_task *task, uint64_t begin)
{
    if (!d->of->front)
        return;
    front_launched(d->of, task, begin - 2, d->comm.now);
    d->now = d->comm.now > d->now ? d->comm.now : d->now;
}

void collective_run(struct sim_device *d, uint64_t not_before)
{
    struct sim_process *p = d->of;
    const size_t which = collective_pick(&d->dice);
    const struct sim_collective *c = &sim_collectives[which];
    const uint64_t bytes = 65536ull << dice_below(&d->dice, 7);
    const struct front_task queued = comm_begin(d, which);
    const uint64_t begin = d->comm.now;
    const uint64_t start = wait_event(d, not_before);

    const uint64_t tag = comm_name(p, c->node, p->group_name);
    const uint32_t thread = d->comm.id;
    const uint64_t acl_begin = d->comm.now, node_begin = acl_begin + 90;
    uint64_t at = node_begin + 60;
    struct small_task s = { SMALL_COPY, 0, p->group_name, tag, bytes, at };
    small_run(d, &s, start);
    for (s.plane = 0; s.plane < PLANES; s.plane++) {
        for (unsigned i = 0; i < c->n; i++) {
            s.begin = at += NEXT_CALL;
            s.what = (enum small)c->small[i];
            small_run(d, &s, start);
        }
    }
    const uint64_t records = at + CALL_TICKS + 20, node_end = records + 30, acl_end = node_end + 50;
    node_records(d, false, thread, records, &(struct node){ tag, name_hash(c->node), NODE_COMMUNICATION, 0, 0 }, NULL);
    if (!p->o->level0)
        comm_op(d, records + 5, p->group_name, HCCL_FP16, bytes * RANKS / 2);
    host_call(p, HOST_CALL, LEVEL_NODE, TYPE_COLLECTIVE + (uint32_t)which, thread, node_begin, node_end, tag);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_COLLECTIVE + (uint32_t)which, thread, acl_begin, acl_end, 0);
    d->comm.now = acl_end + dice_between(&d->dice, 20, 60);
    comm_end(d, &queued, begin);
}
