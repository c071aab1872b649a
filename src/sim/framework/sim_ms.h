/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ms.h - registry: the MindSpore side of a simulated process; shared by the parts of the simulator, and by nobody else.
 *
 * In eager mode an operator passes three queues: from the Python thread to the front-end thread, which infers shapes,
 * to the device thread, which allocates memory, to the launching thread, which makes the calls in the PROF directory;
 * flow ids connect them. A graph run kernel by kernel has the inferring, the resizing and the launching thread, and
 * operators have names with their scope; one that runs as a whole is one launch. A dataset pipeline gives each step its
 * data.
 *
 * Ranges are written when they end; what is held is bounded: the blocks of memory in use and the tasks not yet
 * launched.
 */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_MS_H
#define ASCOPE_SIM_FRAMEWORK_SIM_MS_H

#include <stddef.h>
#include <stdint.h>

#include "raw/mindspore.h"
#include "sim/job/generate.h"
#include "sim/job/sim_front.h"

enum ms_file {
    MS_FILE_RANGES,
    MS_FILE_MEMORY,        /* N: records; S: a table */
    MS_FILE_MEMORY_TOTALS, /* text */
    MS_FILE_SHAPES,
    MS_FILE_HOST_KERNELS, /* text */
    MS_FILE_BATCHES,      /* text */
    MS_FILES
};

/* Their ids follow that of the process. The first three are those of the device's records (sim_device.c). */
enum ms_thread {
    MS_THREAD_MAIN,
    MS_THREAD_GRADIENT,
    MS_THREAD_LAUNCH,
    MS_THREAD_FRONT_END,
    MS_THREAD_DEVICE,
    MS_THREAD_RESIZE,
    MS_THREAD_HOST_KERNELS,
    MS_THREAD_DATA, /* and above: one for each node of the dataset pipeline */
    MS_THREADS = MS_THREAD_DATA + 8
};

enum ms_form { MS_FORM_PLAIN, MS_FORM_GRAPH_DATA, MS_FORM_STAGE, MS_FORM_STACK };
static const uint64_t MS_NO_FLOW = UINT64_MAX;

struct ms_range {
    uint32_t thread; /* id */
    uint64_t begin, end, flow;
    enum ms_form form;
    uint16_t module, event, stage;
    int8_t level;
    const char *name, *full;                /* not of a stage */
    const char *node, *owner, *custom_info; /* of graph data: event_graph, module_graph; NULL: none */
};

enum { MS_FULL_NAME = 256, MS_TASKS = 8, MS_BLOCKS = 48 };

struct ms_block {
    uint64_t address, bytes, begin, used_mark, reserved_mark; /* the last two: totals after it was taken */
    char owner[MS_FULL_NAME];
};

struct ms_op {
    const char *name; /* of the primitive; NULL: nothing to launch that has a range */
    char full[MS_FULL_NAME];
    uint64_t flow; /* into the launching thread */
};

struct sim_ms {
    struct sim_front base;
    struct slices out[MS_FILES];
    uint64_t now[MS_THREADS]; /* host ticks */
    enum ms_thread at;        /* the thread that runs operators now */
    uint64_t step_begin, forward_begin, gradient_begin, gradient_flow;
    uint64_t n_flows, n_tasks, n_ops;
    struct ms_op op[MS_TASKS]; /* by the id of the task: not yet launched */
    struct ms_block block[MS_BLOCKS];
    uint64_t used, reserved, peak;
};

extern const struct front_row ms_front;

/* sim_ms_memory.c: the memory pool of a simulated MindSpore process. */

void ms_memory_open(struct sim_ms *m); /* headers of tables */
void ms_allocate(struct sim_ms *m, uint64_t host_tick, const char *owner, uint64_t bytes);
void ms_release_all(struct sim_ms *m, uint64_t host_tick); /* but for what is never released */
void ms_memory_close(struct sim_ms *m);                    /* what is still in use has a row without an end */

/* sim_ms_dataset.c: the dataset pipeline of a simulated MindSpore process: ranges, queues, CPU usage, times of
 * batches. */

void ms_batch_write(struct sim_ms *m, uint64_t ticks); /* the main thread gets a batch, for which it waits so long */
void ms_batch_times_write(struct sim_ms *m, uint64_t ticks); /* of the step's batch */
void ms_pipeline_write(struct sim_ms *m);                    /* what was sampled meanwhile */

/* sim_ms_records.c: what MindSpore calls the operators and collectives of sim_tables.h, and its dataset pipeline. */

struct ms_cell {
    const char *path, *name; /* "attention-SelfAttention", "MatMul" */
};
extern const struct ms_cell ms_cells[];         /* of sim_operators */
extern const char *const ms_collective_names[]; /* of sim_collectives */

struct ms_node {
    const char *type;     /* "Batch" */
    uint8_t workers;      /* threads */
    uint8_t queue_length; /* 0: it has none */
    int8_t child[2];      /* -1: none */
};
enum { MS_NODES = 6 };
extern const struct ms_node ms_nodes_sink[MS_NODES],
    ms_nodes_iterator[MS_NODES]; /* data goes to the device, or to Python */

/* As the PROF directory calls an operator of a graph. */
void ms_graph_name(size_t which, char *out, size_t size);

/* sim_ms_records.c: the records of MindSpore's files in FRAMEWORK/, in the form of either generation. */

void ms_files_open(struct sim_ms *m);
uint64_t ms_wall_ns(const struct sim_ms *m, uint64_t host_tick);

void ms_range_write(struct sim_ms *m, const struct ms_range *r);
struct ms_memory_event {
    uint64_t time_ns, address, size; /* size: UINT64_MAX is a release */
    const char *owner;
};
void ms_memory_write(struct sim_ms *m, const struct ms_memory_event *e);                         /* N only */
void ms_shapes_write(struct sim_ms *m, const char *name, const char *shapes, const char *types); /* the same */

#endif
