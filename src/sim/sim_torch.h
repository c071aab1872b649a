/* SPDX-License-Identifier: Apache-2.0 */
/* sim_torch.h - the PyTorch side of a simulated process; shared by the parts of the simulator, and by nobody else.
 *
 * One thread of Python runs operators of a network forward and its optimizer, the thread of autograd runs the backward
 * half in reverse order. An operator that needs the device puts a task into a queue; the thread at its other end makes
 * the calls that the PROF directory holds. The network is the same in every step. Without a device the tasks are taken
 * out of the queue all the same, and nothing more is known of them.
 *
 * Records are written when their operator ends; what is held is the operators that are open, the tasks in the queue and
 * the blocks of memory in use, each bounded.
 */
#ifndef ASCOPE_SIM_SIM_TORCH_H
#define ASCOPE_SIM_SIM_TORCH_H

#include "sim/sim_run.h"
#include "raw/torch.h"

enum torch_file {
    TORCH_FILE_OPS,
    TORCH_FILE_MARKS,
    TORCH_FILE_MEMORY,
    TORCH_FILE_KEYS,
    TORCH_FILE_PARAMS,
    TORCH_FILE_CALLS,
    TORCH_FILE_GC,
    TORCH_FILES
};

/* How an operator of the device is called from Python, and what autograd makes of it. Inputs are letters:
 * x activation, g gradient, w weight, b bias, q four dimensions, i indices, T list of tensors; s scalar, L list of scalars,
 * N nothing. */
struct torch_network {
    const char *module, *file, *function; /* "Linear", "linear.py(114)", "linear" */
    const char *outer, *outer_inputs;     /* NULL: the inner one is called directly */
    bool has_views;                       /* the weight is transposed first: three operators that do nothing */
    const char *inner, *inner_inputs;     /* puts the task into the queue */
    const char *backward, *grad, *grad_inputs;
};

enum { TORCH_LAYERS = 16 }; /* so many objects of each class of modules */
enum { OPEN_MOST = 8, WAITING_MOST = 64, BLOCKS_MOST = 48 };

enum torch_type { TORCH_TYPE_FLOAT, TORCH_TYPE_BF16, TORCH_TYPE_LONG };

struct torch_op {
    char name[88];
    const char *inputs;
    uint64_t begin;
    int64_t sequence;
    uint8_t scope, forward_thread;
    bool has_stack;
};

struct torch_thread {
    uint32_t id;
    uint64_t now; /* host ticks */
    unsigned depth;
    struct torch_op open[OPEN_MOST];
};

/* What the operators that are open work on. */
struct torch_unit {
    const struct torch_network *network;
    uint32_t rows, columns, layer;
    enum torch_type type;
    uint64_t input, output; /* addresses of their storage; 0: none yet */
};

struct torch_block {
    uint64_t address, bytes;
};

struct torch_waiting {
    uint64_t id, begin, end;
    const char *name;
    bool has_begun; /* its first mark is written */
};

struct sim_torch {
    struct sim_process *of;
    struct prof_writer writer; /* of the *_ascend_pt directory */
    struct slices out[TORCH_FILES];
    struct dice dice;
    struct torch_thread main, backward, *at; /* at: the one that runs now */
    uint32_t queue_thread;
    uint64_t begin; /* host ticks */
    struct torch_unit unit;
    uint64_t n_ops, n_tasks;
    uint64_t sequence; /* of the first operator of the step */
    struct {           /* the step that runs */
        uint32_t number;
        uint64_t kernels, forward, optimizer, done; /* launches: all, forward, from here on by the optimizer, so far */
        uint64_t chunk;                             /* of those forward, that go through the network once */
        uint64_t ops;                               /* so many operators when it ends */
    } step;
    struct torch_waiting waiting[WAITING_MOST]; /* a ring: taken out of the queue, marks not yet written */
    uint32_t head, n_waiting;
    struct torch_block block[BLOCKS_MOST];
    uint64_t allocated, reserved, workspace;
    uint8_t reverse[OPERATORS_MOST]; /* operator of the device that runs backward; and the other way round */
    uint8_t forward[OPERATORS_MOST];
    bool is_known[OPERATORS_MOST][TORCH_LAYERS]; /* modules whose key and parameters are written */
    bool knows_optimizer;
};

/* A task in the queue. */
struct torch_task {
    uint64_t id, ready; /* ready: host ticks, from when on it may be taken out */
    const char *name;
};

/* A new directory at the path, for the process. NULL: see e. What goes wrong later is in the writer. */
struct sim_torch *torch_open(struct sim_process *p, const char *path, struct error *e);
bool torch_close(struct sim_torch *t, struct error *e); /* everything is on disk; NULL is fine */

/* A step: begin, then the launches, then end. `now` is when the host begins, and end returns when it has ended. */
void torch_step_begin(struct sim_torch *t, uint32_t step, uint64_t kernels, uint64_t now);
uint64_t torch_step_end(struct sim_torch *t, uint64_t now);
void torch_steps_alone(struct sim_torch *t); /* all steps, without a device */

/* One launch: which operator comes next, it is run on the host, and its task was taken out of the queue. */
size_t torch_next(struct sim_torch *t);
struct torch_task torch_operator(struct sim_torch *t);
struct torch_task torch_collective(struct sim_torch *t, size_t which);
struct torch_task torch_copy(struct sim_torch *t, unsigned direction);
struct torch_task torch_event(struct sim_torch *t, const char *name);
void torch_pace(struct sim_torch *t, uint64_t host_tick); /* nothing begins earlier */
void torch_launched(struct sim_torch *t, const struct torch_task *task, uint64_t begin, uint64_t end);

/* Python's calls, all of its main thread. */
enum torch_frame {
    TORCH_FRAME_TOP,
    TORCH_FRAME_MAIN,
    TORCH_FRAME_STEP,
    TORCH_FRAME_MODEL,
    TORCH_FRAME_BACKWARD,
    TORCH_FRAME_ENGINE,
    TORCH_FRAME_OPTIMIZER,
    TORCH_FRAME_PROFILER,
    TORCH_FRAME_EXIT, /* what every return is called */
    TORCH_FRAMES
};

#endif
