/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of pickles (pickle_ops.h), for snapshots. A container is a number of a row or of a range of rows as soon
 * as it is filled; what has no meaning in a snapshot is not kept. */
#include "load/plain/snapshot_load.h"

#include <string.h>

#include "load/plain/pickle_ops.h"
#include "load/plain/snapshot_rows.h"

enum pickled_kind {
    KIND_OTHER, /* anything without a meaning */
    KIND_MARK,  /* on the stack only, as the next one */
    KIND_NUMBER,
    KIND_REF, /* to a container in the memo */
    KIND_TEXT,
    KIND_NEW_LIST,
    KIND_NEW_DICT,
    KIND_FRAME,
    KIND_STACK,  /* a list of frames */
    KIND_EVENT,  /* how many rows there were before it: some have none */
    KIND_EVENTS, /* lists are ranges of rows */
    KIND_BLOCK,
    KIND_BLOCKS,
    KIND_SEGMENT,
    KIND_SEGMENTS,
    KIND_TRACES,
    KIND_ROOT,
};

struct snapshot_value {
    enum pickled_kind kind;
    uint64_t v;
};

/* A value in the memo: its kind in the highest bits. */
enum { SLOT_BITS = 27, STACK_MOST = 1 << 20 };

struct snapshot_machine {
    struct bytes in;
    struct snapshot_rows rows;
    struct arena *mem; /* until the file is read */
    LIST(struct snapshot_value) stack;
    LIST(uint32_t) memo;
    LIST(struct snapshot_range) range;
    struct names_recent recent;
    struct snapshot_range segments, traces; /* those of the root */
    const char *name;
    struct error *e;
};

static bool machine_refuse(struct snapshot_machine *m, size_t at, const char *why)
{
    return error_set(m->e, FAULT_FORMAT, "%s:%zu: %s", m->name, at, why);
}

static bool machine_push(struct snapshot_machine *m, size_t at, enum pickled_kind kind, uint64_t v)
{
    if (m->stack.n == STACK_MOST)
        return machine_refuse(m, at, "containers nest deeper than those of a snapshot do");
    struct snapshot_value *to = list_add(&m->stack, m->mem);
    if (!to)
        return error_no_memory(m->e, m->name);
    *to = (struct snapshot_value){ kind, v };
    return true;
}

static struct snapshot_value machine_value(const struct snapshot_machine *m, struct snapshot_value v)
{
    if (v.kind != KIND_REF)
        return v;
    const uint32_t slot = m->memo.at[v.v];
    return (struct snapshot_value){ (enum pickled_kind)(slot >> SLOT_BITS), slot & ((1u << SLOT_BITS) - 1) };
}

