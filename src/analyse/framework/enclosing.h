/* SPDX-License-Identifier: Apache-2.0 */
/* enclosing.h - which span of a host thread contains another one.
 *
 * A span contains those of its thread that begin no earlier and end no later. One that begins when another one ends is
 * behind it, even if neither has a duration. Of spans that overlap without nesting none contains the other.
 */
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

/* found[i]: the innermost span of `outer` that contains span i of `inner`; NO_ROW: there is none. False: no memory. */
bool enclosing_find(const struct host_spans *outer, const struct host_spans *inner, uint32_t *found);

/* parent[i]: the innermost other span that contains span i, or NO_ROW. self_ns[i]: the time in which span i is the last
 * one that began and is open: it is never below 0, and those of a span and of all inside it add up to no more than its
 * duration. by_begin: the rows in nesting order (nesting.h). False: no memory. */
bool enclosing_tree(const struct host_spans *s, const uint32_t *by_begin, uint32_t *parent, int64_t *self_ns);

#endif
