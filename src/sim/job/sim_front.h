/* SPDX-License-Identifier: Apache-2.0 */
/* sim_front.h - the framework of a simulated process: what runs on the host, and the directory around the PROF
 * directory.
 *
 * A framework is a row of functions; its own struct begins with struct sim_front. All run the same network: operators
 * forward, then backward in reverse order, then the optimizer. An operator that needs the device makes a task, which
 * another thread takes out of a queue; that thread makes the calls that the PROF directory holds. The parts of the
 * simulator that write the PROF directory call front_*() of the process, which do nothing for one without a framework.
 */
#ifndef ASCOPE_SIM_JOB_SIM_FRONT_H
#define ASCOPE_SIM_JOB_SIM_FRONT_H

#include "sim/job/sim_run.h"

enum front_phase { FRONT_FORWARD, FRONT_BACKWARD, FRONT_OPTIMIZER };

/* A task in the queue. */
struct front_task {
    uint64_t id, ready; /* ready: the host tick from which on it may be taken out of the queue */
    const char *name;
};

/* The step that runs. */
struct front_step {
    uint32_t number;
    uint64_t kernels, forward, optimizer, done; /* launches: all, forward, from here on by the optimizer, so far */
    uint64_t chunk;                             /* launches of one pass through the network */
    uint64_t ops;                               /* operators of the process until the step ends */
};

struct sim_front {
    const struct front_row *row;
    struct sim_process *of;
    struct prof_writer writer; /* of the framework's directory */
    struct dice dice;
    uint64_t begin; /* host ticks */
    struct front_step step;
    uint8_t reverse[OPERATORS_MOST]; /* operator of the device that runs backward; and the other way round */
    uint8_t forward[OPERATORS_MOST];
};

struct front_row {
    size_t bytes; /* of its struct */
    void (*open)(struct sim_front *f);
    void (*close)(struct sim_front *f);
    void (*step_begin)(struct sim_front *f, uint64_t now);   /* now: when the host begins */
    uint64_t (*step_end)(struct sim_front *f, uint64_t now); /* when it has ended */
    struct front_task (*run)(struct sim_front *f);           /* the next operator, on the host */
    struct front_task (*collective)(struct sim_front *f, size_t which);
    struct front_task (*copy)(struct sim_front *f, unsigned direction);
    struct front_task (*event)(struct sim_front *f, bool is_wait);
    void (*launched)(struct sim_front *f, const struct front_task *task, uint64_t begin, uint64_t end);
    void (*pace)(struct sim_front *f, uint64_t host_tick);
    void (*mark)(struct sim_front *f, uint32_t thread, uint64_t begin, bool is_range); /* NULL: it records none */
};

/* Begins to write to the directory `path`, which exists. NULL: see e. Later errors are in the writer. */
struct sim_front *front_open(struct sim_process *p, const char *path, struct error *e);
bool front_close(struct sim_front *f, struct error *e); /* everything is on disk */
void front_steps_alone(struct sim_front *f);            /* all steps, without a device */

/* A step: begin, then the launches, then end. */
void front_step_begin(struct sim_process *p, uint32_t step, uint64_t kernels, uint64_t now);
uint64_t front_step_end(struct sim_process *p, uint64_t now);

/* One launch: the task was put into the queue; it was taken out. */
size_t front_next(const struct sim_front *f); /* the operator that is run next */
struct front_task front_run(struct sim_process *p);
struct front_task front_collective(struct sim_process *p, size_t which);
struct front_task front_copy(struct sim_process *p, unsigned direction);
struct front_task front_event(struct sim_process *p, bool is_wait);
void front_launched(struct sim_process *p, const struct front_task *task, uint64_t begin, uint64_t end);
void front_pace(struct sim_process *p, uint64_t host_tick); /* no operator begins before that tick */
void front_mark(struct sim_process *p, uint32_t thread, uint64_t begin, bool is_range); /* of the user */

/* For the frameworks themselves. */
enum front_phase front_phase(const struct sim_front *f);
uint64_t front_position(const struct sim_front *f);    /* in the network */
uint64_t front_stall_ticks(const struct sim_front *f); /* the delay of the data of the next operator */

#endif
