/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/growing.h"
#include "collect/ring/ring.h"

#include <stdlib.h>
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

enum { FRAMES_FIRST = 1024, TEXT_FIRST = 64 << 10 };

bool stacks_note(struct stacks *s, const uint8_t *record, size_t bytes)
{
    struct frame_bytes f;
    if (bytes < sizeof f)
        return false;
    memcpy(&f, record, sizeof f);
    if (f.text_bytes != bytes - sizeof f || f.text_bytes == 0 || f.id == 0 || f.id > FRAMES_MOST || f.caller >= f.id ||
        f.text_bytes > FRAMES_BYTES_MOST - s->n_text ||
        !array_reserve(s->frame, s->frames_room, (size_t)f.id + 1, FRAMES_FIRST) ||
        !array_reserve(s->text, s->text_room, s->n_text + f.text_bytes, TEXT_FIRST))
        return false;
    memcpy(s->text + s->n_text, record + sizeof f, f.text_bytes);
    s->frame[f.id] = (struct stack_frame){ f.caller, f.text_bytes, s->n_text };
    s->n_text += f.text_bytes;
    if (f.id >= s->n_frames)
        s->n_frames = (size_t)f.id + 1;
    s->made_of = 0;
    return true;
}

static const struct stack_frame *frame_of(const struct stacks *s, uint32_t id)
{
    return id > 0 && id < s->n_frames && s->frame[id].n > 0 ? &s->frame[id] : NULL;
}

struct ascope_text stacks_label(const struct stacks *s, uint32_t label)
{
    const struct stack_frame *const f = frame_of(s, label);
    return f ? (struct ascope_text){ s->text + f->at, f->n } : (struct ascope_text){ NULL, 0 };
}

struct ascope_text stacks_text(struct stacks *s, uint32_t id)
{
    if (!frame_of(s, id))
        return (struct ascope_text){ NULL, 0 };
    if (s->made_of != id) {
        uint32_t n = 0;
        for (const struct stack_frame *f = frame_of(s, id); f; f = frame_of(s, f->caller)) {
            if (f->n + (n > 0) > STACK_BYTES_MOST - n)
                break;
            if (n > 0)
                s->made[n++] = ';';
            memcpy(s->made + n, s->text + f->at, f->n);
            n += f->n;
        }
        s->made_of = id;
        s->made_n = n;
    }
    return (struct ascope_text){ s->made, s->made_n };
}

void stacks_fini(struct stacks *s)
{
    free(s->frame);
    free(s->text);
    *s = (struct stacks){ 0 };
}
