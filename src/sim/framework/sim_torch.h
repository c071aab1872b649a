/* SPDX-License-Identifier: Apache-2.0 */
/* sim_torch.h - registry: the PyTorch part of a simulated process; used only by the parts of the simulator.
 *
 * One thread of Python runs operators of a network forward and its optimizer, the thread of autograd runs the backward
 * half in reverse order. An operator that needs the device puts a task into a queue; the thread at its other end makes
 * the calls that the PROF directory holds. The network is the same in every step. Without a device the tasks are taken
 * out of the queue all the same, and nothing more is known of them.
 *
 * Records are written when their operator ends; what is held is the operators that are open, the tasks in the queue and
 * the blocks of memory in use, each bounded.
 */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_TORCH_H
#define ASCOPE_SIM_FRAMEWORK_SIM_TORCH_H

#include "raw/torch.h"
#include "sim/job/sim_front.h"

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

/* How an operator of the device is called from Python, and what autograd makes of it. Inputs are letters: x activation,
 * g gradient, w weight, b bias, q four dimensions, i indices, T list of tensors; s scalar, L list of scalars, N
 * nothing. */
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

/* The tensors of the operators that are open. */
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
    struct sim_front base;
    struct slices out[TORCH_FILES];
    struct torch_thread main, backward, *at; /* at: the thread that runs operators now */
    uint32_t queue_thread;
    struct torch_unit unit;
    uint64_t n_ops, n_tasks;
    uint64_t sequence;                          /* of the first operator of the step */
    struct torch_waiting waiting[WAITING_MOST]; /* a ring: taken out of the queue, marks not yet written */
    uint32_t head, n_waiting;
    struct torch_block block[BLOCKS_MOST];
    uint64_t allocated, reserved, workspace;
    bool is_known[OPERATORS_MOST][TORCH_LAYERS]; /* modules whose key and parameters are written */
    bool knows_optimizer;
};

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

extern const struct front_row torch_front;

/* sim_torch_memory.c: what PyTorch's allocators report in a simulated process. */

uint64_t torch_allocate(struct sim_torch *t, uint64_t bytes); /* the block's address */
void torch_release(struct sim_torch *t);                      /* one of those in use */
void torch_release_all(struct sim_torch *t);
void torch_workspace(struct sim_torch *t, uint64_t time);
void torch_host_memory(struct sim_torch *t);

/* sim_torch_records.c: the files of FRAMEWORK/ of a simulated process. */

void torch_files_open(struct sim_torch *t);
void torch_op_write(struct sim_torch *t, const struct torch_thread *th, const struct torch_op *op);
void torch_mark_write(struct sim_torch *t, uint64_t time, unsigned kind, uint64_t id, uint32_t thread,
                      const char *name);
void torch_gc_write(struct sim_torch *t, uint64_t begin, uint64_t end);
void torch_frames_write(struct sim_torch *t); /* their names */
void torch_frames_end(struct sim_torch *t);
void torch_frame_enter(struct sim_torch *t, enum torch_frame f);
void torch_frame_leave(struct sim_torch *t, enum torch_frame f);
void torch_module_enter(struct sim_torch *t); /* of the unit */
void torch_module_leave(struct sim_torch *t);
void torch_optimizer_record(struct sim_torch *t); /* its parameters */

/* sim_torch_records.c: the networks of a simulated process, module by module. */

extern const struct torch_network torch_networks[]; /* as sim_operators */

#endif
