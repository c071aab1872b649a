/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - takes the columns of a table from an arena, each for n elements of its own type. */
#ifndef ASCOPE_BASE_MEMORY_COLUMNS_H
#define ASCOPE_BASE_MEMORY_COLUMNS_H

#include "base/memory/arena.h"

/* arena_columns(mem, n, t->begin, t->end, …): up to 16 of them. Without memory a column is NULL, and arena_failed(mem)
 * is true. */
#define arena_columns(mem, n, ...)                                                                                     \
    COLUMNS_NUMBER(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)(mem, n, __VA_ARGS__)
#define COLUMNS_NUMBER(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, number, ...) COLUMNS_##number

/* clang-format off */
#define COLUMNS_1(mem, n, column) ((column) = arena_take(mem, n, sizeof *(column)))
#define COLUMNS_2(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_1(mem, n, __VA_ARGS__)
#define COLUMNS_3(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_2(mem, n, __VA_ARGS__)
#define COLUMNS_4(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_3(mem, n, __VA_ARGS__)
#define COLUMNS_5(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_4(mem, n, __VA_ARGS__)
#define COLUMNS_6(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_5(mem, n, __VA_ARGS__)
#define COLUMNS_7(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_6(mem, n, __VA_ARGS__)
#define COLUMNS_8(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_7(mem, n, __VA_ARGS__)
#define COLUMNS_9(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_8(mem, n, __VA_ARGS__)
#define COLUMNS_10(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_9(mem, n, __VA_ARGS__)
#define COLUMNS_11(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_10(mem, n, __VA_ARGS__)
#define COLUMNS_12(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_11(mem, n, __VA_ARGS__)
#define COLUMNS_13(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_12(mem, n, __VA_ARGS__)
#define COLUMNS_14(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_13(mem, n, __VA_ARGS__)
#define COLUMNS_15(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_14(mem, n, __VA_ARGS__)
#define COLUMNS_16(mem, n, column, ...) COLUMNS_1(mem, n, column), COLUMNS_15(mem, n, __VA_ARGS__)
/* clang-format on */

#endif
