/* SPDX-License-Identifier: Apache-2.0 */
/* sim_records.h - the records of the simulated NPU: what a field of each is filled with.
 *
 * Both simulators use it, the one that writes whole collections and the one that runs in a program. A function fills
 * the bytes of one record, as long as its layout says; where they go is the caller's business.
 */
#ifndef ASCOPE_SIM_DEVICE_SIM_RECORDS_H
#define ASCOPE_SIM_DEVICE_SIM_RECORDS_H

#include "sim/device/sim_tables.h"
#include "raw/device_records.h"
#include "raw/host_records.h"
#include "raw/name_hash.h"

/* Puts several fields of a record at once: record_fill(l, rec, { FIELD, value }, …). In which order the values are
 * computed is not defined. */
struct record_value {
    unsigned field;
    uint64_t value;
};
#define record_fill(layout, rec, ...)                                                                                  \
    record_put(layout, rec, (const struct record_value[]){ __VA_ARGS__ },                                              \
               sizeof((const struct record_value[]){ __VA_ARGS__ }) / sizeof(struct record_value))
void record_put(const struct layout *l, uint8_t *rec, const struct record_value *v, size_t n);

/* ---- the host ---- */
enum host_kind {
    KIND_CALL,
    KIND_NODE,
    KIND_ATTR,
    KIND_TRACK,
    KIND_MEMCPY,
    KIND_HCCL_OP,
    KIND_CAPTURE,
    KIND_CAPTURED,
    KIND_TENSOR,
    KIND_CONTEXT,
    KIND_HCCL,
    KIND_MC2,
    KIND_MARK,
    KIND_MEMORY,
    KIND_THREADS,
    KIND_FUSION,
    KIND_GRAPH,
    KIND_STATIC_MEMORY,
    KIND_LOGIC,
    KIND_TEXT, /* not a record */
    HOST_KINDS
};
struct host_kind_row {
    const struct layout *layout; /* NULL: text */
    uint16_t level;
    uint32_t type, data_len;
};
extern const struct host_kind_row host_kinds[HOST_KINDS];

void record_call(uint8_t *rec, uint16_t level, uint32_t type, uint32_t thread, uint32_t request, uint64_t begin,
                 uint64_t end, uint64_t item);
void record_head(uint8_t *rec, enum host_kind kind, uint32_t thread, uint64_t time); /* the head; the rest is zero */

struct node {
    uint64_t name, type; /* hashes */
    uint32_t node_type, blocks, flag;
};
void record_node(uint8_t *rec, const struct node *n);
void record_attributes(uint8_t *rec, uint64_t name, uint64_t text);
void record_context(uint8_t *rec, uint64_t name); /* the one context of a mixed operator */

/* Values of prof-records, A.9. */
enum { TYPE_FLOAT = 0, TYPE_FLOAT16 = 1, TYPE_INT64 = 9, TYPE_BF16 = 27 };
enum { FORMAT_NCHW = 0, FORMAT_ND = 2, FORMAT_NC1HWC0 = 3, FORMAT_FRACTAL_Z = 4, FORMAT_FRACTAL_NZ = 29 };
struct node_tensor {
    uint32_t direction, format, data_type, shape[TENSOR_DIMS];
};
void record_tensor(uint8_t *at, const struct node_tensor *t); /* TENSOR_BYTES of a record */
void record_tensors(uint8_t *rec, uint64_t name, const struct node_tensor *t, unsigned n); /* at most TENSOR_MOST */

struct sim_launch { /* what a runtime call hands to the device */
    enum task_kind kind;
    uint16_t blocks;
    uint64_t kernel; /* hash; 0: not a kernel */
};
void record_track(uint8_t *rec, unsigned device, uint16_t stream, uint32_t task_and_batch, const struct sim_launch *l);
void record_track_flip(uint8_t *rec, unsigned device, uint16_t stream, uint16_t batch);

enum { COPY_TO_DEVICE = 1, COPY_TO_HOST = 2, COPY_ON_DEVICE = 3 };
void record_memcpy(uint8_t *rec, uint64_t bytes, uint16_t direction);

