/* SPDX-License-Identifier: Apache-2.0 */
/* Pickles of Python are programs for a small machine with a stack and a memory. The table below has all that plain
 * values need. Everything else is refused, above all what imports names and calls them: nothing of a pickle is ever
 * executed. */
#include "load/plain/plain_pickle.h"

#include <string.h>

#include "base/files/bytes.h"

enum opcode {
    OP_NONE,
    OP_REFUSED, /* imports, calls, builds objects, or refers to what is elsewhere */
    OP_PROTO,
    OP_FRAME,
    OP_STOP,
    OP_MARK,
    OP_NEW_LIST,
    OP_NEW_DICT,
    OP_NEW_TUPLE,
    OP_TUPLE_MARK,
    OP_TUPLE_N,
    OP_NIL,
    OP_TRUE,
    OP_FALSE,
    OP_INT,
    OP_LONG,
    OP_FLOAT,
    OP_TEXT,
    OP_ONE_ITEM,
    OP_ITEMS,
    OP_ONE_MEMBER,
    OP_MEMBERS,
    OP_PUT,
    OP_PUT_NEXT,
    OP_GET,
};

/* `width`: bytes of the operand, little endian; texts and long integers have as many bytes as it says behind it. */
static const struct {
    uint8_t does, width;
    const char *name;
} opcode_table[256] = {
    [0x80] = { OP_PROTO, 1, "PROTO" },
    [0x95] = { OP_FRAME, 8, "FRAME" },
    ['.'] = { OP_STOP, 0, "STOP" },
    ['('] = { OP_MARK, 0, "MARK" },
    [']'] = { OP_NEW_LIST, 0, "EMPTY_LIST" },
    ['}'] = { OP_NEW_DICT, 0, "EMPTY_DICT" },
    [')'] = { OP_NEW_TUPLE, 0, "EMPTY_TUPLE" },
    ['t'] = { OP_TUPLE_MARK, 0, "TUPLE" },
    [0x85] = { OP_TUPLE_N, 0, "TUPLE1" },
    [0x86] = { OP_TUPLE_N, 0, "TUPLE2" },
    [0x87] = { OP_TUPLE_N, 0, "TUPLE3" },
    ['N'] = { OP_NIL, 0, "NONE" },
    [0x88] = { OP_TRUE, 0, "NEWTRUE" },
    [0x89] = { OP_FALSE, 0, "NEWFALSE" },
    ['J'] = { OP_INT, 4, "BININT" },
    ['K'] = { OP_INT, 1, "BININT1" },
    ['M'] = { OP_INT, 2, "BININT2" },
    [0x8A] = { OP_LONG, 1, "LONG1" },
    ['G'] = { OP_FLOAT, 8, "BINFLOAT" },
    ['X'] = { OP_TEXT, 4, "BINUNICODE" },
    [0x8C] = { OP_TEXT, 1, "SHORT_BINUNICODE" },
    [0x8D] = { OP_TEXT, 8, "BINUNICODE8" },
    ['a'] = { OP_ONE_ITEM, 0, "APPEND" },
    ['e'] = { OP_ITEMS, 0, "APPENDS" },
    ['s'] = { OP_ONE_MEMBER, 0, "SETITEM" },
    ['u'] = { OP_MEMBERS, 0, "SETITEMS" },
    ['q'] = { OP_PUT, 1, "BINPUT" },
    ['r'] = { OP_PUT, 4, "LONG_BINPUT" },
    [0x94] = { OP_PUT_NEXT, 0, "MEMOIZE" },
    ['h'] = { OP_GET, 1, "BINGET" },
    ['j'] = { OP_GET, 4, "LONG_BINGET" },
    ['c'] = { OP_REFUSED, 0, "GLOBAL" },
    [0x93] = { OP_REFUSED, 0, "STACK_GLOBAL" },
    ['R'] = { OP_REFUSED, 0, "REDUCE" },
    ['b'] = { OP_REFUSED, 0, "BUILD" },
    ['i'] = { OP_REFUSED, 0, "INST" },
    ['o'] = { OP_REFUSED, 0, "OBJ" },
    [0x81] = { OP_REFUSED, 0, "NEWOBJ" },
    [0x92] = { OP_REFUSED, 0, "NEWOBJ_EX" },
    [0x82] = { OP_REFUSED, 0, "EXT1" },
    [0x83] = { OP_REFUSED, 0, "EXT2" },
    [0x84] = { OP_REFUSED, 0, "EXT4" },
    ['P'] = { OP_REFUSED, 0, "PERSID" },
    ['Q'] = { OP_REFUSED, 0, "BINPERSID" },
};

