/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - the simulated NPU: streams, kernels, copies, collectives and memory that exist in time only.
 *
 * For machines without an accelerator: demonstrations, tests, teaching. It computes nothing; it takes the time that
 * such work takes on a device, asynchronously to the host, and writes what a real device would have written. Everything
 * it produces is labelled simulated. A session with the device "sim" records it; without a session it runs all the
 * same, unrecorded.
 *
 * UNSTABLE: not part of what docs/abi.md promises. Structures have no size, and everything here may change with each
 * minor version. The symbols carry that version: a program that was built for another one is refused by the loader, and
 * has to be built again.
 *
 * Launching returns at once unless the stream's queue is full.
 */
#ifndef ASCOPE_SIM_H
#define ASCOPE_SIM_H

#include "ascope/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ascope_sim_stream;
struct ascope_sim_event;

/* Streams of a device, which exists from the first use on. NULL as a stream: the device's first one. Free waits until
 * everything in the stream has run. Errors: NULL: beyond 16 devices or 1024 streams, or no memory. Threads: any. */
ASCOPE_API struct ascope_sim_stream *ascope_sim_stream_new(unsigned device);
ASCOPE_API void ascope_sim_stream_free(struct ascope_sim_stream *s);

enum { ASCOPE_SIM_DIMS = 8 };
enum ascope_sim_type {
    ASCOPE_SIM_FLOAT = 0,
    ASCOPE_SIM_FLOAT16 = 1,
    ASCOPE_SIM_INT8 = 2,
    ASCOPE_SIM_INT32 = 3,
    ASCOPE_SIM_UINT8 = 4,
    ASCOPE_SIM_INT16 = 6,
    ASCOPE_SIM_UINT16 = 7,
    ASCOPE_SIM_UINT32 = 8,
    ASCOPE_SIM_INT64 = 9,
    ASCOPE_SIM_UINT64 = 10,
    ASCOPE_SIM_DOUBLE = 11,
    ASCOPE_SIM_BOOL = 12,
    ASCOPE_SIM_COMPLEX64 = 16,
    ASCOPE_SIM_COMPLEX128 = 17,
    ASCOPE_SIM_BF16 = 27
};
struct ascope_sim_tensor {
    uint32_t type; /* enum ascope_sim_type */
    uint32_t n_dims;
    uint32_t dim[ASCOPE_SIM_DIMS];
};

struct ascope_sim_kernel {
    const char *type, *name;
    const struct ascope_sim_tensor *in, *out;
    uint32_t n_in, n_out;
};

/* Launches a kernel: "MatMul", "Add", ... A type that the cost model does not know costs as much as reading its inputs
 * and writing its outputs. The name of the operator is what op_summary shows; NULL: made from the type. Errors: none;
 * without memory the kernel is not run. Threads: any. */
ASCOPE_API void ascope_sim_launch(struct ascope_sim_stream *s, const struct ascope_sim_kernel *k);

enum ascope_sim_copy { ASCOPE_SIM_HOST_TO_DEVICE = 1, ASCOPE_SIM_DEVICE_TO_HOST = 2, ASCOPE_SIM_DEVICE_TO_DEVICE = 3 };

/* Launches a copy.
 * Errors: none; without memory it is not run. Threads: any. */
ASCOPE_API void ascope_sim_copy(struct ascope_sim_stream *s, enum ascope_sim_copy direction, uint64_t bytes);

/* A collective of all ranks of the job ($RANK, $WORLD_SIZE, $MASTER_PORT): it begins on the device when the last rank
 * has joined. "HcclAllReduce" or "AllReduce", AllGather, ReduceScatter, Broadcast, Send, AlltoAll; another name counts
 * as the first. Errors: a rank that has ended, or does not join in time, is reported as a message, and the others
 * continue without it. Threads: any. */
ASCOPE_API void ascope_sim_collective(struct ascope_sim_stream *s, const char *name, const char *group, uint64_t bytes,
                                      enum ascope_sim_type type);

enum { ASCOPE_SIM_FUSED = 8 }; /* further ones are left out */
struct ascope_sim_node {       /* an operator of a graph */
    const char *name;
    const char *const *from; /* names of the operators that it was fused from */
    uint32_t n_from;         /* 0: it was not */
    uint64_t in_bytes, out_bytes, weight_bytes, workspace_bytes;
};

/* A graph is loaded: its operators in the order of their execution, with the memory that was planned for them. Recorded
 * are the call (task_time), which operators were fused (from l1 on), and their memory (task_memory); fp_point and
 * bp_point find an operator by the names that it was fused from, too. Errors: none. Threads: any. */
ASCOPE_API void ascope_sim_graph_load(uint32_t model, const char *name, const struct ascope_sim_node *nodes,
                                      uint32_t n);

