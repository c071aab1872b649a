/* SPDX-License-Identifier: Apache-2.0 */
#include "load/plain/plain_value.h"

#include <string.h>

#include "load/plain/pickle_ops.h"

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
    struct pickle_op op;
    if (!pickle_op_next(&op, &m->in, m->name, m->e))
        return false;
    switch (op.does) {
    case OP_NONE:
    case OP_REFUSED:
    case OP_PROTO:
    case OP_FRAME: return true; /* its length adds nothing: whatever is in it is read as it comes */
    case OP_STOP:
        *is_done = true;
        return (m->stack.n == 1 && m->stack.at[0] != mark_on_stack) ||
               pickle_refuse(m, op.at, "the end leaves no single value");
    case OP_MARK: return pickle_push(m, mark_on_stack);
    case OP_NEW_LIST:
    case OP_NEW_TUPLE: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_LIST });
    case OP_NEW_DICT: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_DICT });
    case OP_TUPLE_MARK: return pickle_tuple(m, op.at, 0, true);
    case OP_TUPLE_N: return pickle_tuple(m, op.at, (size_t)op.code - 0x84, false);
    case OP_NIL: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_NONE });
    case OP_TRUE:
    case OP_FALSE: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_BOOL, .integer = op.does == OP_TRUE });
    case OP_INT:
    case OP_LONG: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_INTEGER, .integer = (int64_t)op.v });
    case OP_FLOAT: return pickle_push_new(m, (struct plain_node){ .kind = PLAIN_REAL, .real = pickle_real(op.v) });
    case OP_TEXT:
        return pickle_push_new(
            m, (struct plain_node){ .kind = PLAIN_TEXT, .n = (uint32_t)op.v, .text = (const char *)op.bytes });
    case OP_ONE_ITEM:
    case OP_ITEMS: return pickle_fill(m, op.at, PLAIN_LIST, op.does == OP_ITEMS);
    case OP_ONE_MEMBER:
    case OP_MEMBERS: return pickle_fill(m, op.at, PLAIN_DICT, op.does == OP_MEMBERS);
    case OP_PUT: return pickle_put(m, op.at, op.v);
    case OP_PUT_NEXT: return pickle_put(m, op.at, m->memo.n);
    case OP_GET:
        return op.v < m->memo.n ? pickle_push(m, m->memo.at[op.v])
                                : pickle_refuse(m, op.at, "a number that is not in the memo");
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
