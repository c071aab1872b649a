/* SPDX-License-Identifier: Apache-2.0 */
#include "load/plain/pickle_ops.h"

const struct pickle_opcode pickle_opcodes[256] = {
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

static bool pickle_long_end(struct pickle_op *op, const uint8_t *bytes, const char *name, struct error *e)
{
    const size_t n = (size_t)op->v;
    uint64_t v = n > 0 && bytes[n - 1] & 0x80 ? UINT64_MAX : 0;
    if (n > sizeof v)
        return error_set(e, FAULT_FORMAT, "%s:%zu: an integer of more than 64 bits", name, op->at);
    memcpy(&v, bytes, n);
    op->v = v;
    return true;
}

bool pickle_op_end(struct pickle_op *op, struct bytes *in, const char *name, struct error *e)
{
    switch (op->does) {
    case OP_NONE:
        return error_set(e, FAULT_FORMAT, "%s:%zu: opcode 0x%02x, which plain values do not have", name, op->at,
                         op->code);
    case OP_REFUSED:
        return error_set(e, FAULT_FORMAT, "%s:%zu: opcode %s, which may run code; only plain values are read", name,
                         op->at, pickle_opcodes[op->code].name);
    case OP_PROTO:
        return (op->at == 0 && op->v >= 2 && op->v <= 5) ||
               error_set(e, FAULT_FORMAT, "%s:%zu: a protocol other than 2 to 5", name, op->at);
    case OP_INT: /* that of four bytes has a sign */
        if (pickle_opcodes[op->code].width == 4)
            op->v = (uint64_t)(int64_t)(int32_t)(uint32_t)op->v;
        return true;
    case OP_LONG:
    case OP_TEXT: {
        const uint8_t *bytes = op->v < UINT32_MAX ? bytes_take(in, (size_t)op->v) : NULL;
        if (!bytes)
            return error_set(e, FAULT_FORMAT, "%s:%zu: the pickle is cut off", name, op->at);
        op->bytes = bytes;
        return op->does == OP_TEXT || pickle_long_end(op, bytes, name, e);
    }
    default: return true;
    }
}
