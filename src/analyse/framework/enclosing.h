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

/* found[i]: the innermost span of `outer` on the same thread that begins no later and ends no earlier than span i of
 * `inner`; NO_ROW: there is none. False: no memory. */
bool enclosing_find(const struct host_spans *outer, const struct host_spans *inner, uint32_t *found);

#endif
