/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/device/sim_device.h"

#include <stdio.h>
#include <string.h>

#include "raw/device_records.h"
#include "raw/host_records.h"
#include "sim/job/sim_front.h"
#include "sim/job/sim_job_run.h"

enum { MARK_PLAIN = 0, MARK_EXTENDED = 1, EVENT_POINT = 0, EVENT_PUSH_POP = 1, EVENT_RANGE = 2 };
enum { BUCKET_KERNELS = 20 }; /* gradients travel in buckets: a collective after so many kernels of the backward half */

/* One call that hands one task to a stream, with nothing around it but perhaps an acl call. */
struct simple {
    uint32_t acl; /* type of the outer call; 0: none */
    enum task_kind kind;
    enum sim_stream stream;
    uint32_t ticks_min, ticks_max; /* on the device */
};

/* The thread continues now, but not before the framework has queued the task. */
static void thread_wait(struct sim_device *d, struct sim_thread *t, const struct front_task *task)
{
    if (t->now < d->now)
        t->now = d->now;
    if (task && t->now < task->ready)
        t->now = task->ready;
}

static struct sim_span simple_run(struct sim_device *d, struct sim_thread *t, const struct simple *s,
                                  uint16_t *task_out, uint64_t *time_out)
{
    struct sim_process *p = d->of;
    if (t->now < d->now)
        t->now = d->now;
    const uint64_t begin = t->now + 20, time = begin + 60, end = begin + 150;
    const struct sim_launch l = { s->kind, 0, 0 };
    const uint16_t task = stream_issue(d, s->stream, t->id, time - 5);
    host_track(d, HOST_TRACK, t->id, time, s->stream, task, &l);
    host_call(p, HOST_CALL, LEVEL_RUNTIME, sim_task_kinds[s->kind].call, t->id, begin + 20, end - 30, 0);
    if (s->acl != 0)
        host_call(p, HOST_CALL, LEVEL_ACL, s->acl, t->id, begin, end, 0);
    t->now = end;
    d->now = t->now;
    *task_out = task;
    *time_out = time;
    return stream_run(d, s->stream, task, &l, time, dice_between(&d->dice, s->ticks_min, s->ticks_max), 0);
}

/* The same for a task of the framework, for which t has waited. */
static struct sim_span queued_run(struct sim_device *d, struct sim_thread *t, const struct simple *s,
                                  const struct front_task *task, uint64_t *time_out)
{
    uint16_t id;
    const uint64_t begin = t->now + 8;
    const struct sim_span span = simple_run(d, t, s, &id, time_out);
    front_launched(d->of, task, begin, t->now + 4);
    return span;
}

static struct sim_span event_record(struct sim_device *d, struct sim_thread *t)
{
    static const struct simple record = { TYPE_ACL_EVENT_RECORD, TASK_EVENT_RECORD, STREAM_MAIN, 8, 24 };
    uint64_t time;
    const struct front_task task = front_event(d->of, false);
    thread_wait(d, t, &task);
    return queued_run(d, t, &record, &task, &time);
}

static void copy_run(struct sim_device *d, uint16_t direction)
{
    static const struct simple pcie = { TYPE_ACL_MEMCPY, TASK_COPY_PCIE, STREAM_COPY, 80, 900 };
    static const struct simple local = { TYPE_ACL_MEMCPY, TASK_COPY_LOCAL, STREAM_COPY, 60, 300 };
    struct sim_thread *t = launcher(d, &d->main);
    uint64_t time;
    const struct front_task task = front_copy(d->of, direction);
    thread_wait(d, t, &task);
    queued_run(d, t, direction == COPY_ON_DEVICE ? &local : &pcie, &task, &time);
    record_memcpy(host_record(d->of, HOST_MEMCPY, t->id, time), 4096ull << dice_below(&d->dice, 8), direction);
}

struct sim_step_mark {
    const struct sim_thread *thread;
    uint16_t info;
    uint32_t event, category;
    uint64_t begin, end, id, domain;
};

/* A message that is too long for one record goes on in the next. */
static void mark_put(struct sim_device *d, const struct sim_step_mark *m, const char *message)
{
    const struct layout *l = &mark_layout;
    enum { PART = MARK_MESSAGE_BYTES - 1, MAGIC_AT = 32, TAG_AT = 34, TAG = 120 };
    const size_t len = strlen(message);
    front_mark(d->of, m->thread->id, m->begin, m->event != EVENT_POINT);
    for (size_t at = 0, segment = 0; segment == 0 || at < len; at += PART, segment++) {
        const size_t n = len - at < PART ? len - at : PART;
        uint8_t *rec = host_record(d->of, HOST_MARK, m->thread->id, m->begin);
        layout_put(l, MARK_INFO, rec, m->info);
        layout_put(l, MARK_SEGMENT, rec, segment);
        rec[MAGIC_AT] = rec[MAGIC_AT + 1] = 0x5A; /* the mark is a record with its own header inside this one */
        rec[TAG_AT] = TAG;
        record_fill(l, rec, { MARK_PROCESS, d->of->pid }, { MARK_THREAD, m->thread->id },
                    { MARK_CATEGORY, m->category }, { MARK_EVENT, m->event }, { MARK_BEGIN, m->begin },
                    { MARK_END, m->end }, { MARK_ID, m->id }, { MARK_DOMAIN, m->domain });
        memcpy(rec + MARK_MESSAGE, message + at, n);
    }
}

static uint64_t mark_id(const struct sim_device *d, uint32_t step)
{
    return (uint64_t)step * d->of->o->devices + (d->main.id - d->of->pid) / 4 + 1;
}

