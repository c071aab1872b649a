/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/listeners.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "collect/ring/ring_inline.h"
#include "collect/session/recording.h"

static const struct {
    uint16_t module, event;
} kinds[] = { { MS_MODULE_PYNATIVE, MS_EVENT_RUN_OP }, { MS_MODULE_PYTHON, MS_EVENT_PYTHON_OBSERVED } };

static size_t text_bytes(struct ascope_text text)
{
    return sizeof(struct tlv_bytes) + text.n;
}

static struct tlv_bytes tlv_of(uint16_t type, size_t bytes)
{
    return (struct tlv_bytes){ type, (uint32_t)(bytes - sizeof(struct tlv_bytes)) };
}

/* ---- ranges ---- */

/* "A;B": A, and B in *rest. */
static struct ascope_text first_of(struct ascope_text both, struct ascope_text *rest)
{
    const char *const semicolon = both.n > 0 ? memchr(both.at, ';', both.n) : NULL;
    if (!semicolon) {
        *rest = (struct ascope_text){ NULL, 0 };
        return both;
    }
    const uint32_t n = (uint32_t)(semicolon - both.at);
    *rest = (struct ascope_text){ semicolon + 1, both.n - n - 1 };
    return (struct ascope_text){ both.at, n };
}

static void shapes_put(const struct ascope_op *op)
{
    const size_t bytes =
        sizeof(struct tlv_bytes) + text_bytes(op->name) + text_bytes(op->shapes) + text_bytes(op->types);
    const struct ring_slot slot = ring_put_inline(STREAM_MS_SHAPES, bytes);
    if (!slot.at)
        return;
    *(struct tlv_bytes *)slot.at = tlv_of(MS_RECORD_SHAPES, bytes);
    uint8_t *at = ms_text_put(slot.at + sizeof(struct tlv_bytes), MS_SHAPES_TEXT_NAME, op->name);
    at = ms_text_put(at, MS_SHAPES_TEXT_SHAPES, op->shapes);
    ms_text_put(at, MS_SHAPES_TEXT_TYPES, op->types);
    ring_done_inline(slot);
}

void ms_op_put(const struct ascope_op *op, uint64_t end, uint32_t recorded)
{
    struct ascope_text event;
    const struct ascope_text module = first_of(op->modules, &event);
    const bool is_user = op->scope == ASCOPE_SCOPE_USER;
    const size_t bytes = sizeof(struct ms_range_bytes) + 2 * text_bytes(op->name) +
                         (op->more.n > 0 ? text_bytes(op->more) : 0) + text_bytes(module) + text_bytes(event);
    const struct ring_slot slot = ring_put_inline(STREAM_MS_RANGE, bytes);
    if (!slot.at)
        return;
    *(struct ms_range_bytes *)slot.at = (struct ms_range_bytes){
        .tlv = tlv_of(MS_RECORD_RANGE, bytes),
        .thread = op->begin_thread ? op->begin_thread : ring_thread_inline(),
        .flow = UINT64_MAX,
        .step = atomic_load_explicit(&recording_step, memory_order_relaxed),
        .begin = op->begin,
        .end = end,
        .process = recording_process_id(),
        .module = kinds[is_user].module,
        .event = kinds[is_user].event,
        .level = -1,
        .is_graph_data = module.n > 0,
    };
    uint8_t *at = ms_text_put(slot.at + sizeof(struct ms_range_bytes), MS_TEXT_NAME, op->name);
    at = ms_text_put(at, MS_TEXT_FULL_NAME, op->name);
    if (op->more.n > 0)
        at = ms_text_put(at, MS_TEXT_CUSTOM_INFO, op->more);
    at = ms_text_put(at, MS_TEXT_MODULE_GRAPH, module);
    ms_text_put(at, MS_TEXT_EVENT_GRAPH, event);
    ring_done_inline(slot);
    if (recorded & ASCOPE_RECORDS_SHAPES && (op->shapes.n | op->types.n) != 0)
        shapes_put(op);
}

/* ---- memory ---- */

static _Atomic uint64_t peak_bytes;

void ms_memory_begin(void)
{
    atomic_store(&peak_bytes, 0);
}

static uint64_t peak_of(uint64_t used)
{
    uint64_t peak = atomic_load_explicit(&peak_bytes, memory_order_relaxed);
    while (used > peak &&
           !atomic_compare_exchange_weak_explicit(&peak_bytes, &peak, used, memory_order_relaxed, memory_order_relaxed))
        ;
    return used > peak ? used : peak;
}

static uint64_t wall_ns(void) /* the vDSO reads it without a system call */
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void ms_memory_put(const struct ascope_memory *m)
{
    const size_t bytes = sizeof(struct ms_memory_bytes) + sizeof(struct tlv_bytes);
    if (m->device_type == ASCOPE_ON_CPU || m->event == ASCOPE_BLOCK_FREE)
        return;
    const struct ring_slot slot = ring_put_inline(STREAM_MS_MEMORY, bytes);
    if (!slot.at)
        return;
    const uint64_t used = m->allocated_bytes > 0 ? (uint64_t)m->allocated_bytes : 0;
    const uint64_t active = m->active_bytes > 0 ? (uint64_t)m->active_bytes : 0;
    *(struct ms_memory_bytes *)slot.at = (struct ms_memory_bytes){
        .tlv = tlv_of(MS_RECORD_MEMORY, bytes),
        .device = m->device,
        .thread = ring_thread_inline(),
        .process = recording_process_id(),
        .time_ns = wall_ns(),
        .address = m->pointer,
        .size = m->event == ASCOPE_FREE ? UINT64_MAX : (uint64_t)m->size_bytes,
        .used = used,
        .peak = peak_of(used),
        .reserved = m->reserved_bytes > 0 ? (uint64_t)m->reserved_bytes : 0,
        .used_by_event = active > used ? active - used : 0,
        .stream_pointer = (uint64_t)m->stream,
        .stream = (uint32_t)m->stream,
    };
    ms_text_put(slot.at + sizeof(struct ms_memory_bytes), MS_MEMORY_TEXT_OWNER, (struct ascope_text){ NULL, 0 });
    ring_done_inline(slot);
}
