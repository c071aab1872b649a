/* SPDX-License-Identifier: Apache-2.0 */
/* memory_series.h - memory of devices over time: the reports of the framework's allocators and of graphs (GE), merged.
 *
 * Of two reports of the same time, the framework's is first. Both allocators use the same device, so that each report
 * is shown together with the latest one of the other allocator: their sum. As in the reference's tables, workspaces are
 * not part of any sum; memory_peaks.c has the sum of all.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MEMORY_SERIES_H
#define ASCOPE_ANALYSE_FRAMEWORK_MEMORY_SERIES_H

#include "profile/collection.h"
#include "raw/framework_values.h"

enum memory_source { MEMORY_OF_FRAMEWORK, MEMORY_OF_WORKSPACE, MEMORY_OF_GRAPHS, MEMORY_SOURCES };

struct memory_series {
    size_t n;
    bool is_of_gpu;  /* there are no graphs: no sums, and only two totals */
    uint8_t *source; /* enum memory_source */
    uint32_t *row;   /* of framework_memory, or of the host's op_memory */
    uint32_t *other; /* the latest row of the other kind on the same device; NO_ROW: none so far */
};

/* `with_early`: also what graphs reported before the collection began, which tables show and the database does not.
 * False: no memory. */
bool memory_series_make(struct memory_series *out, const struct collection *s, bool with_early, struct arena *mem);

/* The rows of tables: each report, followed by its sum, which workspaces and GPUs do not have. A row is position * 2, +
 * 1 for the sum. False: no memory. */
bool memory_series_show(const struct memory_series *v, uint32_t **shown, size_t *n, struct arena *mem);

/* Of a row of framework_memory. Processes number the devices that they see; where there is only one, its own number
 * counts. */
static inline int64_t memory_device(const struct collection *s, size_t row)
{
    return s->profile.n_devices == 1 ? (int64_t)s->profile.device[0].source.device : s->framework.memory.device[row];
}

/* Of framework_memory.device_type: neither the host's, nor of a kind that no output knows. */
static inline bool memory_is_on_device(int device_type)
{
    return device_type == MEMORY_ON_NPU || device_type == MEMORY_ON_CUDA;
}

static inline enum memory_source memory_source_of(const struct framework_memory *m, size_t row)
{
    return m->component[row] == COMPONENT_WORKSPACE ? MEMORY_OF_WORKSPACE : MEMORY_OF_FRAMEWORK;
}

/* Wall-clock ns of a row of the host's op_memory. */
static inline int64_t graph_memory_ns(const struct profile *p, size_t row)
{
    return source_host_ns(&p->host.source, p->host.records.op_memory.time[row]);
}

#endif
