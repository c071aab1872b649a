/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ms.h - the MindSpore side of a simulated process; shared by the parts of the simulator, and by nobody else.
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

#endif
