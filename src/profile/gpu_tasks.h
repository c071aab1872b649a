/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_tasks.h - what ran on a GPU, as CUPTI reported it: one row for each record of ascope_cuda.data, in file order.
 *
 * The row is the id of the task: tasks.task and host_tasks.task of a GPU are rows of this table.
 */
#ifndef ASCOPE_PROFILE_GPU_TASKS_H
#define ASCOPE_PROFILE_GPU_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "raw/cuda_records.h"

enum { GPU_DIMENSIONS = 3 };

struct gpu_tasks {
    size_t n;
    uint8_t *kind; /* enum cuda_kind */
    uint8_t *copy_kind, *from, *to;
    uint32_t *correlation, *stream, *context, *graph, *peer;
    uint64_t *begin, *end; /* ticks of the device's clock */
    uint64_t *name, *bytes, *graph_node;
    uint16_t *registers;
    uint32_t *grid[GPU_DIMENSIONS], *block[GPU_DIMENSIONS];
    uint32_t *static_shared, *dynamic_shared, *local;
    uint32_t *
        captured; /* row of profile.captured's operators; NO_ROW: not of a graph whose capture was watched. NULL: none is */
    uint16_t *track;     /* place of the row's stream in stream_id */
    uint32_t *stream_id; /* the streams of this GPU, ascending */
    size_t n_streams;    /* at most 65536: further streams share the last place */
};

/* False: the record is damaged. Such records are counted as losses and have no task. */
static inline bool gpu_task_is_whole(const struct gpu_tasks *g, size_t row)
{
    return g->kind[row] >= CUDA_IS_KERNEL && g->kind[row] <= CUDA_IS_PEER_COPY && g->end[row] >= g->begin[row];
}

static inline bool gpu_task_is_kernel(const struct gpu_tasks *g, size_t row)
{
    return g->kind[row] == CUDA_IS_KERNEL;
}

static inline bool gpu_task_is_copy(const struct gpu_tasks *g, size_t row)
{
    return g->kind[row] == CUDA_IS_COPY || g->kind[row] == CUDA_IS_PEER_COPY;
}

#endif
