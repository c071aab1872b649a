/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/memory/memory_recording.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/frames.h"
#include "analyse/framework/collection_analyse.h"
#include "base/memory/columns.h"
#include "base/memory/sort.h"
#include "profile/snapshot/program_file.h"

enum { DEVICES_MOST = 128, COMPONENTS_MOST = 256, OPS_MOST = 64 };

struct recording_memory {
    struct memory_snapshot *s;
    const struct collection *c;
    struct arena *mem;
    struct keys frames;  /* name of an operator, or text of a frame */
    struct keys levels;  /* of operators: name and stack of one */
    struct keys chains;  /* of an operator and those around it: the next inner ones, and this level */
    struct keys stacks;  /* of a chain that allocates */
    LIST(stack_id) made; /* by them */
    /* Of a device: what each of its allocators reported last, and the sums. */
    int64_t reserved_of[COMPONENTS_MOST], in_use_of[COMPONENTS_MOST];
    int64_t reserved, in_use, known; /* known: of blocks that are allocated during the collection */
};

/* "file.py(15): function", or the name of an operator. */
static bool recording_frame(struct recording_memory *r, const char *text, size_t len, frame_id *out)
{
    const name_id name = names_add(r->c->profile.names, text, len);
    *out = keys_add(&r->frames, name, r->mem);
    if (*out == KEYS_NO_MEMORY || *out < r->s->frame.n)
        return *out != KEYS_NO_MEMORY;
    struct snapshot_frame *to = list_add(&r->s->frame, r->mem);
    if (!to)
        return false;
    const char *whole = names_text(r->c->profile.names, name), *end = strstr(whole, "): ");
    const char *open = end;
    while (open && open > whole && *open != '(')
        open--;
    *to = (struct snapshot_frame){ .file = "", .function = whole };
    if (open && *open == '(') {
        to->file = arena_text(r->mem, whole, (size_t)(open - whole));
        to->line = (uint32_t)strtoul(open + 1, NULL, 10);
        to->function = end + 3;
        to->is_program = to->file && program_file(to->file);
    }
    if (!to->file)
        return false;
    to->parts = snapshot_frame_parts(to->file, to->function);
    return true;
}

static bool recording_push(struct recording_memory *r, const char *text, size_t len, stack_id *stack)
{
    frame_id frame;
    if (!recording_frame(r, text, len, &frame) || !snapshot_stack_add(r->s, *stack, frame, r->mem))
        return false;
    *stack = (stack_id)r->s->stack.n - 1;
    return true;
}

/* Steps have another name each time: nothing is below them. */
static bool recording_is_step(const char *name)
{
    return strncmp(name, "ProfilerStep#", 13) == 0;
}

static bool recording_stack_new(struct recording_memory *r, uint32_t op, stack_id *stack)
{
    const struct framework_ops *o = &r->c->framework.ops;
    const struct names *names = r->c->profile.names;
    name_id python = NAME_EMPTY;
    for (size_t n = 0; op != NO_ROW && n < OPS_MOST; n++, op = r->c->tree.parent[op]) {
        const char *name = names_text(names, o->name[op]);
        python = python == NAME_EMPTY && o->stack[op] != NO_NAME ? o->stack[op] : python;
        if (!recording_is_step(name) && !recording_push(r, name, strlen(name), stack))
            return false;
    }
    struct stack_part part;
    const char *text = names_text(names, python);
    size_t len = python == NAME_EMPTY ? 0 : names_len(names, python), at = 0;
    while (stack_next(text, len, &at, &part))
        if (part.len > 0 && !recording_push(r, part.text, part.len, stack))
            return false;
    return true;
}

