/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/record.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "collect/options/sized.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/record_text.h"
#include "collect/ring/ring.h"
#include "collect/ring/ring_inline.h"
#include "collect/session/host_clock.h"
#include "collect/session/listeners.h"
#include "collect/session/recording.h"
#include "collect/write/name_dictionary.h"

uint32_t ascope_recording;
_Atomic uint32_t recording_process;
_Atomic uint64_t recording_began;
uint32_t ascope_recording_turn;
_Atomic uint32_t recording_frames;
_Atomic uint64_t recording_step;
uint64_t recording_marks_from;

void recording_prepare(void)
{
    atomic_store_explicit(&recording_process, (uint32_t)getpid(),
                          memory_order_relaxed); /* threads of a warm-up read it */
    atomic_store_explicit(&recording_began, host_clock_now(), memory_order_relaxed);
    __atomic_fetch_add(&ascope_recording_turn, 1, __ATOMIC_SEQ_CST);
    atomic_store(&recording_step, 0);
    ms_memory_begin();
}

void recording_set(uint32_t what)
{
    __atomic_store_n(&ascope_recording, what,
                     __ATOMIC_RELEASE); /* after what recording_prepare() and others have set */
}

/* ---- texts behind the fixed part ---- */

static inline size_t number_bytes(uint32_t number)
{
    return number ? sizeof(struct op_number_bytes) : 0;
}

static inline uint8_t *number_put(uint8_t *at, uint16_t type, uint32_t number)
{
    if (number == 0)
        return at;
    *(struct op_number_bytes *)at = (struct op_number_bytes){ { type, sizeof number }, number };
    return at + sizeof(struct op_number_bytes);
}

static struct tlv_bytes tlv_of(uint16_t type, size_t bytes)
{
    return (struct tlv_bytes){ type, (uint32_t)(bytes - sizeof(struct tlv_bytes)) };
}

/* ---- operators ---- */

