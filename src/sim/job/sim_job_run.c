/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a rank of a job by the plan: the device at the times of the plan, the host at its own pace. */
#include "sim/job/sim_job_run.h"

#include "raw/host_records.h"
#include "sim/device/sim_device.h"
#include "sim/job/sim_faults.h"
#include "sim/job/sim_front.h"
#include "sim/job/sim_plan.h"

enum { HCCL_FP16 = 3, NODE_COMMUNICATION = 9 };
enum { CALL_TICKS = 110, NEXT_CALL = 122 }; /* as in sim_comm.c */

/* Each host has its own clocks, which show the same time of day, apart from the requested offsets. The processes of a
 * host start one after the other; the job begins when all have started. */
void job_clocks_set(struct sim_process *p)
{
    enum { APART_US = 3000, START_US = 10000, US = 1000 };
    const struct sim_job *j = p->job;
    const uint32_t host = p->index / j->host_ranks, local = p->index % j->host_ranks;
    struct dice of_job = dice_for(p->o->seed, 0), of_host = dice_for(p->o->seed, 3000000 + host);
    const uint64_t first_us =
        1717200000ull * 1000000 + dice_next(&of_job) % (86400ull * 1000000); /* from 1 June 2024 */
    const uint64_t past_us = (uint64_t)APART_US * local;
    p->wall_us = first_us + past_us + (uint64_t)(job_amount(&j->faults, SIM_CLOCK_OFFSET, p->index, 0) / US);
    p->mono_ns = 4000000000000 + dice_next(&of_host) % 1000000000000 + past_us * US;
    p->cnt = p->mono_ns / NS_PER_HOST_TICK + 1234;
    p->job_begin = p->cnt + ((uint64_t)APART_US * j->host_ranks + START_US - past_us) * HOST_MHZ;
}

void job_names_write(struct sim_process *p)
{
    for (unsigned axis = 0; axis < AXES; axis++) {
        const struct job_group g = job_group(p->job, (enum job_axis)axis, p->index);
        char id[JOB_GROUP_BYTES];
        job_group_id(p->job, &g, id);
        p->axis_name[axis] = host_name(p, id);
    }
}

static uint64_t host_tick(const struct sim_device *d, uint64_t ns)
{
    return d->of->job_begin + ns / NS_PER_HOST_TICK;
}

static uint64_t tick(const struct sim_device *d, uint64_t ns)
{
    return device_tick(d, host_tick(d, ns));
}

static struct sim_span span_of(const struct sim_device *d, uint64_t begin_ns, uint64_t end_ns)
{
    return (struct sim_span){ tick(d, begin_ns), tick(d, end_ns) };
}

static void pace(struct sim_device *d, uint64_t ns)
{
    const uint64_t at = host_tick(d, ns);
    if (d->now < at)
        d->now = at;
    front_pace(d->of, at);
}

/* An event is recorded by a stream, or waited for. */
static void event_run(struct sim_device *d, struct sim_thread *t, bool is_wait, enum sim_stream stream,
                      struct sim_span when)
{
    struct sim_process *p = d->of;
    const enum task_kind kind = is_wait ? TASK_EVENT_WAIT : TASK_EVENT_RECORD;
    const struct sim_launch l = { kind, 0, 0 };
    if (t->now < d->now)
        t->now = d->now;
    const uint64_t begin = t->now + 20, time = begin + 60, end = begin + 150;
    const uint16_t task = stream_issue(d, stream, t->id, time - 5);
    host_track(d, HOST_TRACK, t->id, time, stream, task, &l);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, sim_task_kinds[kind].call, t->id, begin + 20, end - 30, 0);
    host_call(p, HOST_CALL, LEVEL_ACL, is_wait ? TYPE_ACL_EVENT_WAIT : TYPE_ACL_EVENT_RECORD, t->id, begin, end, 0);
    stream_run_at(d, stream, task, &l, time, when);
    t->now = end;
    d->now = t->now > d->now ? t->now : d->now;
}

/* The same for the stream of the operators, which the framework asks for. */
static void main_event_run(struct sim_device *d, struct sim_thread *t, bool is_wait, struct sim_span when)
{
    const struct front_task task = front_event(d->of, is_wait);
    t->now = t->now > task.ready ? t->now : task.ready;
    t->now = t->now > d->now ? t->now : d->now;
    const uint64_t begin = t->now + 8;
    event_run(d, t, is_wait, STREAM_MAIN, when);
    front_launched(d->of, &task, begin, t->now + 4);
}

static enum sim_stream stream_of(const struct job_item *item, unsigned plane)
{
    return (enum sim_stream)(STREAM_JOB + (unsigned)item->channel * JOB_PLANES + plane);
}