/* Operators of the same name, stack and parents have the same one. Of some only the name is recorded. */
static uint32_t recording_chain(struct recording_memory *r, uint32_t op, name_id name)
{
    enum { CHAIN_BEGINS = UINT32_MAX - 1, CHAIN_NAME = UINT32_MAX - 2 };
    const struct framework_ops *o = &r->c->framework.ops;
    if (op == NO_ROW)
        return keys_add(&r->chains, (uint64_t)CHAIN_NAME << 32 | name, r->mem);
    uint32_t chain = CHAIN_BEGINS;
    for (uint32_t i = op, n = 0; i != NO_ROW && n < OPS_MOST && chain != KEYS_NO_MEMORY;
         i = r->c->tree.parent[i], n++) {
        if (recording_is_step(names_text(r->c->profile.names, o->name[i])))
            continue;
        const uint32_t level = keys_add(&r->levels, (uint64_t)o->stack[i] << 32 | o->name[i], r->mem);
        chain = level == KEYS_NO_MEMORY ? level : keys_add(&r->chains, (uint64_t)chain << 32 | level, r->mem);
    }
    return chain;
}

static bool recording_stack(struct recording_memory *r, uint32_t life, stack_id *stack)
{
    const uint32_t op = r->c->lives.op[life];
    const name_id name = r->c->lives.name[life];
    *stack = 0;
    if (op == NO_ROW && name == NAME_EMPTY)
        return true;
    const uint32_t chain = recording_chain(r, op, name);
    const uint32_t i = chain == KEYS_NO_MEMORY ? chain : keys_add(&r->stacks, chain, r->mem);
    if (i == KEYS_NO_MEMORY)
        return false;
    if (i == r->made.n) {
        const char *text = names_text(r->c->profile.names, name);
        if (!list_add(&r->made, r->mem) ||
            (op == NO_ROW ? !recording_push(r, text, strlen(text), stack) : !recording_stack_new(r, op, stack)))
            return false;
        r->made.at[i] = *stack;
    }
    *stack = r->made.at[i];
    return true;
}

static bool recording_event(struct recording_memory *r, enum snapshot_action action, uint64_t address, uint64_t bytes,
                            int64_t time_ns, stack_id stack)
{
    struct snapshot_events *e = &r->s->event;
    const uint32_t id = keys_add(&r->s->address, address, r->mem);
    e->bytes[e->n] = bytes;
    e->time_us[e->n] = (uint64_t)(time_ns / 1000);
    e->address[e->n] = id;
    e->stack[e->n] = stack;
    e->action[e->n++] = (uint8_t)action;
    return id != KEYS_NO_MEMORY;
}

/* Rows of one device in the order of time. life: of each row, its lifetime + 1 if it begins or ends one. */
static bool recording_device(struct recording_memory *r, int8_t device, const uint32_t *order, size_t n,
                             const uint32_t *life)
{
    const struct framework_memory *m = &r->c->framework.memory;
    struct snapshot_range *trace = list_add(&r->s->trace, r->mem);
    if (!trace)
        return false;
    *trace = (struct snapshot_range){ .first = (uint32_t)r->s->event.n };
    memset(r->reserved_of, 0, sizeof r->reserved_of);
    memset(r->in_use_of, 0, sizeof r->in_use_of);
    r->reserved = r->in_use = r->known = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t i = order[k];
        if (m->device[i] != device || m->device_type[i] == MEMORY_ON_CPU)
            continue;
        const uint8_t component = m->component[i];
        const int64_t more = m->reserved_bytes[i] - r->reserved_of[component];
        if (more != 0 && !recording_event(r, more > 0 ? SNAPSHOT_SEGMENT_ALLOC : SNAPSHOT_SEGMENT_FREE, 0,
                                          (uint64_t)(more > 0 ? more : -more), m->time_ns[i], 0))
            return false;
        r->reserved_of[component] = m->reserved_bytes[i];
        r->reserved += more;
        r->in_use += m->allocated_bytes[i] - r->in_use_of[component];
        r->in_use_of[component] = m->allocated_bytes[i];
        if (!life[i])
            continue;
        const bool is_begin = r->c->lives.taken[life[i] - 1] == i;
        const int64_t size = m->size_bytes[r->c->lives.taken[life[i] - 1]];
        stack_id stack = 0;
        if ((is_begin && !recording_stack(r, life[i] - 1, &stack)) ||
            !recording_event(r, is_begin ? SNAPSHOT_ALLOC : SNAPSHOT_FREE, m->pointer[i],
                             (uint64_t)(size > 0 ? size : 0), m->time_ns[i], stack))
            return false;
        r->known += is_begin ? size : -size;
    }
    r->s->trace.at[r->s->trace.n - 1].n = (uint32_t)r->s->event.n - r->s->trace.at[r->s->trace.n - 1].first;
    return true;
}

