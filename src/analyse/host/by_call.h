/* SPDX-License-Identifier: Apache-2.0 */
/* by_call.h - rows of a table by the call that they belong to. */
#ifndef ASCOPE_ANALYSE_HOST_BY_CALL_H
#define ASCOPE_ANALYSE_HOST_BY_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"

struct by_call {
    const uint32_t *call; /* of each row, or NO_ROW */
    uint32_t *order;      /* rows by ascending call, else as they were */
    size_t n, last;       /* last: the position that was found last */
    uint32_t *by_name;    /* the same rows by (call, name), made when first needed */
};

bool by_call_init(struct by_call *b, struct arena *mem, const uint32_t *call, size_t n); /* false: no memory */
size_t by_call_first(struct by_call *b, uint32_t call);              /* position in `order` of a call's first row */
bool by_call_has(const struct by_call *b, size_t at, uint32_t call); /* is the row at that position one of the call? */
/* The last row of a call: of two records the later one counts. NO_ROW: there is none. */
uint32_t by_call_last(struct by_call *b, uint32_t call);

/* The last row of a call that bears a name, or NO_ROW. `name` is the table's column of names. */
uint32_t by_call_named(struct by_call *b, struct arena *mem, uint32_t call, const uint64_t *name, uint64_t wanted);

#endif
