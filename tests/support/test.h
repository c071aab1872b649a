/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - what every unit test begins with. */
#ifndef ASCOPE_TESTS_TEST_H
#define ASCOPE_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS(table) (sizeof(table) / sizeof *(table))

/* The same numbers on every machine and in every run. */
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
enum { RANDOM_SEED = 20240601 };

/* One in so many of the cases of a long test, where the tree runs a sample; else every one. */
static inline unsigned test_stride(unsigned one_in)
{
    const char *depth = getenv("ASCOPE_DEPTH");
    return depth && strcmp(depth, "sample") == 0 ? one_in : 1;
}

#endif
