/* SPDX-License-Identifier: Apache-2.0 */
/* sim_ms_tables.h - what MindSpore calls the operators and collectives of sim_tables.h, and its dataset pipeline. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_MS_TABLES_H
#define ASCOPE_SIM_FRAMEWORK_SIM_MS_TABLES_H

#include <stddef.h>
#include <stdint.h>

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

#endif
