/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_npu_parts.h"

#include "collect/ring/ring.h"

/* ---- scheduling ---- */

/* In the order of time. The types of the main phases come first, then those of all others, as in the engine. */
static const struct {
    uint32_t type;
    enum npu_what what;
    const char *name;
} phases[NPU_PHASES_ALL] = {
    { 0x10001, NPU_GRAPH, "InferShape" },  { 0x10008, NPU_PHASES, "CalcTensorSizeFromShape" },
    { 0x10003, NPU_GRAPH, "Tiling" },      { 0x10009, NPU_PHASES, "AllocMemHbm" },
    { 0x1000A, NPU_PHASES, "FreeMemory" },
};

void npu_graph_types_name(void)
{
    for (unsigned i = 0; i < NPU_PHASES_ALL; i++)
        ascope_type_name(LEVEL_NODE, phases[i].type, phases[i].name);
}

static void phase_pass(struct npu_schedule *s, unsigned i, struct npu_times *times)
{
    if (!(s->what & phases[i].what))
        return;
    s->begin[i] = npu_now(times);
    s->end[i] = npu_now(times);
}

void npu_schedule_begin(struct npu_schedule *s, uint64_t what, bool is_graph, struct npu_times *times)
{
    s->what = is_graph ? what & (NPU_GRAPH | NPU_PHASES) : 0;
    for (unsigned i = 0; i < NPU_PHASES_BEFORE; i++)
        phase_pass(s, i, times);
}

void npu_schedule_end(struct npu_schedule *s, struct npu_times *times, uint64_t name)
{
    for (unsigned i = 0; i < NPU_PHASES_ALL; i++) {
        if (i >= NPU_PHASES_BEFORE)
            phase_pass(s, i, times);
        if (s->what & phases[i].what)
            ascope_call(LEVEL_NODE, phases[i].type, s->begin[i], s->end[i], name);
    }
}

/* ---- loading ---- */

static void fusion_put(const struct ascope_sim_node *n, uint64_t name, uint64_t time)
{
    struct fused f = { .name = name,
                       .n = n->n_from < FUSION_MOST ? n->n_from : FUSION_MOST,
                       .in = n->in_bytes,
                       .out = n->out_bytes,
                       .weight = n->weight_bytes,
                       .workspace = n->workspace_bytes };
    uint8_t rec[256];
    for (uint32_t i = 0; i < f.n; i++)
        f.from[i] = npu_name(n->from[i]);
    record_head(rec, KIND_FUSION, ring_thread(), time);
    record_fusion(rec, &f);
    npu_host_put(KIND_FUSION, rec);
}

/* A result lives until the next operator, workspace memory only during its own operator. */
static void memory_put(const struct ascope_sim_node *n, const struct graph_memory *p, uint64_t time)
{
    struct graph_memory one = *p;
    uint8_t rec[256];
    for (int i = 0; i < 2; i++) {
        one.bytes = i == 0 ? n->out_bytes : n->workspace_bytes;
        one.end = p->begin + (i == 0);
        if (one.bytes == 0)
            continue;
        record_head(rec, KIND_STATIC_MEMORY, ring_thread(), time);
        record_graph_memory(rec, &one);
        npu_host_put(KIND_STATIC_MEMORY, rec);
    }
}

void ascope_sim_graph_load(uint32_t model, const char *name, const struct ascope_sim_node *nodes, uint32_t n)
{
    const uint64_t what = npu_what(NPU_TASKS | NPU_MEMORY);
    struct npu_times times = { 0 };
    const uint64_t begin = what ? npu_now(&times) : 0;
    uint8_t rec[256];
    npu_lock();
    npu_points_fuse(nodes, n);
    npu_unlock();
    if (!what)
        return;
    record_head(rec, KIND_GRAPH, ring_thread(), npu_now(&times));
    record_graph(rec, npu_name(name ? name : "graph"), model, model);
    npu_host_put(KIND_GRAPH, rec);
    struct graph_memory p = { .graph = model };
    for (uint32_t i = 0; i < n; i++)
        p.allocated += nodes[i].out_bytes + nodes[i].workspace_bytes;
    for (uint32_t i = 0; i < n; i++) {
        p.name = npu_name(nodes[i].name);
        p.begin = i;
        if ((what & NPU_NODES) && nodes[i].n_from > 0)
            fusion_put(&nodes[i], p.name, npu_now(&times));
        if (what & NPU_MEMORY)
            memory_put(&nodes[i], &p, npu_now(&times));
    }
    if (what & NPU_TASKS) {
        record_call(rec, LEVEL_MODEL, TYPE_MODEL_LOAD, ring_thread(), 0, begin, npu_now(&times), model);
        npu_host_put(KIND_CALL, rec);
    }
}
