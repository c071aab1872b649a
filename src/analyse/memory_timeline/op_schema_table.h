/* SPDX-License-Identifier: Apache-2.0 */
/* op_schema_table.h - arguments of the operators of PyTorch, and which of them are written to: the rows behind
 * op_schemas.h. */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_OP_SCHEMA_TABLE_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_OP_SCHEMA_TABLE_H

#include "analyse/memory_timeline/op_schemas.h"

extern const struct op_schema op_schema_table[]; /* by name, as strcmp() orders them */
extern const size_t n_op_schemas;

#endif