static const plain_id mark_on_stack = UINT32_MAX;

struct pickle_machine {
    struct bytes in;
    struct plain *p;
    struct arena *mem;
    LIST(plain_id) stack;
    LIST(plain_id) memo;
    const char *name;
    struct error *e;
};

static bool pickle_refuse(struct pickle_machine *m, size_t at, const char *why)
{
    return error_set(m->e, FAULT_FORMAT, "%s:%zu: %s", m->name, at, why);
}

static bool pickle_push(struct pickle_machine *m, plain_id v)
{
    plain_id *to = v ? list_add(&m->stack, m->mem) : NULL;
    if (!to)
        return error_no_memory(m->e, m->name);
    *to = v;
    return true;
}

static bool pickle_push_new(struct pickle_machine *m, struct plain_node v)
{
    return pickle_push(m, plain_add(m->p, v, m->mem));
}

static bool pickle_append(struct pickle_machine *m, size_t at, plain_id to, const plain_id *item, size_t n)
{
    switch (plain_append(m->p, to, item, n, m->mem)) {
    case PLAIN_ADDED: return true;
    case PLAIN_NO_MEMORY: return error_no_memory(m->e, m->name);
    case PLAIN_TOO_DEEP: return pickle_refuse(m, at, "containers nest deeper than plain values do");
    case PLAIN_CYCLE:
        return pickle_refuse(m, at,
                             "a container grows after it was used, which only values that contain themselves do");
    }
    return false;
}

/* How many values lie on the innermost mark; false: there is none. */
static bool pickle_since_mark(const struct pickle_machine *m, size_t *n)
{
    for (size_t i = m->stack.n; i-- > 0;)
        if (m->stack.at[i] == mark_on_stack) {
            *n = m->stack.n - i - 1;
            return true;
        }
    return false;
}

/* Puts the last n values into the container of this kind below them and below their mark. */
static bool pickle_fill(struct pickle_machine *m, size_t at, enum plain_kind kind, bool has_mark)
{
    size_t n = kind == PLAIN_DICT ? 2 : 1;
    if (has_mark ? !pickle_since_mark(m, &n) : m->stack.n < n)
        return pickle_refuse(m, at, "the stack has too few values");
    const size_t below = n + has_mark + 1;
    if (m->stack.n < below || (kind == PLAIN_DICT && n % 2 != 0))
        return pickle_refuse(m, at, "the stack has too few values");
    const plain_id to = m->stack.at[m->stack.n - below], *item = m->stack.at + m->stack.n - n;
    if (to == mark_on_stack || !plain_is(m->p, to, kind))
        return pickle_refuse(m, at, "items are added to a value that is no container for them");
    for (size_t i = 0; i < n; i++)
        if (item[i] == mark_on_stack)
            return pickle_refuse(m, at, "a mark is where a value should be");
    if (!pickle_append(m, at, to, item, n))
        return false;
    m->stack.n -= n + has_mark;
    return true;
}

static bool pickle_tuple(struct pickle_machine *m, size_t at, size_t n, bool has_mark)
{
    if (has_mark ? !pickle_since_mark(m, &n) : m->stack.n < n)
        return pickle_refuse(m, at, "the stack has too few values");
    plain_id *item = m->stack.at + m->stack.n - n;
    for (size_t i = 0; i < n; i++)
        if (item[i] == mark_on_stack)
            return pickle_refuse(m, at, "a mark is where a value should be");
    const plain_id tuple = plain_add(m->p, (struct plain_node){ .kind = PLAIN_LIST }, m->mem);
    if (!tuple)
        return error_no_memory(m->e, m->name);
    if (!pickle_append(m, at, tuple, item, n))
        return false;
    m->stack.n -= n + has_mark;
    return pickle_push(m, tuple);
}

/* Writers number what they keep from 0 on: a number beyond the next one is no memory to make room for. */
static bool pickle_put(struct pickle_machine *m, size_t at, uint64_t i)
{
    if (m->stack.n == 0 || m->stack.at[m->stack.n - 1] == mark_on_stack)
        return pickle_refuse(m, at, "the stack has too few values");
    if (i > m->memo.n)
        return pickle_refuse(m, at, "a number in the memo that is not the next one");
    if (i == m->memo.n && !list_add(&m->memo, m->mem))
        return error_no_memory(m->e, m->name);
    m->memo.at[i] = m->stack.at[m->stack.n - 1];
    return true;
}

static bool pickle_long(struct pickle_machine *m, size_t at, const uint8_t *bytes, size_t n)
{
    uint64_t v = n > 0 && bytes[n - 1] & 0x80 ? UINT64_MAX : 0;
    if (n > sizeof v)
        return pickle_refuse(m, at, "an integer of more than 64 bits");
    memcpy(&v, bytes, n);
    return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_INTEGER, .integer = (int64_t)v });
}

