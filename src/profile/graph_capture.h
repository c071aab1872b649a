/* SPDX-License-Identifier: Apache-2.0 */
/* graph_capture.h - operators that ran while graphs were captured: their kernels are nodes of the graphs, and run again in each
 * replay.
 *
 * Loaded with the framework (FRAMEWORK/ascope.graph_nodes); analyse/framework/replays.c joins kernels of replays with
 * them (gpu_tasks.captured). Host times of a capture are those of no step, and are not recorded.
 */
#ifndef ASCOPE_PROFILE_GRAPH_CAPTURE_H
#define ASCOPE_PROFILE_GRAPH_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory/names.h"

struct graph_capture {
    size_t n;        /* nodes, by id */
    uint64_t *node;  /* ascending; those of copies, which are what runs, among them */
    uint32_t *op_of; /* of a node: row of the following */
    size_t n_ops;
    name_id *name, *types, *shapes, *stack, *modules; /* as those of struct framework_ops; NAME_EMPTY: unknown */
    uint64_t n_replayed, n_unknown;                   /* kernels of replays; those whose capture nobody watched */
    double replayed_ns, unknown_ns;                   /* their time */
};

#endif
