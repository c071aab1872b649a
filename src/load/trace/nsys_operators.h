/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_operators.h - which operator of PyTorch launched what, in an export of Nsight Systems.
 *
 * torch.profiler gives an operator and what it launched the same "External id". Here, an operator is an NVTX range of
 * emit_nvtx(), and a launch belongs to the innermost one around the call, on the same thread.
 */
#ifndef ASCOPE_LOAD_TRACE_NSYS_OPERATORS_H
#define ASCOPE_LOAD_TRACE_NSYS_OPERATORS_H

#include "load/trace/db_reader.h"

struct nsys_operators {
    struct keys launches;  /* nsys_launch() */
    LIST(uint64_t) number; /* of each: its operator's row of NVTX_EVENTS, from 1 */
};

/* Correlation ids are of a process. global: globalTid or globalPid. */
static inline uint64_t nsys_launch(int64_t global, int64_t correlation)
{
    return ((uint64_t)global >> 24 & 0xffffff) << 32 | ((uint64_t)correlation & UINT32_MAX);
}

/* The length of the name of a range, without what emit_nvtx() adds to it: "aten::mm, seq = 3, op_id = 12". An operator
 * is of a library (::) or of the backward pass (seq); others are ranges of record_function(). */
size_t nsys_mark_len(const char *text, size_t len, bool *is_operator);
/* The text of a cell, or the one whose id it has. NULL: none. */
const char *nsys_cell(const struct db_reader *r, sqlite3_stmt *s, int column, size_t *len);
/* After the texts of the reader were loaded. Allocated in its memory. False: no memory. */
bool nsys_operators_find(struct nsys_operators *out, struct db_reader *r);
uint64_t nsys_operator_of(const struct nsys_operators *o, int64_t global, int64_t correlation); /* 0: none */

#endif
