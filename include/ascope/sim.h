/* sim.h - the simulated NPU: streams, kernels, copies, collectives and memory that exist in time only.
 *
 * For machines without an accelerator: demonstrations, tests, teaching. It computes nothing; it takes the time that such work
 * takes on a device, asynchronously to the host, and writes what a real device would have written. Everything it
 * produces is labelled simulated. A session with the device "sim" records it; without a session it runs all the same, unrecorded.
 *
 * Launching returns at once unless the stream's queue is full. For any thread.
 */
#ifndef ASCOPE_SIM_H
#define ASCOPE_SIM_H

#include "ascope/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ascope_sim_stream;
struct ascope_sim_event;

/* Streams of a device, which is there from the first use on. NULL as a stream: the device's first one. */
ASCOPE_API struct ascope_sim_stream *ascope_sim_stream_new(unsigned device); /* NULL also: 16 devices, 1024 streams */
ASCOPE_API void ascope_sim_stream_free(struct ascope_sim_stream *s);         /* after everything in it has run */

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

/* A kernel: "MatMul", "Add", ... A type that the cost model does not know costs as much as reading its inputs and writing its
 * outputs. The name of the operator is what op_summary shows; NULL: made from the type. */
struct ascope_sim_kernel {
    const char *type, *name;
    const struct ascope_sim_tensor *in, *out;
    uint32_t n_in, n_out;
};
ASCOPE_API void ascope_sim_launch(struct ascope_sim_stream *s, const struct ascope_sim_kernel *k);

enum ascope_sim_copy { ASCOPE_SIM_HOST_TO_DEVICE = 1, ASCOPE_SIM_DEVICE_TO_HOST = 2, ASCOPE_SIM_DEVICE_TO_DEVICE = 3 };
ASCOPE_API void ascope_sim_copy(struct ascope_sim_stream *s, enum ascope_sim_copy direction, uint64_t bytes);

/* A collective of all ranks of the job ($RANK, $WORLD_SIZE, $MASTER_PORT): it begins on the device when the last rank has come.
 * "HcclAllReduce" or "AllReduce", AllGather, ReduceScatter, Broadcast, Send, AlltoAll; another name is taken for the first. A rank
 * that has ended, or does not come in time, is told as a message, and the others go on without it. */
ASCOPE_API void ascope_sim_collective(struct ascope_sim_stream *s, const char *name, const char *group, uint64_t bytes,
                                      enum ascope_sim_type type);

ASCOPE_API struct ascope_sim_event *ascope_sim_event_new(void);
ASCOPE_API void ascope_sim_event_free(struct ascope_sim_event *e);
ASCOPE_API void ascope_sim_event_record(struct ascope_sim_event *e, struct ascope_sim_stream *s);
ASCOPE_API void ascope_sim_event_wait(struct ascope_sim_event *e,
                                      struct ascope_sim_stream *s); /* s waits, not the caller */

ASCOPE_API void ascope_sim_synchronize(struct ascope_sim_stream *s); /* the caller waits; NULL: for all of device 0 */

/* Operators of a framework, run on the simulated device: what computes becomes a kernel or a copy there, by a table of PyTorch's names
 * ("aten::addmm" is a MatMulV3), through a queue to a thread that launches it. What such an operator calls is part of it. Others become
 * a kernel of their own name if they call nothing, and their result is in memory that none of their inputs has, or they write in
 * place (their name ends in "_"): views compute nothing. Begin and end are called on one thread, the inner before the outer. */
enum { ASCOPE_SIM_OP_INPUTS = 12, ASCOPE_SIM_OP_OUTPUTS = 4 }; /* further ones need not be told */
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
    bool wants_tensors; /* said by begin: only then need what follows be filled in */
    /* the caller's: inputs after begin, outputs before end */
    uint32_t n_in, n_out;
    struct ascope_sim_operand in[ASCOPE_SIM_OP_INPUTS], out[ASCOPE_SIM_OP_OUTPUTS];
};
ASCOPE_API void ascope_sim_op_begin(struct ascope_sim_op *op, const char *name);
/* false: not in turn, or on another thread; those that began after it may still look at it. */
ASCOPE_API bool ascope_sim_op_end(struct ascope_sim_op *op);
ASCOPE_API void ascope_sim_ops_wait(void); /* until all that was queued by now has run */

/* A collective that a framework really carries out on the host, between begin and end: on the simulated device it begins behind the
 * operators before it, on a stream of its own, has met the other ranks when the host's has ended, and then takes the time of such a
 * transfer; operators that are told after its end run after it. So it needs no other rank, and nothing ever waits for one that has not
 * ended. 32 are open at most; further ones are not simulated. Begin and end may be called on two threads. */
struct ascope_sim_exchange {
    const char *name;     /* PyTorch's: "gloo:all_reduce" */
    const char *group;    /* one name in all ranks; NULL: of all */
    uint32_t rank, ranks; /* in the group; of 0 ranks: alone */
    int32_t peer;         /* its rank, where there is only one other; else -1 */
    uint32_t type;        /* enum ascope_sim_type */
    uint64_t bytes;
};
ASCOPE_API uint64_t ascope_sim_exchange_begin(const struct ascope_sim_exchange *x); /* 0: none, or not recorded */
ASCOPE_API void ascope_sim_exchange_end(uint64_t id);
/* Its mark alone, where no device is simulated: a range of the host, in the domain ASCOPE_COLLECTIVES (mark.h). On the device every
 * exchange has one, around its launch and on its stream. 0: not recorded. */
ASCOPE_API uint64_t ascope_sim_exchange_mark(const struct ascope_sim_exchange *x);

/* Memory of a pool: addresses that hold nothing. 0: the device has no more. */
ASCOPE_API uint64_t ascope_sim_malloc(unsigned device, uint64_t bytes);
ASCOPE_API void ascope_sim_free(unsigned device, uint64_t address);

#ifdef __cplusplus
}
#endif
#endif