/* One step in sixteen has a message that takes several records: it lists the gradients. */
static void backward_name(char *text, size_t size, uint32_t step)
{
    enum { EVERY = 16, LAYERS = 32 };
    size_t used = (size_t)snprintf(text, size, "backward");
    for (unsigned i = LAYERS; step % EVERY == 1 && i > 0; i--)
        used += (size_t)snprintf(text + used, size - used, "%slayers.%u", i == LAYERS ? " of " : ", ", i - 1);
}

static void marks_write(struct sim_device *d, uint32_t step, const struct moments *at)
{
    enum { FIRST_OF_BACKWARD = 1000000000 };
    const uint64_t id = mark_id(d, step), domain = d->of->domain_name;
    char text[512];
    snprintf(text, sizeof text, "loader ready %u", step + 1);
    mark_put(d, &(struct sim_step_mark){ &d->main, MARK_PLAIN, EVENT_POINT, 1, at->forward, at->forward, 0, 0 }, text);
    mark_put(d, &(struct sim_step_mark){ &d->main, MARK_PLAIN, EVENT_PUSH_POP, 2, at->forward, at->backward, 0, 0 },
             "forward");
    backward_name(text, sizeof text, step);
    mark_put(d,
             &(struct sim_step_mark){ &d->backward, MARK_EXTENDED, EVENT_RANGE, 0, at->backward, at->launched,
                                      FIRST_OF_BACKWARD + id, domain },
             text);
    snprintf(text, sizeof text, "step %u", step + 1);
    mark_put(d, &(struct sim_step_mark){ &d->main, MARK_EXTENDED, EVENT_RANGE, 0, at->begin, at->launched, id, domain },
             text);
    snprintf(text, sizeof text, "iteration %u", step + 1);
    mark_put(d, &(struct sim_step_mark){ &d->main, MARK_PLAIN, EVENT_RANGE, 3, at->begin, at->end, 0, 0 }, text);
}

/* A small task on the main stream that makes the device stamp the time: the step begins, the step ends. */
static void trace_run(struct sim_device *d, uint32_t step, bool is_end)
{
    static const struct simple trace = { 0, TASK_TRACE, STREAM_MAIN, 6, 10 };
    uint16_t task;
    uint64_t time;
    const struct sim_span s = simple_run(d, &d->main, &trace, &task, &time);
    const uint16_t tag = is_end ? STEP_TAG_STEP_END : STEP_TAG_STEP_BEGIN;
    device_stamp(d, is_end ? s.end + 4 : s.begin - 4, step + 1, MODEL_NONE, STREAM_MAIN, 0, tag);
    if (d->of->o->marks)
        device_stamp(d, s.begin + 2, mark_id(d, step), MODEL_NONE, STREAM_MAIN, task, STEP_TAG_MARK);
}

static void synchronize(struct sim_device *d)
{
    enum { SETTLE_TICKS = 500 }; /* the last stamps of a graph come after its last task */
    struct sim_process *p = d->of;
    uint64_t last = 0;
    for (size_t i = 0; i < STREAMS; i++)
        last = d->stream[i].free_at > last ? d->stream[i].free_at : last;
    const uint64_t begin = d->main.now + 20, earliest = begin + 200, until = device_host_tick(d, last + SETTLE_TICKS);
    const uint64_t end = until > earliest ? until : earliest;
    host_call(p, HOST_CALL, LEVEL_RUNTIME, TYPE_CALL_SYNCHRONIZE, d->main.id, begin + 15, end - 15, 0);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_SYNCHRONIZE, d->main.id, begin, end, 0);
    d->main.now = d->now = end + dice_between(&d->dice, 30, 80);
    device_log(d, device_tick(d, d->now));
}

/* A step of a single process, which is no rank of a job. */
static void alone_run(struct sim_device *d, uint64_t kernels, struct moments *at)
{
    const struct sim_options *o = d->of->o;
    const uint64_t forward = kernels / 2;
    for (uint64_t i = 0; i < forward; i++)
        operator_launch(d, launcher(d, &d->main), NULL);
    at->backward = d->now;
    struct sim_span recorded = event_record(d, launcher(d, &d->main));
    for (uint64_t i = forward; i < kernels; i++) {
        operator_launch(d, launcher(d, &d->backward), NULL);
        if (o->comm && (i + 1 == kernels || (i - forward) % BUCKET_KERNELS == BUCKET_KERNELS - 1)) {
            recorded = event_record(d, launcher(d, &d->backward));
            if (o->kfc && dice_one_in(&d->dice, 2))
                kfc_run(d);
            else
                collective_run(d, recorded.end);
        }
    }
}

void step_run(struct sim_device *d, uint32_t step, uint64_t kernels)
{
    const struct sim_options *o = d->of->o;
    struct moments at;
    at.begin = d->main.now > d->now ? d->main.now : d->now;
    if (d->of->job)
        at.begin = job_step_start(d, step, at.begin);
    d->now = d->main.now = at.begin + 10;
    front_step_begin(d->of, step, kernels, at.begin);
    trace_run(d, step, false);
    if (o->copies)
        copy_run(d, COPY_TO_DEVICE);
    at.forward = d->now;
    if (d->of->job)
        job_step_run(d, &at);
    else
        alone_run(d, kernels, &at);
    if (o->graphs)
        graphs_run(d, step);
    if (o->copies) {
        copy_run(d, COPY_TO_HOST);
        copy_run(d, COPY_ON_DEVICE);
    }
    trace_run(d, step, true);
    event_record(d, launcher(d, &d->main));
    d->main.now = d->now > d->main.now ? d->now : d->main.now;
    at.launched = d->main.now;
    if (d->comm.now > d->main.now)
        d->main.now = d->comm.now;
    synchronize(d);
    if (d->of->front)
        d->main.now = d->now = front_step_end(d->of, d->main.now);
    at.end = d->main.now;
    if (o->marks)
        marks_write(d, step, &at);
}
