/* SPDX-License-Identifier: Apache-2.0 */
/* pickle_ops.h - the opcodes of pickles of plain values, protocols 2 to 5, one after the other.
 *
 * Pickles of Python are programs for a small machine with a stack and a memory. The table has all that plain values
 * need. Everything else is refused, above all what imports names and calls them: nothing of a pickle is ever executed.
 */
#ifndef ASCOPE_LOAD_PLAIN_PICKLE_OPS_H
#define ASCOPE_LOAD_PLAIN_PICKLE_OPS_H

#include <stdbool.h>
#include <string.h>

#include "base/files/bytes.h"
#include "base/text/error.h"

enum opcode {
    OP_NONE,
    OP_REFUSED, /* imports, calls, builds objects, or refers to what is elsewhere */
    OP_PROTO,
    OP_INT,
    OP_LONG,
    OP_TEXT,
    OP_CHECKED = OP_TEXT, /* pickle_op_end() completes these and those above */
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
    OP_FLOAT,
    OP_ONE_ITEM,
    OP_ITEMS,
    OP_ONE_MEMBER,
    OP_MEMBERS,
    OP_PUT,
    OP_PUT_NEXT,
    OP_GET,
};

/* `width`: bytes of the operand, little endian; texts and long integers have as many bytes as it says behind it. */
struct pickle_opcode {
    uint8_t does, width;
    const char *name;
};
extern const struct pickle_opcode pickle_opcodes[256];

struct pickle_op {
    enum opcode does;
    uint8_t code;
    size_t at;            /* its offset */
    uint64_t v;           /* its operand; of OP_INT and OP_LONG the integer, of OP_TEXT the bytes */
    const uint8_t *bytes; /* of OP_TEXT */
};

/* What is behind the operand, and what one opcode alone can have wrong. */
bool pickle_op_end(struct pickle_op *op, struct bytes *in, const char *name, struct error *e);

/* The next opcode. False: it is refused, or cut off. */
static inline bool pickle_op_next(struct pickle_op *op, struct bytes *in, const char *name, struct error *e)
{
    op->at = in->at;
    const uint8_t *code = bytes_take(in, 1);
    const uint8_t *operand = code ? bytes_take(in, pickle_opcodes[*code].width) : NULL;
    if (!operand)
        return error_set(e, FAULT_FORMAT, "%s:%zu: the pickle is cut off", name, op->at);
    op->code = *code;
    op->does = (enum opcode)pickle_opcodes[*code].does;
    switch (pickle_opcodes[*code].width) {
    case 1: op->v = *operand; break;
    case 2: op->v = le16(operand); break;
    case 4: op->v = le32(operand); break;
    case 8: op->v = le64(operand); break;
    default: op->v = 0;
    }
    return op->does > OP_CHECKED || pickle_op_end(op, in, name, e);
}

#endif