struct memory_change {
    uint64_t address, bytes, name, allocated, reserved;
    unsigned device;
    bool is_release;
};
void record_memory(uint8_t *rec, const struct memory_change *m);

void record_graph(uint8_t *rec, uint64_t name, uint32_t graph, uint32_t model); /* one that was loaded */
struct fused {                        /* an operator of a graph that was made of others */
    uint64_t name, from[FUSION_MOST]; /* hashes */
    uint32_t n;
    uint64_t in, out, weight, workspace; /* bytes */
};
void record_fusion(uint8_t *rec, const struct fused *f);
struct graph_memory { /* memory of an operator of a graph, from its step in the order of execution to another one */
    uint64_t name, bytes, begin, end, allocated;
    uint32_t graph;
};
void record_graph_memory(uint8_t *rec, const struct graph_memory *p);

struct comm_part { /* a small task of a collective */
    enum small what;
    unsigned plane;
    uint32_t rank, remote, ranks, link, data_type;
    uint64_t name, group, tag; /* hashes: of the part, of the group, of the collective */
    uint64_t bytes, notify;
};
void record_comm_part(uint8_t *rec, const struct comm_part *c);
/* "hcom_allReduce__123_1_1": of the last digits of the group's hash, and the number of the collective. */
void comm_name_make(char *out, size_t size, const char *node, uint64_t group, uint64_t number);
void record_comm(uint8_t *rec, bool is_relayed, uint32_t data_type, uint64_t alg, uint64_t count, uint64_t group);

/* ---- the device ---- */

/* The log has two records of a task; in between are those of its context, where it has one. */
enum sim_stage { STAGE_BEGIN, STAGE_CONTEXT_BEGIN, STAGE_CONTEXT_END, STAGE_END, STAGES };
uint64_t stage_tick(enum sim_stage s, uint64_t begin, uint64_t end);
enum sim_stage stage_next(enum sim_stage s, enum task_kind kind); /* STAGES: it was the last one */
void record_log(uint8_t *rec, uint32_t number, uint16_t stream, uint16_t task, enum task_kind kind, enum sim_stage s,
                uint64_t tick);

void record_flip(uint8_t *rec, uint64_t tick, uint16_t stream, uint16_t batch);
struct stamp {
    uint64_t tick, index;
    uint32_t model, task;
    uint16_t stream, tag;
};
void record_stamp(uint8_t *rec, const struct layout *l, const struct stamp *s);

/* Counters of a task, or of one block of it. */
struct counted {
    uint16_t stream, task;
    enum task_kind kind;
    bool is_cube; /* which cores counted */
    uint32_t bits;
    uint64_t begin, end; /* of the task */
    uint64_t cycles, event[PMU_COUNTERS];
};
void record_counted(uint8_t *rec, const struct layout *l, uint32_t number, const struct counted *c);
enum { BITS_VECTOR = 1 << FFTS_TYPE_SHIFT, BITS_MIX = FFTS_TYPE_MIX << FFTS_TYPE_SHIFT };
unsigned events_count(const char *events); /* of a list with commas */

/* How an AI CPU spent its time: submitted, scheduled, copied, ran. */
struct aicpu_run {
    uint16_t stream, task;
    uint64_t begin, end, tick0; /* ticks; tick0: when the device's clock in us was 0 */
    uint32_t mhz, copy_us, dispatch_us;
};
void record_aicpu(uint8_t *rec, const struct aicpu_run *r);

/* Six events of the L2 cache, or of the address translation, that a task caused. `type` is that of its log. */
struct task_counted {
    uint16_t stream;
    uint32_t task;
    uint8_t type;
    const uint64_t *event;
};
void record_l2(uint8_t *rec, const struct task_counted *c);
void record_smmu(uint8_t *rec, const struct layout *l, const struct task_counted *c, uint32_t data_type);

/* ---- samplers ---- */
void record_traffic(uint8_t *rec, const struct layout *l, uint64_t us, uint64_t count, uint32_t event, uint32_t unit);
void record_module_memory(uint8_t *rec, uint64_t time, uint32_t module, uint64_t bytes);

#endif
