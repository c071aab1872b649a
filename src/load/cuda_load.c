/* SPDX-License-Identifier: Apache-2.0 */
#include "load/cuda_load.h"

#include "load/records.h"
#include "raw/cuda_records.h"

static const char family[] = "ascope_cuda.data";

bool cuda_load(struct device *d, struct error *e)
{
    struct source *s = &d->source;
    struct gpu_tasks *g = &d->gpu;
    struct records r;
    if (!records_load(s, s->mem, family, &cuda_task_layout, false, &r, e))
        return false;
    *g = (struct gpu_tasks){ .n = r.n,
                             .kind = r.column[CUDA_KIND],
                             .copy_kind = r.column[CUDA_COPY_KIND],
                             .from = r.column[CUDA_FROM],
                             .to = r.column[CUDA_TO],
                             .correlation = r.column[CUDA_CORRELATION],
                             .stream = r.column[CUDA_STREAM],
                             .context = r.column[CUDA_CONTEXT],
                             .graph = r.column[CUDA_GRAPH],
                             .peer = r.column[CUDA_PEER],
                             .begin = r.column[CUDA_BEGIN],
                             .end = r.column[CUDA_END],
                             .name = r.column[CUDA_NAME],
                             .bytes = r.column[CUDA_BYTES],
                             .graph_node = r.column[CUDA_GRAPH_NODE],
                             .registers = r.column[CUDA_REGISTERS],
                             .static_shared = r.column[CUDA_STATIC_SHARED],
                             .dynamic_shared = r.column[CUDA_DYNAMIC_SHARED],
                             .local = r.column[CUDA_LOCAL] };
    for (unsigned i = 0; i < GPU_DIMENSIONS; i++) {
        g->grid[i] = r.column[CUDA_GRID_X + i];
        g->block[i] = r.column[CUDA_BLOCK_X + i];
    }
    for (size_t i = 0; i < g->n; i++)
        if (!gpu_task_is_whole(g, i))
            record_lost(s, family, LOSS_BAD_VALUE, NULL);
    return true;
}
