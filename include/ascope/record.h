/* record.h - what the program does, told while it does it: operators, memory, Python, garbage, the queue to the device.
 *
 * For any thread, and for signal handlers. No lock, no system call, no allocation: a thread gets its memory with the first
 * record of a session. A record that finds no room is counted and dropped. While nothing is recorded a call is one load and one
 * branch. Times are ascope_now(): ticks of the CPU's counter, or ns where it cannot be trusted.
 */
#ifndef ASCOPE_RECORD_H
#define ASCOPE_RECORD_H

#include "ascope/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ascope_recorded {
    ASCOPE_RECORDS_OPERATORS = 1, /* operators and the queue */
    ASCOPE_RECORDS_MEMORY = 2,
    ASCOPE_RECORDS_PYTHON = 4,
    ASCOPE_RECORDS_GC = 8,
    ASCOPE_RECORDS_MARKS = 16,
    ASCOPE_RECORDS_DEVICE = 32, /* calls, launches: what goes into a PROF directory */
    ASCOPE_RECORDS_SHAPES =
        64, /* types, shapes, tensors and scalars of operators; without it nobody need make the texts */
    ASCOPE_RECORDS_STACK = 128,
    ASCOPE_RECORDS_MODULES = 256
};
ASCOPE_API extern uint32_t ascope_recording; /* what is recorded now; written by sessions only */

static inline bool ascope_records(uint32_t what)
{
    return __builtin_expect((__atomic_load_n(&ascope_recording, __ATOMIC_RELAXED) & what) != 0, 0);
}

ASCOPE_API uint64_t ascope_now(void);

/* A text with its length; { NULL, 0 }: none. */
struct ascope_text {
    const char *at;
    uint32_t n;
};
static inline struct ascope_text ascope_text_of(const char *s) /* lends it; NULL: none */
{
    struct ascope_text text = { s, s ? (uint32_t)__builtin_strlen(s) : 0 };
    return text;
}

enum ascope_scope { ASCOPE_SCOPE_FUNCTION = 0, ASCOPE_SCOPE_BACKWARD = 1, ASCOPE_SCOPE_USER = 7 };

/* An operator, or a range that the user named. The caller keeps it between begin and end, which may be on different threads.
 * Texts are read at the end, and only those that the session wants; docs/collector.md has their grammar. */
struct ascope_op {
    uint64_t begin; /* 0: was not recorded when it began, and is not when it ends */
    int64_t sequence;
    uint64_t begin_thread;   /* 0: that of the end */
    uint64_t forward_thread; /* of a backward operator; 0: none */
    uint8_t scope;           /* enum ascope_scope */
    bool is_async;
    uint32_t
        frame; /* the innermost call, from ascope_frame(), instead of `stack`; 0: none. It is of the thread that ends the operator */
    struct ascope_text name, types, shapes, tensors, tensor_lists, scalars, stack, modules, more;
};
/* Shapes, stacks or modules of operators are recorded as well until the recording stops, although it was not set up for them: those that
 * have them are of threads that asked. */
ASCOPE_API void ascope_record_also(uint32_t what);
ASCOPE_API void ascope_op_record_begin(struct ascope_op *op);
ASCOPE_API void ascope_op_record_end(const struct ascope_op *op);

static inline void ascope_op_begin(struct ascope_op *op, const char *name)
{
    op->begin = 0;
    if (ascope_records(ASCOPE_RECORDS_OPERATORS)) {
        __builtin_memset(op, 0, sizeof *op);
        op->sequence = -1;
        op->name = ascope_text_of(name);
        ascope_op_record_begin(op);
    }
}
static inline void ascope_op_end(const struct ascope_op *op)
{
    if (__builtin_expect(op->begin != 0, 0))
        ascope_op_record_end(op);
}

/* A frame of a call stack ("train.py(12): step"), called by another one (0: the outermost): its number for operators of this thread
 * until the recording stops. Announce each once, and keep the number: the text is written once, and stacks are made of it by the
 * library's thread. 0: stacks are not recorded, or there is no room; the caller may try again. */
ASCOPE_API uint32_t ascope_frame(uint32_t caller, struct ascope_text text);

/* The queue between the thread that calls operators and the one that launches them. */
enum ascope_queue_point { ASCOPE_ENQUEUE_BEGIN, ASCOPE_ENQUEUE_END, ASCOPE_DEQUEUE_BEGIN, ASCOPE_DEQUEUE_END };
ASCOPE_API void ascope_queue_point(enum ascope_queue_point point, uint64_t id, struct ascope_text name);

/* An allocator took or gave back a block. */
enum ascope_memory_event { ASCOPE_MALLOC, ASCOPE_FREE, ASCOPE_BLOCK_FREE };
enum ascope_device_type { ASCOPE_ON_CPU = 0, ASCOPE_ON_NPU = 20 };
struct ascope_memory {
    uint64_t pointer;
    int64_t size_bytes;                                    /* below 0: given back */
    int64_t allocated_bytes, reserved_bytes, active_bytes; /* afterwards */
    int64_t stream;
    uint8_t device_type, device, event; /* enum ascope_device_type, index, enum ascope_memory_event */
    bool is_workspace;
};
ASCOPE_API void ascope_memory(const struct ascope_memory *m);

/* Python: what a key means (once for each), calls and returns by key, parameters of modules and optimizers. */
enum ascope_python_event { ASCOPE_PYTHON_CALL, ASCOPE_PYTHON_RETURN, ASCOPE_PYTHON_C_CALL, ASCOPE_PYTHON_C_RETURN };
ASCOPE_API void ascope_python_key(uint64_t key, struct ascope_text text);
ASCOPE_API void ascope_python_event(enum ascope_python_event event, uint64_t key);
ASCOPE_API void ascope_python_event_at(enum ascope_python_event event, uint64_t key, uint64_t time, uint64_t thread);
ASCOPE_API void ascope_python_parameters(uint64_t key, bool of_optimizer, struct ascope_text text);
ASCOPE_API void ascope_python_gc(uint64_t begin, uint64_t end);

/* A call into the software below the framework: level and type as the raw format numbers them, names by ascope_type_name() and
 * ascope_name(). */
ASCOPE_API void ascope_call(uint16_t level, uint32_t type, uint64_t begin, uint64_t end, uint64_t item);
ASCOPE_API uint64_t
ascope_name(struct ascope_text text); /* its number in records; the text is recorded once a session */
ASCOPE_API void ascope_type_name(uint16_t level, uint32_t type, const char *name);

#ifdef __cplusplus
}
#endif
#endif
