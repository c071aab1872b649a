/* SPDX-License-Identifier: Apache-2.0 */
/* op_schemas.h - registry: which of its inputs an operator of PyTorch writes to.
 *
 * A record of an operator has its name and the kind of each input, but not which overload ran. For every operator that
 * PyTorch registers, the table has the arguments of its overloads: a letter for each argument, a capital where it is
 * written to.
 *
 *       t a tensor        o a tensor or none        a anything
 *       l some tensors    p some tensors or none    s anything but tensors        "." an overload without arguments
 */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_OP_SCHEMAS_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_OP_SCHEMAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op_schema {
    const char *name;
    const char *overloads; /* "tts Tss" */
};

/* What was seen of an input. */
enum input_kind {
    INPUT_NONE,         /* recorded as none */
    INPUT_OTHER,        /* a number, a list of numbers, a tensor that lies nowhere */
    INPUT_TENSOR,       /* that lies somewhere */
    INPUT_TENSORS,      /* a list of such */
    INPUT_SOME_TENSORS, /* a list of which some lie nowhere */
    INPUT_KINDS
};
enum { OP_SCHEMA_MOST_INPUTS = 64 };

const struct op_schema *op_schema_find(const char *name); /* NULL: not registered */

/* True: an overload has inputs of these kinds. Bit i of *written: one of those writes to input i. */
bool op_schema_match(const struct op_schema *s, const uint8_t *kind, size_t n, uint64_t *written);

/* op_schema_table.c: arguments of the operators of PyTorch, and which of them are written to: the rows behind
 * op_schemas.h. */

extern const struct op_schema op_schema_table[]; /* by name, as strcmp() orders them */
extern const size_t n_op_schemas;

#endif
