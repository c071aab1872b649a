/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - what the program does, recorded while it does it: operators, memory, Python, garbage collection, the queue
 * to the device.
 *
 * Recording takes no lock, makes no system call and allocates nothing: a thread gets its memory with the first record
 * of a session. While nothing is recorded a call is one load and one branch. Times are those of ascope_now().
 *
 * Unless a function says otherwise: Errors: none; a record that finds no room, is longer than 64 KiB or has no size is
 * dropped and counted. Threads: any, and signal handlers.
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
    ASCOPE_RECORDS_DEVICE = 32, /* calls, launches: what is written into a PROF directory */
    ASCOPE_RECORDS_SHAPES = 64, /* types, shapes, tensors and scalars of operators; else their texts need not be made */
    ASCOPE_RECORDS_STACK = 128,
    ASCOPE_RECORDS_MODULES = 256
};
ASCOPE_API extern uint32_t ascope_recording; /* what is recorded now; written by sessions only */

/* Any of `what` is recorded now.
 * Errors: none. Threads: any, and signal handlers. */
static inline bool ascope_records(uint32_t what)
{
    return __builtin_expect((__atomic_load_n(&ascope_recording, __ATOMIC_RELAXED) & what) != 0, 0);
}

/* Ticks of the CPU's counter, or ns where it cannot be trusted.
 * Errors: none. Threads: any, and signal handlers. */
ASCOPE_API uint64_t ascope_now(void);

/* A text with its length; { NULL, 0 }: none. Lent for the call. */
struct ascope_text {
    const char *at;
    uint32_t n;
};

/* The text of a string, which stays the caller's; NULL: none.
 * Errors: none. Threads: any, and signal handlers. */
static inline struct ascope_text ascope_text_of(const char *s)
{
    struct ascope_text text = { s, s ? (uint32_t)__builtin_strlen(s) : 0 };
    return text;
}

enum ascope_scope { ASCOPE_SCOPE_FUNCTION = 0, ASCOPE_SCOPE_BACKWARD = 1, ASCOPE_SCOPE_USER = 7 };

/* An operator, or a range that the user named. The caller keeps it between begin and end, which may be on different
 * threads. Texts are read at the end, and only those that the session records; docs/collector.md has their grammar. */
struct ascope_op {
    uint32_t size;  /* sizeof(struct ascope_op), set by ascope_op_begin() */
    uint32_t frame; /* the innermost call, from ascope_frame() on the thread that ends it; 0: none, or `stack` */
    uint64_t begin; /* 0: was not recorded when it began, and is not when it ends */
    int64_t sequence;
    uint64_t begin_thread;   /* 0: that of the end */
    uint64_t forward_thread; /* of a backward operator; 0: none */
    uint8_t scope;           /* enum ascope_scope */
    bool is_async;
    struct ascope_text name, types, shapes, tensors, tensor_lists, scalars, stack, modules, more;
    uint32_t label,
        label_turn; /* from ascope_op_label() on the thread that ends it, instead of name, types and shapes; 0: none */
};

/* Shapes, stacks or modules (enum ascope_recorded) are recorded as well until the recording stops, although the session
 * was not set up for them: for threads that asked for them. Without operators it is ignored. Errors: none. Threads:
 * any, and signal handlers. */
ASCOPE_API void ascope_record_also(uint32_t what);

/* The functions behind ascope_op_begin() and ascope_op_end(), for callers that fill the structure themselves, its size
 * included. Errors: without a size the operator is dropped and counted. Threads: any, and signal handlers. */
ASCOPE_API void ascope_op_record_begin(struct ascope_op *op);
ASCOPE_API void ascope_op_record_end(const struct ascope_op *op);

/* An operator begins: clears the structure, and sets size, name, sequence (-1: none), thread and time. The name is lent
 * until it ends. Errors: none; while operators are not recorded only `begin` is set, to 0. Threads: any, and signal
 * handlers. */
static inline void ascope_op_begin(struct ascope_op *op, const char *name)
{
    op->begin = 0;
    if (ascope_records(ASCOPE_RECORDS_OPERATORS)) {
        __builtin_memset(op, 0, sizeof *op);
        op->size = (uint32_t)sizeof *op;
        op->sequence = -1;
        op->name = ascope_text_of(name);
        ascope_op_record_begin(op);
    }
}

/* It ends, and is recorded if the session that was open at its begin still records.
 * Errors: dropped and counted without room. Threads: any, and signal handlers. */
static inline void ascope_op_end(const struct ascope_op *op)
{
    if (__builtin_expect(op->begin != 0, 0))
        ascope_op_record_end(op);
}

/* A frame of a call stack ("train.py(12): step"), called by another one (0: the outermost): its number for operators of
 * this thread until the recording stops. Announce each once, and keep the number: the text is written once, and stacks
 * are made of it by the library's thread. Errors: 0: stacks are not recorded, or there is no room; the caller may try
 * again. Threads: any, and signal handlers. */
ASCOPE_API uint32_t ascope_frame(uint32_t caller, struct ascope_text text);

