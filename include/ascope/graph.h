/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h - what the kernels of a captured graph are of, so that its replays show it.
 *
 *     const bool is_watched = ascope_graph_watch_begin();
 *     begin the capture
 *         const uint32_t outer = ascope_graph_op_begin(&op);   around whatever launches kernels
 *         launch
 *         ascope_graph_op_end(outer);
 *     end the capture, and instantiate the graph
 *     if (is_watched)
 *         ascope_graph_watch_end();
 *
 * A replay is one launch, and its kernels do not show what they were captured from. Nodes that are captured on a thread
 * belong to the operator that is open on it. What was learned is kept until the process ends, and every recording that
 * sees replays has it. Nothing is watched outside of the two calls, so that replays cost what they cost without ascope.
 * The PyTorch front end does this by itself for torch.cuda.graph().
 *
 * Errors: false, with one message, where another profiler watches the device, or there is none; captures and the other
 * functions work all the same. Threads: any. Captures of several threads at a time share what is watched.
 */
#ifndef ASCOPE_GRAPH_H
#define ASCOPE_GRAPH_H

#include "ascope/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All of them may be empty. Text is copied. */
struct ascope_graph_op {
    uint32_t size; /* of this structure, as the program knows it */
    struct ascope_text name, types, shapes;
    struct ascope_text stack;   /* of calls: innermost first, ";" between them */
    struct ascope_text modules; /* "Model.layers.0.attention" */
};

/* Errors, Threads: as above. */
ASCOPE_API bool ascope_graph_watch_begin(void);
ASCOPE_API void ascope_graph_watch_end(void);

/* Opens an operator on this thread; returns the one around it, for ascope_graph_op_end(). Errors, Threads: as above. */
ASCOPE_API uint32_t ascope_graph_op_begin(const struct ascope_graph_op *op);
ASCOPE_API void ascope_graph_op_end(uint32_t outer);

#ifdef __cplusplus
}
#endif
#endif