/* What is in use at the end: one segment, with the blocks that are known and one for all others. */
static bool recording_end(struct recording_memory *r, int8_t device)
{
    struct memory_snapshot *s = r->s;
    const struct framework_memory *m = &r->c->framework.memory;
    const struct memory_lives *l = &r->c->lives;
    const uint32_t first = (uint32_t)s->block.n;
    const int64_t before = r->in_use - r->known;
    for (size_t i = 0; i <= l->n; i++) {
        const bool is_rest = i == l->n;
        if (is_rest
                ? before <= 0
                : m->device[l->taken[i]] != device || memory_life_end(l, i) != NO_ROW || m->size_bytes[l->taken[i]] < 0)
            continue;
        struct snapshot_block *b = list_add(&s->block, r->mem);
        if (!b)
            return false;
        const uint64_t bytes = (uint64_t)(is_rest ? before : m->size_bytes[l->taken[i]]);
        *b = (struct snapshot_block){ .address = is_rest ? 0 : m->pointer[l->taken[i]],
                                      .bytes = bytes,
                                      .requested_bytes = bytes,
                                      .is_allocated = true };
    }
    struct snapshot_segment *g = list_add(&s->segment, r->mem);
    if (g)
        *g = (struct snapshot_segment){ .bytes = (uint64_t)(r->reserved > 0 ? r->reserved : 0),
                                        .device = (uint32_t)device,
                                        .first_block = first,
                                        .n_blocks = (uint32_t)s->block.n - first };
    return g;
}

static bool recording_marks(struct recording_memory *r, uint32_t device)
{
    const struct profiler_steps *p = &r->c->steps;
    for (size_t i = 0; i < p->n; i++) {
        struct snapshot_mark *m = list_add(&r->s->mark, r->mem);
        if (!m)
            return false;
        *m = (struct snapshot_mark){
            .name = "ProfilerStep#", .time_us = (uint64_t)(p->host_end_ns[i] / 1000), .device = device, .is_end = true
        };
    }
    return true;
}

static bool recording_room(struct snapshot_events *e, size_t n, struct arena *mem)
{
    arena_columns(mem, n, e->bytes, e->time_us, e->address, e->stack, e->action, e->stream);
    return !arena_failed(mem);
}

bool memory_of_recording(struct memory_snapshot *s, const struct collection *c, const char *path, struct arena *mem)
{
    static const uint64_t sign = UINT64_C(1) << 63;
    const struct framework_memory *m = &c->framework.memory;
    struct recording_memory *r = arena_take(mem, 1, sizeof *r);
    uint32_t *order = arena_take(mem, m->n + 1, sizeof *order), *life = arena_take(mem, m->n + 1, sizeof *life);
    uint64_t *time = arena_take(mem, m->n + 1, sizeof *time);
    *s = (struct memory_snapshot){ .path = path, .is_recording = true };
    if (!r || !order || !life || !time || m->n > UINT32_MAX / 4 || !recording_room(&s->event, 2 * m->n + 1, mem) ||
        !snapshot_stack_begin(s, mem))
        return false;
    *r = (struct recording_memory){ .s = s, .c = c, .mem = mem };
    for (size_t i = 0; i < m->n; i++)
        time[i] = (uint64_t)m->time_ns[i] ^ sign;
    order_fill(order, m->n);
    if (!order_by_u64(order, m->n, time))
        return false;
    uint32_t n_devices = 0;
    for (uint32_t i = 0; i < c->lives.n; i++) {
        const uint32_t end = memory_life_end(&c->lives, i);
        const int8_t device = m->device[c->lives.taken[i]];
        life[c->lives.taken[i]] = i + 1;
        if (end != NO_ROW)
            life[end] = i + 1;
        n_devices = device >= 0 && (uint32_t)device >= n_devices ? (uint32_t)device + 1 : n_devices;
    }
    for (uint32_t d = 0; d < n_devices; d++)
        if (!recording_device(r, (int8_t)d, order, m->n, life) || !recording_end(r, (int8_t)d) ||
            !recording_marks(r, d))
            return false;
    return !arena_failed(mem);
}
