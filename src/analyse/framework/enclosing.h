/* SPDX-License-Identifier: Apache-2.0 */
/* enclosing.h - finds the span of a host thread that contains another one. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_ENCLOSING_H
#define ASCOPE_ANALYSE_FRAMEWORK_ENCLOSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns, in any order. */
struct host_spans {
    size_t n;
    const int64_t *begin_ns, *end_ns;
    const uint64_t *thread; /* process << 32 | thread */
};

/* found[i]: the innermost of `outer` that has begun when inner i begins and has not ended before it ends, on the same thread; NO_ROW:
 * there is none.
 * False: no memory. */
bool enclosing_find(const struct host_spans *outer, const struct host_spans *inner, uint32_t *found);

#endif