static void small_run(struct sim_device *d, const struct job_event *ev, const struct job_task *s, uint64_t begin)
{
    struct sim_process *p = d->of;
    const enum job_axis axis = job_axis_of((enum job_channel)ev->item->channel);
    const struct job_group g = job_group(p->job, axis, p->index);
    const struct sim_small *small = &sim_smalls[s->what];
    const enum sim_stream stream = stream_of(ev->item, s->plane);
    const struct sim_launch l = { small->kind, 0, 0 };
    const uint64_t time = begin + 35;
    const uint32_t thread = d->comm.id;
    const uint16_t task = stream_issue(d, stream, thread, time - 5);
    host_track(d, HOST_TRACK, thread, time, stream, task, &l);
    if (small->kind == TASK_COPY_LOCAL)
        record_memcpy(host_record(p, HOST_MEMCPY, thread, time), s->bytes, COPY_ON_DEVICE);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, sim_task_kinds[small->kind].call, thread, begin + 15, begin + 80, 0);
    if (!p->o->level0)
        record_comm_part(host_record(p, HOST_HCCL, thread, begin + 90),
                         &(struct comm_part){ .what = s->what,
                                              .plane = s->plane,
                                              .rank = g.place,
                                              .remote = s->remote,
                                              .ranks = g.size,
                                              .link = s->link,
                                              .data_type = HCCL_FP16,
                                              .name = p->small_name[s->what],
                                              .group = p->axis_name[axis],
                                              .tag = name_hash(sim_collectives[ev->item->collective].node),
                                              .bytes = s->bytes,
                                              .notify = ev->times.number % 4096 * 256 + s->plane });
    host_call(p, HOST_CALL, LEVEL_COMMUNICATION, s->plane == 0 ? TYPE_MASTER : TYPE_SLAVE, thread, begin,
              begin + CALL_TICKS, p->small_name[s->what]);
    stream_run_at(d, stream, task, &l, time, span_of(d, s->begin_ns, s->end_ns));
}

static void exchange_run(struct sim_device *d, struct sim_thread *t, const struct job_event *ev)
{
    enum { RECORD = 10, WAIT = 5 }; /* units */
    struct sim_process *p = d->of;
    const struct job_item *item = ev->item;
    const struct sim_collective *c = &sim_collectives[item->collective];
    const uint64_t unit_ns = p->job->unit_ns, name = name_hash(c->node);
    const uint64_t group = p->axis_name[job_axis_of((enum job_channel)item->channel)];
    struct job_task small[JOB_TASKS_MOST];
    main_event_run(d, t, false, span_of(d, ev->ready_ns - RECORD * unit_ns, ev->ready_ns));
    const struct front_task queued = comm_begin(d, item->collective);
    const uint64_t begin = d->comm.now;
    const uint32_t thread = d->comm.id;
    event_run(d, &d->comm, true, stream_of(item, 0), (struct sim_span){ 0, tick(d, ev->ready_ns + WAIT * unit_ns) });

    const uint64_t acl_begin = d->comm.now + 20, node_begin = acl_begin + 90;
    const size_t n = job_tasks(p->job, p->index, item, &ev->times, small, NULL);
    uint64_t at = node_begin + 60;
    for (size_t i = 0; i < n; i++, at += NEXT_CALL)
        small_run(d, ev, &small[i], at);
    const uint64_t records = at + 20, node_end = records + 30, acl_end = node_end + 50;
    node_records(d, false, thread, records, &(struct node){ name, name, NODE_COMMUNICATION, 0, 0 }, NULL);
    if (!p->o->level0)
        record_comm(host_record(p, HOST_HCCL_OP, thread, records + 5), false, HCCL_FP16, p->alg_name,
                    job_bytes((enum job_channel)item->channel) / 2, group);
    host_call(p, HOST_CALL, LEVEL_NODE, TYPE_COLLECTIVE + item->collective, thread, node_begin, node_end, name);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_COLLECTIVE + item->collective, thread, acl_begin, acl_end, 0);
    d->comm.now = acl_end + 30;
    comm_end(d, &queued, begin);
    if (item->blocks)
        main_event_run(d, t, true, span_of(d, ev->begin_ns, ev->end_ns));
}

uint64_t job_step_start(struct sim_device *d, uint32_t step, uint64_t earliest)
{
    if (step == 0)
        d->walk = job_walk(d->of->job, d->of->index);
    job_step_begin(&d->walk, step);
    const uint64_t planned = host_tick(d, d->walk.begin_ns);
    return planned > earliest ? planned : earliest;
}

void job_step_run(struct sim_device *d, struct moments *at)
{
    const uint64_t forward = d->walk.program->forward, optimizer = d->walk.program->optimizer;
    struct sim_thread *t = &d->main;
    at->backward = d->now;
    for (struct job_event ev; job_next(&d->walk, &ev) == JOB_EVENT;) {
        pace(d, ev.host_ns + (d->of->front ? 0 : ev.stall_ns)); /* a framework has the stall itself */
        if (ev.item->work == WORK_KERNELS) {
            const struct planned plan = { ev.which, span_of(d, ev.begin_ns, ev.end_ns) };
            t = ev.kernel >= forward && ev.kernel < optimizer ? &d->backward : &d->main;
            if (ev.kernel == forward)
                at->backward = d->now;
            operator_launch(d, launcher(d, t), &plan);
        } else if (ev.item->work == WORK_EXCHANGE) {
            exchange_run(d, launcher(d, t), &ev);
        } else {
            main_event_run(d, launcher(d, t), true, span_of(d, ev.begin_ns, ev.end_ns));
        }
        device_log(d, device_tick(d, d->now));
    }
}