/* Name, types and shapes of an operator that comes again and again: announced once, and from then on the library's
 * thread writes them for each operator of this thread that has the same label and label_turn, which this function sets.
 * They are worth nothing from the moment that ascope_recording_turn is another number than label_turn: such an operator
 * is dropped and counted. Errors: false: operators are not recorded, the texts are longer than 1 KiB, or there is no
 * room (after 131,072 labels there is none); the operator is as before, and records its texts. Threads: any, and signal
 * handlers. */
ASCOPE_API bool ascope_op_label(struct ascope_op *op);
ASCOPE_API extern uint32_t ascope_recording_turn; /* another one for each recording; written by sessions only */

/* What ascope_op_label() gave to an operator: its label and label_turn. */
struct ascope_label {
    uint32_t number, turn;
};

/* An operator ends that has nothing but a label and a frame (0: none), and began on this thread: the same record as
 * ascope_op_end() makes of them, by the shortest way. `begin` is from ascope_now(), after the label was looked up.
 * Errors: dropped and counted without room, or with a label of another recording. Threads: any, and signal handlers. */
ASCOPE_API void ascope_op_again(struct ascope_label label, uint64_t begin, int64_t sequence, uint64_t forward_thread,
                                uint32_t frame, uint8_t scope);

enum ascope_queue_point { ASCOPE_ENQUEUE_BEGIN, ASCOPE_ENQUEUE_END, ASCOPE_DEQUEUE_BEGIN, ASCOPE_DEQUEUE_END };

/* The queue between the thread that calls operators and the one that launches them.
 * Errors: dropped and counted without room. Threads: any, and signal handlers. */
ASCOPE_API void ascope_queue_point(enum ascope_queue_point point, uint64_t id, struct ascope_text name);

enum ascope_memory_event { ASCOPE_MALLOC, ASCOPE_FREE, ASCOPE_BLOCK_FREE };
enum ascope_device_type { ASCOPE_ON_CPU = 0, ASCOPE_ON_CUDA = 1, ASCOPE_ON_NPU = 20 };
struct ascope_memory {
    uint32_t size;       /* sizeof(struct ascope_memory) */
    uint8_t device_type; /* enum ascope_device_type */
    uint8_t device;      /* index */
    uint8_t event;       /* enum ascope_memory_event */
    bool is_workspace;
    uint64_t pointer;
    int64_t size_bytes;                                    /* below 0: given back */
    int64_t allocated_bytes, reserved_bytes, active_bytes; /* afterwards */
    int64_t stream;
};

/* An allocator took or gave back a block.
 * Errors: dropped and counted without room, or without a size. Threads: any, and signal handlers. */
ASCOPE_API void ascope_memory(const struct ascope_memory *m);

/* Which event of which device: the fields of struct ascope_memory, and 0 in the last one. */
struct ascope_memory_kind {
    uint8_t device_type, device, event;
    bool is_workspace;
    uint32_t unused;
};

/* The same for an event that has no stream and no active bytes, by the shortest way.
 * Errors: dropped and counted without room. Threads: any, and signal handlers. */
ASCOPE_API void ascope_memory_changed(struct ascope_memory_kind kind, uint64_t pointer, int64_t size_bytes,
                                      int64_t allocated_bytes, int64_t reserved_bytes);

enum ascope_python_event { ASCOPE_PYTHON_CALL, ASCOPE_PYTHON_RETURN, ASCOPE_PYTHON_C_CALL, ASCOPE_PYTHON_C_RETURN };

/* Python: what a key means (once for each), calls and returns by key (now, or at a time of ascope_now() on a thread),
 * parameters of modules and optimizers, and a collection of garbage from one time to another. Errors: dropped and
 * counted without room. Threads: any, and signal handlers. */
ASCOPE_API void ascope_python_key(uint64_t key, struct ascope_text text);
ASCOPE_API void ascope_python_event(enum ascope_python_event event, uint64_t key);
ASCOPE_API void ascope_python_event_at(enum ascope_python_event event, uint64_t key, uint64_t time, uint64_t thread);
ASCOPE_API void ascope_python_parameters(uint64_t key, bool of_optimizer, struct ascope_text text);
ASCOPE_API void ascope_python_gc(uint64_t begin, uint64_t end);

/* A call into the software below the framework: level and type as the raw format numbers them; `item` is 0 or from
 * ascope_name(). Errors: dropped and counted without room. Threads: any, and signal handlers. */
ASCOPE_API void ascope_call(uint16_t level, uint32_t type, uint64_t begin, uint64_t end, uint64_t item);

/* The number of a text in records; the text is recorded once a session. Errors: none; without room the text is counted
 * as dropped, and recorded with its next use. Threads: any, and signal handlers. */
ASCOPE_API uint64_t ascope_name(struct ascope_text text);

/* What a type of a level is called, once a process, before or while it is recorded. The first name stays. The text is
 * copied. Errors: none; without memory, or beyond about 8000 names, the type has no name. Threads: any. */
ASCOPE_API void ascope_type_name(uint16_t level, uint32_t type, const char *name);

#ifdef __cplusplus
}
#endif
#endif
