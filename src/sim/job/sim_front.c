/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/job/sim_front.h"

#include <stdlib.h>

#include "base/process/progress.h"
#include "sim/device/sim_device.h"
#include "sim/framework/sim_ms.h"
#include "sim/framework/sim_torch.h"
#include "sim/job/generate.h"
#include "sim/job/sim_plan.h"

enum front_phase front_phase(const struct sim_front *f)
{
    return f->step.done < f->step.forward     ? FRONT_FORWARD
           : f->step.done < f->step.optimizer ? FRONT_BACKWARD
                                              : FRONT_OPTIMIZER;
}

uint64_t front_position(const struct sim_front *f)
{
    return network_position(f->step.forward, f->step.done);
}

uint64_t front_stall_ticks(const struct sim_front *f)
{
    const struct sim_process *p = f->of;
    const uint64_t ns = p->job ? job_stall_ns(p->job, p->index, f->step.number) : 0;
    return f->step.done == job_stall_at(f->step.forward) ? ns / NS_PER_HOST_TICK : 0;
}

size_t front_next(const struct sim_front *f)
{
    return network_operator(f->forward, f->reverse, f->of->o->seed, network_layer(front_position(f), f->step.chunk),
                            front_phase(f) == FRONT_FORWARD);
}

static uint64_t ops_until(const struct sim_process *p, uint32_t step)
{
    const uint64_t own = sim_share(p->o->operators, p->o->processes, p->index);
    return (uint64_t)((unsigned __int128)own * (step + 1) / p->o->steps);
}

void front_step_begin(struct sim_process *p, uint32_t step, uint64_t kernels, uint64_t now)
{
    if (!p->front)
        return;
    const uint64_t rounds = p->job ? p->job->micro_batches : 1, forward = kernels / 2;
    p->front->step = (struct front_step){
        .number = step,
        .kernels = kernels,
        .forward = forward,
        .optimizer = kernels - kernels / 10,
        .chunk = (forward + rounds - 1) / rounds,
        .ops = ops_until(p, step),
    };
    p->front->row->step_begin(p->front, now);
}

uint64_t front_step_end(struct sim_process *p, uint64_t now)
{
    return p->front ? p->front->row->step_end(p->front, now) : now;
}

struct front_task front_run(struct sim_process *p)
{
    if (!p->front)
        return (struct front_task){ 0 };
    const struct front_task task = p->front->row->run(p->front);
    p->front->step.done++;
    return task;
}

struct front_task front_collective(struct sim_process *p, size_t which)
{
    return p->front ? p->front->row->collective(p->front, which) : (struct front_task){ 0 };
}

struct front_task front_copy(struct sim_process *p, unsigned direction)
{
    return p->front ? p->front->row->copy(p->front, direction) : (struct front_task){ 0 };
}

struct front_task front_event(struct sim_process *p, bool is_wait)
{
    return p->front ? p->front->row->event(p->front, is_wait) : (struct front_task){ 0 };
}

void front_launched(struct sim_process *p, const struct front_task *task, uint64_t begin, uint64_t end)
{
    if (p->front)
        p->front->row->launched(p->front, task, begin, end);
}

void front_pace(struct sim_process *p, uint64_t host_tick)
{
    if (p->front)
        p->front->row->pace(p->front, host_tick);
}

void front_mark(struct sim_process *p, uint32_t thread, uint64_t begin, bool is_range)
{
    if (p->front && p->front->row->mark)
        p->front->row->mark(p->front, thread, begin, is_range);
}

/* The tasks are taken out of the queue one after the other, as with a device. */
void front_steps_alone(struct sim_front *f)
{
    enum { OPS_OF_LAUNCH = 5 };
    struct sim_process *p = f->of;
    uint64_t now = f->begin, queue = f->begin;
    for (uint32_t step = 0; step < p->o->steps && f->writer.error.fault == FAULT_NONE; step++) {
        const uint64_t ops = ops_until(p, step) - (step > 0 ? ops_until(p, step - 1) : 0);
        front_step_begin(p, step, ops / OPS_OF_LAUNCH, now);
        while (f->step.done < f->step.kernels) {
            const struct front_task task = front_run(p);
            const uint64_t begin = queue + 8 > task.ready ? queue + 8 : task.ready;
            queue = begin + dice_between(&f->dice, 300, 900);
            front_launched(p, &task, begin, queue);
            progress_work(OPS_OF_LAUNCH);
        }
        now = front_step_end(p, queue) + dice_between(&f->dice, 500, 2000);
    }
    p->end = now;
}

struct sim_front *front_open(struct sim_process *p, const char *path, struct error *e)
{
    const struct front_row *row = p->o->framework == SIM_MINDSPORE ? &ms_front : &torch_front;
    struct sim_front *f = calloc(1, row->bytes);
    if (!f) {
        error_no_memory(e, path);
        return NULL;
    }
    f->row = row;
    f->of = p;
    f->dice = dice_for(p->o->seed, 2000000 + p->index);
    f->begin = p->cnt + 5000 * HOST_MHZ;
    operators_pair(f->forward, f->reverse);
    if (!prof_writer_join(&f->writer, path, p->o->slice_bytes, e)) {
        free(f);
        return NULL;
    }
    row->open(f);
    return f;
}

bool front_close(struct sim_front *f, struct error *e)
{
    f->row->close(f);
    const bool ok = prof_writer_close(&f->writer, e);
    free(f);
    return ok;
}