void ascope_record_also(uint32_t what)
{
    uint32_t now = __atomic_load_n(&ascope_recording, __ATOMIC_RELAXED);
    what &= ASCOPE_RECORDS_SHAPES | ASCOPE_RECORDS_STACK | ASCOPE_RECORDS_MODULES;
    while (now & ASCOPE_RECORDS_OPERATORS && (now & what) != what) /* a stop in between stays one */
        if (__atomic_compare_exchange_n(&ascope_recording, &now, now | what, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
}

void ascope_op_record_begin(struct ascope_op *op)
{
    op->begin_thread = ring_thread_inline();
    op->begin = host_clock_now(); /* last: what the library does is not the operator's */
}

#define ROWS(table) (sizeof(table) / sizeof *(table))

/* Texts of an operator, and what has to be asked for besides operators. A label stands for the first ones. */
enum { LABEL_TEXTS = 3 };
static const struct {
    uint16_t type, at;
    uint32_t needs;
} op_texts[] = {
    { TORCH_TEXT_NAME, offsetof(struct ascope_op, name), 0 },
    { TORCH_TEXT_TYPES, offsetof(struct ascope_op, types), ASCOPE_RECORDS_SHAPES },
    { TORCH_TEXT_SHAPES, offsetof(struct ascope_op, shapes), ASCOPE_RECORDS_SHAPES },
    { TORCH_TEXT_TENSORS, offsetof(struct ascope_op, tensors), ASCOPE_RECORDS_SHAPES },
    { TORCH_TEXT_TENSOR_LISTS, offsetof(struct ascope_op, tensor_lists), ASCOPE_RECORDS_SHAPES },
    { TORCH_TEXT_SCALARS, offsetof(struct ascope_op, scalars), ASCOPE_RECORDS_SHAPES },
    { TORCH_TEXT_STACK, offsetof(struct ascope_op, stack), ASCOPE_RECORDS_STACK },
    { TORCH_TEXT_MODULES, offsetof(struct ascope_op, modules), ASCOPE_RECORDS_MODULES },
    { TORCH_TEXT_FLOPS, offsetof(struct ascope_op, more), 0 },
};

struct op_text {
    uint16_t type;
    struct ascope_text text;
};

static inline __attribute__((always_inline)) void op_put(const struct ascope_op *op, uint64_t end,
                                                         const struct op_text *some, size_t n)
{
    size_t bytes = sizeof(struct op_bytes) + number_bytes(op->label) + number_bytes(op->frame);
    for (size_t i = 0; i < n; i++)
        bytes += record_text_bytes(some[i].text);
    const struct ring_slot slot = ring_put_inline(STREAM_TORCH_OP, bytes);
    if (!slot.at)
        return;
    const uint32_t thread = ring_thread_inline();
    *(struct op_bytes *)slot.at = (struct op_bytes){
        .tlv = tlv_of(TLV_OPERATOR, bytes),
        .begin = op->begin,
        .end = end,
        .sequence = op->sequence,
        .process = recording_process_id(),
        .thread = op->begin_thread ? op->begin_thread : thread,
        .end_thread = thread,
        .forward_thread = op->forward_thread,
        .scope = op->scope,
        .is_async = op->is_async,
    };
    uint8_t *at = slot.at + sizeof(struct op_bytes);
    at = number_put(at, TORCH_LABEL, op->label);
    at = number_put(at, TORCH_FRAME, op->frame);
    for (size_t i = 0; i < n; i++)
        at = record_text_put(at, some[i].type, some[i].text);
    ring_done_inline(slot);
}

static __attribute__((noinline)) void op_put_shapes(const struct ascope_op *op, uint64_t end)
{
    const struct op_text some[] = { { TORCH_TEXT_NAME, op->name },
                                    { TORCH_TEXT_TYPES, op->types },
                                    { TORCH_TEXT_SHAPES, op->shapes } };
    op_put(op, end, some, ROWS(some));
}

static __attribute__((noinline)) void op_put_texts(const struct ascope_op *op, uint64_t end, uint32_t what)
{
    struct op_text some[ROWS(op_texts)];
    size_t n = 0;
    for (size_t i = op->label ? LABEL_TEXTS : 0; i < ROWS(op_texts); i++) {
        const struct ascope_text *text = (const struct ascope_text *)((const char *)op + op_texts[i].at);
        if (text->n > 0 && (op_texts[i].needs & ~what) == 0)
            some[n++] = (struct op_text){ op_texts[i].type, *text };
    }
    op_put(op, end, some, n);
}

/* The label and the frame alone: a struct op_short_bytes, put together in registers. */
static inline __attribute__((always_inline)) void op_put_short(const struct ascope_op *op, uint64_t end)
{
    const uint64_t thread = ring_thread_inline();
    _Static_assert(sizeof(struct op_short_bytes) == LINE_BYTES, "seven words");
    ring_put_words_inline(
        STREAM_TORCH_OP, LINE_BYTES,
        OP_SHORT | (uint64_t)op->scope << 16 | (uint64_t)op->is_async << 24 | (uint64_t)op->label << 32, op->begin, end,
        (uint64_t)op->sequence, op->forward_thread, (op->begin_thread ? op->begin_thread : thread) | thread << 32,
        recording_process_id() | (uint64_t)op->frame << 32);
}

void ascope_op_again(struct ascope_label label, uint64_t begin, int64_t sequence, uint64_t forward_thread,
                     uint32_t frame, uint8_t scope)
{
    const uint64_t end = host_clock_now();
    if (__builtin_expect(!(__atomic_load_n(&ascope_recording, __ATOMIC_RELAXED) & ASCOPE_RECORDS_OPERATORS) ||
                             begin < atomic_load_explicit(&recording_began, memory_order_relaxed),
                         0))
        return;
    if (__builtin_expect(label.turn != __atomic_load_n(&ascope_recording_turn, __ATOMIC_RELAXED), 0)) {
        ring_put(STREAM_TORCH_OP, 0, 0); /* of an older recording: counted as dropped */
        return;
    }
    const uint64_t thread = ring_thread_inline();
    ring_put_words_inline(STREAM_TORCH_OP, LINE_BYTES, OP_SHORT | (uint64_t)scope << 16 | (uint64_t)label.number << 32,
                          begin, end, (uint64_t)sequence, forward_thread, thread | thread << 32,
                          recording_process_id() | (uint64_t)frame << 32);
}

/* Of a program with fewer fields; without a size the record is counted as dropped, as ring_put() does with one of no
 * bytes. */
static __attribute__((noinline)) void op_end_of_older(const struct ascope_op *op)
{
    struct ascope_op whole;
    if (sized_copy(&whole, sizeof whole, op))
        ascope_op_record_end(&whole);
    else
        ring_put(STREAM_TORCH_OP, 0, 0);
}

/* Mostly there is the name alone, or with types and shapes; a table of texts to be walked twice costs as much as the
 * rest. */
void ascope_op_record_end(const struct ascope_op *op)
{
    const uint64_t end = host_clock_now();
    const uint32_t what = __atomic_load_n(&ascope_recording, __ATOMIC_RELAXED);
    if (!(what & ASCOPE_RECORDS_OPERATORS) || op->begin < atomic_load_explicit(&recording_began, memory_order_relaxed))
        return;
    if (!sized_is_whole(op, sizeof *op)) {
        op_end_of_older(op);
        return;
    }
    if (what & RECORDS_AS_MINDSPORE) {
        ms_op_put(op, end, what);
        return;
    }
    const uint32_t shapes = op->types.n | op->shapes.n;
    const uint32_t others =
        op->tensors.n | op->tensor_lists.n | op->scalars.n | op->stack.n | op->modules.n | op->more.n;
    if (op->label) {
        if (op->label_turn != __atomic_load_n(&ascope_recording_turn, __ATOMIC_RELAXED))
            ring_put(STREAM_TORCH_OP, 0, 0); /* the label is of an older recording: counted as dropped */
        else if (others == 0 && op->begin_thread >> 32 == 0)
            op_put_short(op, end);
        else
            op_put_texts(op, end, what);
        return;
    }
    if ((shapes | others) == 0)
        op_put(op, end, &(struct op_text){ TORCH_TEXT_NAME, op->name }, 1);
    else if (others == 0 && what & ASCOPE_RECORDS_SHAPES)
        op_put_shapes(op, end);
    else
        op_put_texts(op, end, what);
}

/* A number for so many bytes of text, and where they go; the caller completes the record. */
static uint32_t announce(uint32_t caller, size_t text_bytes, uint32_t most, struct ring_slot *slot)
{
    if (text_bytes == 0 || atomic_load_explicit(&recording_frames, memory_order_relaxed) >= most)
        return 0;
    *slot = ring_put(STREAM_FRAME, 0, sizeof(struct frame_bytes) + text_bytes);
    if (!slot->at)
        return 0;
    const uint32_t id = atomic_fetch_add_explicit(&recording_frames, 1, memory_order_relaxed) + 1;
    *(struct frame_bytes *)slot->at = (struct frame_bytes){ id, caller, (uint32_t)text_bytes };
    return id;
}

uint32_t ascope_frame(uint32_t caller, struct ascope_text text)
{
    struct ring_slot slot;
    const uint32_t id = ascope_records(ASCOPE_RECORDS_STACK) ? announce(caller, text.n, FRAMES_MOST, &slot) : 0;
    if (id == 0)
        return 0;
    memcpy(slot.at + sizeof(struct frame_bytes), text.at, text.n);
    ring_done(slot);
    return id <= FRAMES_MOST ? id : 0;
}

bool ascope_op_label(struct ascope_op *op)
{
    const uint32_t turn = __atomic_load_n(&ascope_recording_turn, __ATOMIC_ACQUIRE); /* first: rather an old one */
    const uint32_t what = __atomic_load_n(&ascope_recording, __ATOMIC_RELAXED);
    const bool has_shapes = (what & ASCOPE_RECORDS_SHAPES) != 0;
    const struct ascope_text none = { NULL, 0 }, types = has_shapes ? op->types : none,
                             shapes = has_shapes ? op->shapes : none;
    const size_t bytes = record_text_bytes(op->name) + record_text_bytes(types) + record_text_bytes(shapes);
    struct ring_slot slot;
    if (op->size < sizeof *op || !(what & ASCOPE_RECORDS_OPERATORS) || what & RECORDS_AS_MINDSPORE ||
        bytes > LABEL_BYTES_MOST)
        return false;
    const uint32_t id = announce(0, bytes, LABELS_MOST, &slot);
    if (id == 0)
        return false;
    uint8_t *at = slot.at + sizeof(struct frame_bytes);
    at = record_text_put(at, TORCH_TEXT_NAME, op->name);
    at = record_text_put(at, TORCH_TEXT_TYPES, types);
    record_text_put(at, TORCH_TEXT_SHAPES, shapes);
    ring_done(slot);
    op->label = id;
    op->label_turn = turn;
    return true;
}

void ascope_queue_point(enum ascope_queue_point point, uint64_t id, struct ascope_text name)
{
    if (!ascope_records(ASCOPE_RECORDS_OPERATORS) || ascope_records(RECORDS_AS_MINDSPORE))
        return;
    const uint64_t time = host_clock_now();
    const size_t bytes = sizeof(struct queue_bytes) + record_text_bytes(name);
    const struct ring_slot slot = ring_put(STREAM_TORCH_QUEUE, 0, bytes);
    if (!slot.at)
        return;
    *(struct queue_bytes *)slot.at = (struct queue_bytes){
        .tlv = tlv_of(TLV_QUEUE, bytes),
        .time = time,
        .kind = point,
        .id = id,
        .thread = ring_thread(),
        .process = recording_process_id(),
    };
    record_text_put(slot.at + sizeof(struct queue_bytes), TORCH_MARK_TEXT_NAME, name);
    ring_done(slot);
}

/* ---- memory ---- */

/* A struct memory_short_bytes. */
static inline __attribute__((always_inline)) void memory_put_short(struct ascope_memory_kind of, uint64_t time,
                                                                   uint64_t pointer, int64_t size, int64_t allocated,
                                                                   int64_t reserved)
{
    const uint64_t component = of.is_workspace ? COMPONENT_WORKSPACE : COMPONENT_CACHING;
    _Static_assert(sizeof(struct memory_short_bytes) == LINE_BYTES, "seven words");
    ring_put_words_inline(STREAM_TORCH_MEMORY, LINE_BYTES,
                          MEMORY_SHORT | (uint64_t)of.device_type << 16 | (uint64_t)of.device << 24 | component << 32 |
                              (uint64_t)of.event << 40,
                          pointer, time, (uint64_t)size, (uint64_t)allocated, (uint64_t)reserved,
                          ring_thread_inline() | (uint64_t)recording_process_id() << 32);
}

static __attribute__((noinline)) void memory_put_whole(const struct ascope_memory *m, uint64_t time)
{
    const struct ring_slot slot = ring_put_inline(STREAM_TORCH_MEMORY, sizeof(struct memory_bytes));
    if (!slot.at)
        return;
    *(struct memory_bytes *)slot.at = (struct memory_bytes){
        .tlv = tlv_of(TLV_MEMORY, sizeof(struct memory_bytes)),
        .pointer = m->pointer,
        .time = time,
        .size = m->size_bytes,
        .allocated = m->allocated_bytes,
        .reserved = m->reserved_bytes,
        .active = m->active_bytes,
        .stream = m->stream,
        .device_type = m->device_type,
        .device = m->device,
        .component = m->is_workspace ? COMPONENT_WORKSPACE : COMPONENT_CACHING,
        .kind = m->event,
        .allocator = ALLOCATOR_INNER,
        .thread = ring_thread_inline(),
        .process = recording_process_id(),
    };
    ring_done_inline(slot);
}

static __attribute__((noinline)) void memory_put(const struct ascope_memory *m)
{
    const uint64_t time = host_clock_now();
    if (__builtin_expect((m->active_bytes | m->stream) == 0, 1))
        memory_put_short((struct ascope_memory_kind){ m->device_type, m->device, m->event, m->is_workspace, 0 }, time,
                         m->pointer, m->size_bytes, m->allocated_bytes, m->reserved_bytes);
    else
        memory_put_whole(m, time);
}

static __attribute__((noinline)) void memory_of_older(const struct ascope_memory *m)
{
    struct ascope_memory whole;
    if (sized_copy(&whole, sizeof whole, m))
        ascope_memory(&whole);
    else
        ring_put(STREAM_TORCH_MEMORY, 0, 0);
}

/* Small, so that it costs next to nothing while memory is not recorded. */
void ascope_memory(const struct ascope_memory *m)
{
    if (!ascope_records(ASCOPE_RECORDS_MEMORY))
        return;
    if (!sized_is_whole(m, sizeof *m))
        memory_of_older(m);
    else if (ascope_records(RECORDS_AS_MINDSPORE))
        ms_memory_put(m);
    else
        memory_put(m);
}

static __attribute__((noinline)) void memory_changed_of_mindspore(struct ascope_memory_kind of, uint64_t pointer,
                                                                  int64_t size, int64_t allocated, int64_t reserved)
{
    ms_memory_put(&(struct ascope_memory){ .size = sizeof(struct ascope_memory),
                                           .device_type = of.device_type,
                                           .device = of.device,
                                           .event = of.event,
                                           .is_workspace = of.is_workspace,
                                           .pointer = pointer,
                                           .size_bytes = size,
                                           .allocated_bytes = allocated,
                                           .reserved_bytes = reserved });
}

void ascope_memory_changed(struct ascope_memory_kind kind, uint64_t pointer, int64_t size_bytes,
                           int64_t allocated_bytes, int64_t reserved_bytes)
{
    const uint32_t what = __atomic_load_n(&ascope_recording, __ATOMIC_RELAXED);
    if (__builtin_expect(!(what & ASCOPE_RECORDS_MEMORY), 0))
        return;
    if (__builtin_expect(what & RECORDS_AS_MINDSPORE, 0))
        memory_changed_of_mindspore(kind, pointer, size_bytes, allocated_bytes, reserved_bytes);
    else
        memory_put_short(kind, host_clock_now(), pointer, size_bytes, allocated_bytes, reserved_bytes);
}

/* ---- Python ---- */

static void key_put(enum stream_id stream, uint16_t type, uint64_t key, uint16_t text_type, struct ascope_text text)
{
    const size_t bytes = sizeof(struct python_key_bytes) + record_text_bytes(text);
    const struct ring_slot slot = ring_put(stream, 0, bytes);
    if (!slot.at)
        return;
    *(struct python_key_bytes *)slot.at = (struct python_key_bytes){ tlv_of(type, bytes), key };
    record_text_put(slot.at + sizeof(struct python_key_bytes), text_type, text);
    ring_done(slot);
}

void ascope_python_key(uint64_t key, struct ascope_text text)
{
    if (ascope_records(ASCOPE_RECORDS_PYTHON))
        key_put(ascope_records(RECORDS_AS_MINDSPORE) ? STREAM_MS_KEY : STREAM_PYTHON_KEY, TLV_PYTHON_KEY, key,
                PYTHON_KEY_TEXT, text);
}

void ascope_python_parameters(uint64_t key, bool of_optimizer, struct ascope_text text)
{
    if (ascope_records(ASCOPE_RECORDS_PYTHON) && !ascope_records(RECORDS_AS_MINDSPORE))
        key_put(STREAM_PYTHON_PARAMETERS, TLV_PYTHON_PARAMETERS, key,
                of_optimizer ? PYTHON_KEY_OPTIMIZER_PARAMETERS : PYTHON_KEY_MODULE_PARAMETERS, text);
}

/* A struct python_call_bytes. */
static inline __attribute__((always_inline)) void python_event_put(uint32_t what, enum ascope_python_event event,
                                                                   uint64_t key, uint64_t time, uint64_t thread)
{
    _Static_assert(sizeof(struct python_call_bytes) == (FIVE_WORDS - 1) * 8 + 1, "four words and a byte");
    const size_t bytes = sizeof(struct python_call_bytes);
    const uint64_t process = recording_process_id();
    if (__builtin_expect(what & RECORDS_AS_MINDSPORE,
                         0)) /* whose ranges have the step; it goes along with the process */
        ring_put_words(STREAM_MS_CALL, bytes, time, thread,
                       process | atomic_load_explicit(&recording_step, memory_order_relaxed) << 32, key, (uint8_t)event,
                       0, 0);
    else
        ring_put_words_inline(STREAM_PYTHON_CALL, bytes, time, thread, process, key, (uint8_t)event, 0, 0);
}

void ascope_python_event_at(enum ascope_python_event event, uint64_t key, uint64_t time, uint64_t thread)
{
    const uint32_t what = __atomic_load_n(&ascope_recording, __ATOMIC_RELAXED);
    if (what & ASCOPE_RECORDS_PYTHON)
        python_event_put(what, event, key, time, thread);
}

void ascope_python_event(enum ascope_python_event event, uint64_t key)
{
    const uint32_t what = __atomic_load_n(&ascope_recording, __ATOMIC_RELAXED);
    if (what & ASCOPE_RECORDS_PYTHON)
        python_event_put(what, event, key, host_clock_now(), ring_thread_inline());
}

void ascope_python_gc(uint64_t begin, uint64_t end)
{
    if (!ascope_records(ASCOPE_RECORDS_GC) || ascope_records(RECORDS_AS_MINDSPORE))
        return;
    const struct ring_slot slot = ring_put(STREAM_PYTHON_GC, 0, sizeof(struct python_gc_bytes));
    if (!slot.at)
        return;
    *(struct python_gc_bytes *)slot.at = (struct python_gc_bytes){ recording_process_id(), begin, end };
    ring_done(slot);
}

/* ---- calls into the software below ---- */

void ascope_call(uint16_t level, uint32_t type, uint64_t begin, uint64_t end, uint64_t item)
{
    if (!ascope_records(ASCOPE_RECORDS_DEVICE))
        return;
    names_say_type(level, type);
    const struct ring_slot slot = ring_put(STREAM_CALL, 0, sizeof(struct call_bytes));
    if (!slot.at)
        return;
    *(struct call_bytes *)slot.at = (struct call_bytes){
        .magic = HOST_MAGIC,
        .level = level,
        .type = type,
        .thread = ring_thread(),
        .begin = begin,
        .end = end,
        .item = item,
    };
    ring_done(slot);
}