/* An iteration of a graph begins and ends on a stream, NULL: the device's first one. Operators launched in between are
 * scheduled by the graph engine, one by one: ge_api records how. While training_trace is recorded, the device stamps
 * its begin and end, where its forward part began and where its backward part ended (fp_point, bp_point), its
 * all-reduces and its operators GetNext, 64 of each. Errors: none; one that is not ended is not recorded. Threads: any;
 * one iteration of a device at a time. */
ASCOPE_API void ascope_sim_iteration_begin(struct ascope_sim_stream *s, uint32_t model);
ASCOPE_API void ascope_sim_iteration_end(struct ascope_sim_stream *s, uint32_t model);

/* Events between streams: a stream reaches the event, and another stream (not the caller) waits for it.
 * Errors: NULL: no memory; an event of NULL is ignored. Threads: any. */
ASCOPE_API struct ascope_sim_event *ascope_sim_event_new(void);
ASCOPE_API void ascope_sim_event_free(struct ascope_sim_event *e);
ASCOPE_API void ascope_sim_event_record(struct ascope_sim_event *e, struct ascope_sim_stream *s);
ASCOPE_API void ascope_sim_event_wait(struct ascope_sim_event *e, struct ascope_sim_stream *s);

/* The caller waits until everything in the stream has run; NULL: in all streams of device 0.
 * Errors: none. Threads: any. */
ASCOPE_API void ascope_sim_synchronize(struct ascope_sim_stream *s);

enum { ASCOPE_SIM_OP_INPUTS = 12, ASCOPE_SIM_OP_OUTPUTS = 4 }; /* further ones are left out */
struct ascope_sim_operand {
    struct ascope_sim_tensor tensor;
    uint64_t bytes;
    const void *storage; /* which memory it is in; NULL: none */
    bool is_dense;       /* in one piece, in the order of its dimensions */
};
struct ascope_sim_op { /* the caller's memory, from begin to end */
    /* the library's */
    const char *name; /* lent */
    struct ascope_sim_op *parent;
    bool is_part, is_whole, has_parts;
    bool wants_tensors; /* set by begin: only then need what follows be filled in */
    /* the caller's: inputs after begin, outputs before end */
    uint32_t n_in, n_out;
    struct ascope_sim_operand in[ASCOPE_SIM_OP_INPUTS], out[ASCOPE_SIM_OP_OUTPUTS];
};

/* Operators of a framework, run on the simulated device: what computes becomes a kernel or a copy there, by a table of
 * PyTorch's names ("aten::addmm" is a MatMulV3), through a queue to a thread that launches it. What such an operator
 * calls is part of it. Others become a kernel of their own name if they call nothing, and their result is in memory
 * that none of their inputs has, or they write in place (their name ends in "_"): views compute nothing. Wait: until
 * all that is queued by now has run. Errors: false: ended in another order than the inner before the outer, or on
 * another thread; operators that began after it may still read the structure. Threads: any; begin and end of an
 * operator on the same one. */
ASCOPE_API void ascope_sim_op_begin(struct ascope_sim_op *op, const char *name);
ASCOPE_API bool ascope_sim_op_end(struct ascope_sim_op *op);
ASCOPE_API void ascope_sim_ops_wait(void);

struct ascope_sim_exchange {
    const char *name;     /* PyTorch's: "gloo:all_reduce" */
    const char *group;    /* one name in all ranks; NULL: of all */
    uint32_t rank, ranks; /* in the group; of 0 ranks: alone */
    int32_t peer;         /* its rank, where there is only one other; else -1 */
    uint32_t type;        /* enum ascope_sim_type */
    uint64_t bytes;
};

/* A collective that a framework really carries out on the host, between begin and end: on the simulated device it
 * begins behind the operators before it, on a stream of its own, has met the other ranks when the host's has ended, and
 * then takes the time of such a transfer; operators that end after its end run after it. So it needs no other rank, and
 * nothing ever waits for one that has not ended. Errors: 0: not recorded, not a collective, or 32 are open; an id of 0
 * or that has ended is ignored. Threads: any; begin and end may be on two. */
ASCOPE_API uint64_t ascope_sim_exchange_begin(const struct ascope_sim_exchange *x);
ASCOPE_API void ascope_sim_exchange_end(uint64_t id);

/* Its mark alone, where no device is simulated: a range of the host, in the domain ASCOPE_COLLECTIVES (mark.h). On the
 * device every exchange has one, around its launch and on its stream. Errors: 0: not recorded. Threads: any. */
ASCOPE_API uint64_t ascope_sim_exchange_mark(const struct ascope_sim_exchange *x);

/* Memory of a pool: addresses that hold nothing.
 * Errors: 0: the device has no more; free ignores addresses that are not allocated. Threads: any. */
ASCOPE_API uint64_t ascope_sim_malloc(unsigned device, uint64_t bytes);
ASCOPE_API void ascope_sim_free(unsigned device, uint64_t address);

#ifdef __cplusplus
}
#endif
#endif
