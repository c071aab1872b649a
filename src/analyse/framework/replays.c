/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include "base/memory/sort.h"

static uint32_t replays_of_node(const struct graph_capture *c, uint64_t node)
{
    const size_t at = SEARCH_FIRST_NOT(i, 0, c->n, c->node[i] < node);
    return at < c->n && c->node[at] == node ? c->op_of[at] : NO_ROW;
}

bool replays_find(struct collection *s)
{
    struct graph_capture *const c = &s->profile.captured;
    *c = s->framework.captured;
    for (size_t d = 0; d < s->profile.n_devices; d++) {
        struct gpu_tasks *const g = &s->profile.device[d].gpu;
        if (g->n == 0 || s->profile.chip->task_log != TASK_LOG_CUDA)
            continue;
        uint32_t *const captured = arena_take(s->mem, g->n, sizeof *captured);
        if (!captured)
            return false;
        for (size_t i = 0; i < g->n; i++) {
            captured[i] = g->graph[i] != 0 ? replays_of_node(c, g->graph_node[i]) : NO_ROW;
            if (g->graph[i] == 0 || !gpu_task_is_whole(g, i) || !gpu_task_is_kernel(g, i))
                continue;
            const double ns = (double)(g->end[i] - g->begin[i]);
            c->n_replayed++;
            c->replayed_ns += ns;
            c->n_unknown += captured[i] == NO_ROW;
            c->unknown_ns += captured[i] == NO_ROW ? ns : 0;
        }
        g->captured = captured;
    }
    return true;
}

uint32_t kernel_replays(const struct collection *s, size_t kernel)
{
    const struct kernels *k = &s->kernels;
    const struct device *d = &s->profile.device[k->device[kernel]];
    return k->is_collective[kernel] || !d->gpu.captured ? NO_ROW : task_replays(d, k->row[kernel]);
}