static double pickle_real(uint64_t operand)
{
    const uint64_t v = __builtin_bswap64(operand); /* the only number with its first byte first */
    double real;
    memcpy(&real, &v, sizeof real);
    return real;
}

/* One opcode; *is_done: it was the last. */
static bool pickle_step(struct pickle_machine *m, bool *is_done)
{
    const size_t at = m->in.at;
    const uint8_t *op = bytes_take(&m->in, 1);
    const uint8_t *operand = op ? bytes_take(&m->in, opcode_table[*op].width) : NULL;
    if (!operand)
        return pickle_refuse(m, at, "the pickle is cut off");
    const size_t width = opcode_table[*op].width;
    uint64_t v = 0;
    memcpy(&v, operand, width);
    switch ((enum opcode)opcode_table[*op].does) {
    case OP_NONE:
        return error_set(m->e, FAULT_FORMAT, "%s:%zu: opcode 0x%02x, which plain values do not have", m->name, at, *op);
    case OP_REFUSED:
        return error_set(m->e, FAULT_FORMAT, "%s:%zu: opcode %s, which may run code; only plain values are read",
                         m->name, at, opcode_table[*op].name);
    case OP_PROTO: return (at == 0 && v >= 2 && v <= 5) || pickle_refuse(m, at, "a protocol other than 2 to 5");
    case OP_FRAME: return true; /* its length adds nothing: whatever is in it is read as it comes */
    case OP_STOP:
        *is_done = true;
        return (m->stack.n == 1 && m->stack.at[0] != mark_on_stack) ||
               pickle_refuse(m, at, "the end leaves no single value");
    case OP_MARK: return pickle_push(m, mark_on_stack);
    case OP_NEW_LIST:
    case OP_NEW_TUPLE: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_LIST });
    case OP_NEW_DICT: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_DICT });
    case OP_TUPLE_MARK: return pickle_tuple(m, at, 0, true);
    case OP_TUPLE_N: return pickle_tuple(m, at, (size_t)*op - 0x84, false);
    case OP_NIL: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_NONE });
    case OP_TRUE:
    case OP_FALSE:
        return pickle_push_new(m,
                               (struct plain_node){ .kind = PLAIN_BOOL, .integer = opcode_table[*op].does == OP_TRUE });
    case OP_INT: /* that of four bytes has a sign */
        return pickle_push_new(
            m, (struct plain_node){ .kind = PLAIN_INTEGER, .integer = width == 4 ? (int32_t)(uint32_t)v : (int64_t)v });
    case OP_FLOAT: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_REAL, .real = pickle_real(v) });
    case OP_LONG:
    case OP_TEXT: {
        const uint8_t *bytes = v < UINT32_MAX ? bytes_take(&m->in, (size_t)v) : NULL;
        if (!bytes)
            return pickle_refuse(m, at, "the pickle is cut off");
        return opcode_table[*op].does == OP_LONG
                   ? pickle_long(m, at, bytes, (size_t)v)
                   : pickle_push_new(
                         m, (struct plain_node){ .kind = PLAIN_TEXT, .n = (uint32_t)v, .text = (const char *)bytes });
    }
    case OP_ONE_ITEM:
    case OP_ITEMS: return pickle_fill(m, at, PLAIN_LIST, opcode_table[*op].does == OP_ITEMS);
    case OP_ONE_MEMBER:
    case OP_MEMBERS: return pickle_fill(m, at, PLAIN_DICT, opcode_table[*op].does == OP_MEMBERS);
    case OP_PUT: return pickle_put(m, at, v);
    case OP_PUT_NEXT: return pickle_put(m, at, m->memo.n);
    case OP_GET:
        return v < m->memo.n ? pickle_push(m, m->memo.at[v]) : pickle_refuse(m, at, "a number that is not in the memo");
    }
    return false;
}

bool plain_pickle_read(struct plain *p, const uint8_t *bytes, size_t n, const char *name, struct arena *mem,
                       struct error *e)
{
    struct pickle_machine m = { .in = { bytes, n, 0 }, .p = p, .mem = mem, .name = name, .e = e };
    *p = (struct plain){ 0 };
    for (bool is_done = false; !is_done;)
        if (!pickle_step(&m, &is_done))
            return false;
    if (m.in.at != m.in.size)
        return pickle_refuse(&m, m.in.at, "bytes behind the end of the pickle");
    p->root = m.stack.at[0];
    return true;
}