/* Replaces a container by what it has become. */
static bool machine_become(struct snapshot_machine *m, size_t at, struct snapshot_value *of, enum pickled_kind kind,
                           uint64_t v)
{
    if (v >> SLOT_BITS)
        return machine_refuse(m, at, "more rows than can be numbered");
    if (of->kind == KIND_REF)
        m->memo.at[of->v] = (uint32_t)kind << SLOT_BITS | (uint32_t)v;
    else
        *of = (struct snapshot_value){ kind, v };
    return true;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

/* What a list of such items is, and of which list the rows are. */
static enum pickled_kind list_kind(enum pickled_kind item)
{
    switch (item) {
    case KIND_FRAME: return KIND_STACK;
    case KIND_EVENT: return KIND_EVENTS;
    case KIND_BLOCK: return KIND_BLOCKS;
    case KIND_SEGMENT: return KIND_SEGMENTS;
    case KIND_NEW_LIST:
    case KIND_EVENTS: return KIND_TRACES;
    default: return KIND_OTHER;
    }
}

/* Rows are added in the order of the file, and so a list is a range. An item that is not the next row was used
 * before. */
static bool range_add(struct snapshot_machine *m, size_t at, struct snapshot_range *range, uint64_t row)
{
    if (range->n == 0)
        range->first = (uint32_t)row;
    if (row != (uint64_t)range->first + range->n)
        return machine_refuse(m, at, "an entry is in two lists");
    range->n++;
    return true;
}

/* A list of events among the traces of all devices. */
static bool trace_add(struct snapshot_machine *m, struct snapshot_range *traces, struct snapshot_value item)
{
    struct memory_snapshot *s = m->rows.s;
    const struct snapshot_range events =
        item.kind == KIND_EVENTS ? m->range.at[item.v] : (struct snapshot_range){ 0, 0 };
    struct snapshot_range *to = list_add(&s->trace, m->rows.mem);
    if (!to)
        return error_no_memory(m->e, m->name);
    *to = events;
    if (traces->n++ == 0)
        traces->first = (uint32_t)s->trace.n - 1;
    return true;
}

static bool list_append(struct snapshot_machine *m, size_t at, struct snapshot_value *list, struct snapshot_value item)
{
    struct snapshot_value now = machine_value(m, *list);
    const enum pickled_kind kind = list_kind(item.kind);
    if (kind == KIND_OTHER || (now.kind != KIND_NEW_LIST && now.kind != kind))
        return machine_become(m, at, list, KIND_OTHER, 0);
    if (kind == KIND_STACK) {
        stack_id stack = 0;
        if (!snapshot_add_stack(&m->rows, now.kind == KIND_STACK ? (stack_id)now.v : 0, (frame_id)item.v, &stack))
            return error_no_memory(m->e, m->name);
        return machine_become(m, at, list, KIND_STACK, stack);
    }
    if (now.kind == KIND_NEW_LIST) {
        if (!list_add(&m->range, m->mem))
            return error_no_memory(m->e, m->name);
        now.v = m->range.n - 1;
        if (!machine_become(m, at, list, kind, now.v))
            return false;
    }
    struct snapshot_range *range = &m->range.at[now.v];
    if (kind == KIND_TRACES)
        return trace_add(m, range, item);
    if (kind == KIND_EVENTS) { /* up to the last one so far: those of the next list follow */
        range->first = range->n == 0 ? (uint32_t)item.v : range->first;
        range->n = (uint32_t)m->rows.s->event.n - range->first;
        return true;
    }
    return range_add(m, at, range, item.v);
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

static struct snapshot_range dict_range(const struct snapshot_machine *m, struct snapshot_member of)
{
    return of.v < m->range.n ? m->range.at[of.v] : (struct snapshot_range){ 0, 0 };
}

/* A member of another kind than it should have is as if it were missing; empty lists are ranges without a number. */
static void dict_member(struct snapshot_member member[WORD_MEMBERS], struct snapshot_value key,
                        struct snapshot_value value)
{
    static const uint8_t wanted[WORD_MEMBERS] = {
        [WORD_ACTION] = KIND_TEXT,       [WORD_ADDR] = KIND_NUMBER,       [WORD_ADDRESS] = KIND_NUMBER,
        [WORD_BLOCKS] = KIND_BLOCKS,     [WORD_DEVICE] = KIND_NUMBER,     [WORD_DEVICE_FREE] = KIND_NUMBER,
        [WORD_EXPANDABLE] = KIND_NUMBER, [WORD_FILENAME] = KIND_TEXT,     [WORD_FRAMES] = KIND_STACK,
        [WORD_LINE] = KIND_NUMBER,       [WORD_NAME] = KIND_TEXT,         [WORD_REQUESTED] = KIND_NUMBER,
        [WORD_SEGMENTS] = KIND_SEGMENTS, [WORD_SEGMENT_TYPE] = KIND_TEXT, [WORD_SIZE] = KIND_NUMBER,
        [WORD_STAGE] = KIND_TEXT,        [WORD_STATE] = KIND_TEXT,        [WORD_STREAM] = KIND_NUMBER,
        [WORD_TIME] = KIND_NUMBER,       [WORD_TOTAL] = KIND_NUMBER,      [WORD_TRACES] = KIND_TRACES,
    };
    if (key.kind != KIND_TEXT || key.v >= WORD_MEMBERS || wanted[key.v] == KIND_OTHER)
        return;
    if (value.kind == (enum pickled_kind)wanted[key.v])
        member[key.v] = (struct snapshot_member){ value.v, true };
    else if (value.kind == KIND_NEW_LIST && (wanted[key.v] == KIND_SEGMENTS || wanted[key.v] == KIND_TRACES))
        member[key.v] = (struct snapshot_member){ UINT64_MAX, true };
}

/* What a dictionary is shows by the members that it has. */
static bool dict_become(struct snapshot_machine *m, size_t at, struct snapshot_value *dict,
                        const struct snapshot_member member[WORD_MEMBERS])
{
    struct snapshot_rows *r = &m->rows;
    enum pickled_kind kind = KIND_OTHER;
    uint64_t row = 0;
    frame_id frame = 0;
    bool is_added = true;
    if (member[WORD_ACTION].is_there) {
        kind = KIND_EVENT;
        row = r->s->event.n;
        is_added = snapshot_add_event(r, member);
    } else if (member[WORD_FILENAME].is_there && member[WORD_LINE].is_there) {
        kind = KIND_FRAME;
        is_added = snapshot_add_frame(r, member, &frame);
        row = frame;
    } else if (member[WORD_TOTAL].is_there) {
        kind = KIND_SEGMENT;
        row = r->s->segment.n;
        const struct snapshot_member blocks = member[WORD_BLOCKS];
        is_added =
            snapshot_add_segment(r, member, blocks.is_there ? dict_range(m, blocks) : (struct snapshot_range){ 0, 0 });
    } else if (member[WORD_STATE].is_there && member[WORD_SIZE].is_there) {
        kind = KIND_BLOCK;
        row = r->s->block.n;
        is_added = snapshot_add_block(r, member);
    } else if (member[WORD_STAGE].is_there && member[WORD_NAME].is_there) {
        is_added = snapshot_add_mark(r, member);
    } else if (member[WORD_EXPANDABLE].is_there) {
        r->s->is_expandable = member[WORD_EXPANDABLE].v != 0;
    } else if (member[WORD_SEGMENTS].is_there) {
        kind = KIND_ROOT;
        m->segments = dict_range(m, member[WORD_SEGMENTS]);
        if (member[WORD_TRACES].is_there)
            m->traces = dict_range(m, member[WORD_TRACES]);
    }
    return (is_added || error_no_memory(m->e, m->name)) && machine_become(m, at, dict, kind, row);
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

/* Puts the values on the innermost mark, or the last ones, into the list or dictionary below them. */
static bool machine_fill(struct snapshot_machine *m, size_t at, bool is_dict, bool has_mark)
{
    size_t n = is_dict ? 2 : 1;
    if (has_mark)
        for (n = 0; n < m->stack.n && m->stack.at[m->stack.n - 1 - n].kind != KIND_MARK;)
            n++;
    if (m->stack.n < n + has_mark + 1 || (is_dict && n % 2 != 0))
        return machine_refuse(m, at, "the stack has too few values");
    struct snapshot_value *item = m->stack.at + m->stack.n - n, *to = item - has_mark - 1;
    m->stack.n -= n + has_mark;
    if (!is_dict) {
        for (size_t i = 0; i < n; i++)
            if (!list_append(m, at, to, machine_value(m, item[i])))
                return false;
        return true;
    }
    struct snapshot_member member[WORD_MEMBERS] = { 0 };
    for (size_t i = 0; i < n; i += 2)
        dict_member(member, item[i], machine_value(m, item[i + 1]));
    return machine_value(m, *to).kind != KIND_NEW_DICT || dict_become(m, at, to, member);
}

static bool machine_drop(struct snapshot_machine *m, const struct pickle_op *op)
{
    size_t n = op->does == OP_TUPLE_N ? (size_t)op->code - 0x84 : 0;
    if (op->does == OP_TUPLE_MARK)
        while (n < m->stack.n && m->stack.at[m->stack.n - 1 - n].kind != KIND_MARK)
            n++;
    n += op->does == OP_TUPLE_MARK;
    if (n > m->stack.n)
        return machine_refuse(m, op->at, "the stack has too few values");
    m->stack.n -= n;
    return machine_push(m, op->at, KIND_OTHER, 0);
}

/* Writers number what they keep from 0 on, and keep no numbers. */
static bool machine_put(struct snapshot_machine *m, size_t at, uint64_t i)
{
    struct snapshot_value *top = m->stack.n > 0 ? &m->stack.at[m->stack.n - 1] : NULL;
    if (!top || top->kind == KIND_MARK || top->kind == KIND_NUMBER || top->v >> SLOT_BITS)
        return machine_refuse(m, at, "a value in the memo that writers do not put there");
    if (i != m->memo.n || i >> SLOT_BITS)
        return machine_refuse(m, at, "a number in the memo that is not the next one");
    uint32_t *slot = list_add(&m->memo, m->mem);
    if (!slot)
        return error_no_memory(m->e, m->name);
    *slot = (uint32_t)top->kind << SLOT_BITS | (uint32_t)top->v;
    if (top->kind != KIND_TEXT && top->kind != KIND_OTHER && top->kind != KIND_REF)
        *top = (struct snapshot_value){ KIND_REF, i };
    return true;
}

static bool machine_get(struct snapshot_machine *m, size_t at, uint64_t i)
{
    if (i >= m->memo.n)
        return machine_refuse(m, at, "a number that is not in the memo");
    const enum pickled_kind kind = (enum pickled_kind)(m->memo.at[i] >> SLOT_BITS);
    const uint64_t v = m->memo.at[i] & ((1u << SLOT_BITS) - 1);
    return kind == KIND_TEXT || kind == KIND_OTHER || kind == KIND_REF ? machine_push(m, at, kind, v)
                                                                       : machine_push(m, at, KIND_REF, i);
}

static bool machine_text(struct snapshot_machine *m, const struct pickle_op *op)
{
    const name_id id = names_add_recent(m->rows.names, &m->recent, (const char *)op->bytes, (size_t)op->v);
    return names_failed(m->rows.names) ? error_no_memory(m->e, m->name) : machine_push(m, op->at, KIND_TEXT, id);
}

/* One opcode; *is_done: it was the last. */
static bool machine_step(struct snapshot_machine *m, bool *is_done)
{
    struct pickle_op op;
    if (!pickle_op_next(&op, &m->in, m->name, m->e))
        return false;
    switch (op.does) {
    case OP_NONE:
    case OP_REFUSED:
    case OP_PROTO:
    case OP_FRAME: return true;
    case OP_STOP: *is_done = true; return m->stack.n == 1 || machine_refuse(m, op.at, "the end leaves no single value");
    case OP_MARK: return machine_push(m, op.at, KIND_MARK, 0);
    case OP_NEW_LIST: return machine_push(m, op.at, KIND_NEW_LIST, 0);
    case OP_NEW_DICT: return machine_push(m, op.at, KIND_NEW_DICT, 0);
    case OP_NEW_TUPLE:
    case OP_NIL:
    case OP_FLOAT: return machine_push(m, op.at, KIND_OTHER, 0);
    case OP_TUPLE_MARK:
    case OP_TUPLE_N: return machine_drop(m, &op);
    case OP_TRUE:
    case OP_FALSE: return machine_push(m, op.at, KIND_NUMBER, op.does == OP_TRUE);
    case OP_INT:
    case OP_LONG: return machine_push(m, op.at, KIND_NUMBER, (int64_t)op.v < 0 ? 0 : op.v);
    case OP_TEXT: return machine_text(m, &op);
    case OP_ONE_ITEM:
    case OP_ITEMS: return machine_fill(m, op.at, false, op.does == OP_ITEMS);
    case OP_ONE_MEMBER:
    case OP_MEMBERS: return machine_fill(m, op.at, true, op.does == OP_MEMBERS);
    case OP_PUT: return machine_put(m, op.at, op.v);
    case OP_PUT_NEXT: return machine_put(m, op.at, m->memo.n);
    case OP_GET: return machine_get(m, op.at, op.v);
    }
    return false;
}

/* Only what the root has counts. */
static bool machine_end(struct snapshot_machine *m)
{
    struct memory_snapshot *s = m->rows.s;
    const struct snapshot_value root = machine_value(m, m->stack.at[0]);
    if (m->in.at != m->in.size)
        return machine_refuse(m, m->in.at, "bytes behind the end of the pickle");
    if (root.kind == KIND_SEGMENTS) /* of PyTorch 1 */
        m->segments = m->range.at[root.v];
    else if (root.kind != KIND_ROOT)
        return error_set(m->e, FAULT_FORMAT, "%s: not a memory snapshot; wanted a dictionary with \"segments\"",
                         m->name);
    if (m->segments.n > 0) /* an empty list has no memory at all */
        s->segment.at += m->segments.first;
    s->segment.n = m->segments.n;
    if (m->traces.n > 0)
        s->trace.at += m->traces.first;
    s->trace.n = m->traces.n;
    return true;
}

bool snapshot_load(struct memory_snapshot *s, const uint8_t *bytes, size_t n, const char *path, struct arena *mem,
                   struct error *e)
{
    enum { EVENT_LEAST = 40, MEMO_LEAST = 12 }; /* bytes of the file for each, in usual ones */
    static const uint8_t pickle_begin = 0x80;
    *s = (struct memory_snapshot){ .path = path };
    if (n == 0 || bytes[0] != pickle_begin)
        return error_set(e, FAULT_FORMAT, "%s: not a memory snapshot; wanted a pickle", path);
    struct snapshot_machine *m = arena_take(mem, 1, sizeof *m);
    if (!m)
        return error_no_memory(e, path);
    *m = (struct snapshot_machine){
        .in = { bytes, n, 0 },
        .rows = { .s = s, .mem = mem, .names = names_new(), .n_expected = n / EVENT_LEAST + 16 },
        .mem = arena_new(),
        .name = path,
        .e = e
    };
    bool is_read =
        m->mem && m->rows.names && snapshot_rows_begin(&m->rows) && list_expect(&m->memo, m->mem, n / MEMO_LEAST + 16);
    if (!is_read)
        error_no_memory(e, path);
    for (bool is_done = false; is_read && !is_done;)
        is_read = machine_step(m, &is_done);
    is_read = is_read && machine_end(m);
    arena_free(m->mem);
    names_free(m->rows.names);
    return is_read;
}
