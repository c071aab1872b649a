/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/ring.h"

#include <string.h>

static bool has_type(struct record_head head, const uint8_t *bytes, enum stream_id stream, size_t n, uint16_t wanted)
{
    uint16_t type;
    if (head.stream != stream || record_bytes(head) != n)
        return false;
    memcpy(&type, bytes, sizeof type);
    return type == wanted;
}

bool op_is_short(struct record_head head, const uint8_t *bytes)
{
    return has_type(head, bytes, STREAM_TORCH_OP, sizeof(struct op_short_bytes), OP_SHORT);
}

/* ---- operators ---- */

/* The number in front of the texts, which are behind it then; 0: there is none of that type. */
static uint32_t number_take(struct short_record *r, uint16_t type)
{
    struct op_number_bytes of;
    if (r->n_texts < sizeof of)
        return 0;
    memcpy(&of, r->texts, sizeof of);
    if (of.tlv.type != type || of.tlv.length != sizeof of.number)
        return 0;
    r->texts += sizeof of;
    r->n_texts -= sizeof of;
    return of.number;
}

static void op_complete(struct short_record *r, struct stacks *s, uint32_t label, uint32_t frame)
{
    r->n_fixed = sizeof r->fixed.op;
    r->label = label ? stacks_label(s, label) : (struct ascope_text){ NULL, 0 };
    r->stack = frame ? stacks_text(s, frame) : (struct ascope_text){ NULL, 0 };
    r->lacks_stack = frame != 0 && r->stack.n == 0;
    r->n = label != 0 && r->label.n == 0
               ? 0
               : r->n_fixed + r->label.n + r->n_texts + (r->stack.n ? sizeof(struct tlv_bytes) + r->stack.n : 0);
    r->fixed.op.tlv = (struct tlv_bytes){ TLV_OPERATOR, (uint32_t)(r->n - sizeof(struct tlv_bytes)) };
}

static void op_of_short(struct short_record *r, struct stacks *s, const uint8_t *bytes)
{
    struct op_short_bytes b;
    memcpy(&b, bytes, sizeof b);
    r->fixed.op = (struct op_bytes){
        .begin = b.begin,
        .end = b.end,
        .sequence = b.sequence,
        .process = b.process,
        .thread = b.thread,
        .end_thread = b.end_thread,
        .forward_thread = b.forward_thread,
        .scope = b.scope,
        .is_async = b.is_async,
    };
    op_complete(r, s, b.label, b.frame);
}

static bool op_of_long(struct short_record *r, struct stacks *s, const uint8_t *bytes, size_t n)
{
    if (n < sizeof r->fixed.op)
        return false;
    r->texts = bytes + sizeof r->fixed.op;
    r->n_texts = n - sizeof r->fixed.op;
    const uint32_t label = number_take(r, TORCH_LABEL), frame = number_take(r, TORCH_FRAME);
    if (label == 0 && frame == 0)
        return false;
    memcpy(&r->fixed.op, bytes, sizeof r->fixed.op);
    op_complete(r, s, label, frame);
    return true;
}

/* ---- memory ---- */

static void memory_of_short(struct short_record *r, const uint8_t *bytes)
{
    struct memory_short_bytes b;
    memcpy(&b, bytes, sizeof b);
    r->n = r->n_fixed = sizeof r->fixed.memory;
    r->fixed.memory = (struct memory_bytes){
        .tlv = { TLV_MEMORY, (uint32_t)(r->n - sizeof(struct tlv_bytes)) },
        .pointer = b.pointer,
        .time = b.time,
        .size = b.size,
        .allocated = b.allocated,
        .reserved = b.reserved,
        .device_type = b.device_type,
        .device = b.device,
        .component = b.component,
        .kind = b.kind,
        .allocator = ALLOCATOR_INNER,
        .thread = b.thread,
        .process = b.process,
    };
}

bool short_record_read(struct short_record *r, struct stacks *s, struct record_head head, const uint8_t *bytes)
{
    if (head.stream != STREAM_TORCH_OP && head.stream != STREAM_TORCH_MEMORY)
        return false;
    *r = (struct short_record){ .n = 0 };
    if (has_type(head, bytes, STREAM_TORCH_MEMORY, sizeof(struct memory_short_bytes), MEMORY_SHORT))
        memory_of_short(r, bytes);
    else if (op_is_short(head, bytes))
        op_of_short(r, s, bytes);
    else
        return head.stream == STREAM_TORCH_OP && op_of_long(r, s, bytes, record_bytes(head));
    return true;
}

static uint8_t *short_records_put(uint8_t *to, const void *from, size_t n)
{
    if (n > 0)
        memcpy(to, from, n);
    return to + n;
}

void short_record_write(const struct short_record *r, uint8_t *to)
{
    const struct tlv_bytes stack = { TORCH_TEXT_STACK, r->stack.n };
    to = short_records_put(to, &r->fixed, r->n_fixed);
    to = short_records_put(to, r->label.at, r->label.n);
    to = short_records_put(to, r->texts, r->n_texts);
    if (r->stack.n > 0)
        short_records_put(short_records_put(to, &stack, sizeof stack), r->stack.at, r->stack.n);
}
