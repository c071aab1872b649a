/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/sort.h"

#include <string.h>

#include "base/memory/large_memory.h"

void order_fill(uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
}

static unsigned bits_of(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* Sorts numbers by `bits` of their bits, from `low` on, least significant digits first. Digits are as wide as it takes
 * to cover the bits in the fewest passes: more than 11 bits would scatter over more places than the cache holds.
 * Returns a or b, whichever holds the result. */
enum { WIDEST = 11, WIDEST_OF_FEW = 6 };

static uint64_t *radix(uint64_t *a, uint64_t *b, size_t n, unsigned low, unsigned bits)
{
    const unsigned widest =
        n < 1 << WIDEST ? WIDEST_OF_FEW : WIDEST; /* few numbers are sorted before 2048 are counted */
    const unsigned passes = (bits + widest - 1) / widest, width = (bits + passes - 1) / passes;
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    for (unsigned shift = low; shift < low + bits; shift += width) {
        uint32_t count[1 << WIDEST], at = 0; /* of rows, whose numbers have 32 bits */
        memset(count, 0, sizeof *count << width);
        for (size_t i = 0; i < n; i++)
            count[a[i] >> shift & mask]++;
        for (size_t v = 0; v <= mask; v++) {
            const uint32_t here = count[v];
            count[v] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++)
            b[count[a[i] >> shift & mask]++] = a[i];
        uint64_t *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* Rows travel in the low bits of their keys. Keys that leave too little room there are sorted in two parts, the low one
 * first; of either, only the bits in which keys differ. */
#define ORDER_BY(suffix, type)                                                                                         \
    bool order_by_##suffix(uint32_t *order, size_t n, const type *key)                                                 \
    {                                                                                                                  \
        uint64_t differing = 0;                                                                                        \
        uint32_t rows = n > 0 ? order[0] : 0;                                                                          \
        bool is_sorted = true;                                                                                         \
        for (size_t i = 1; i < n; i++) {                                                                               \
            is_sorted &= key[order[i - 1]] <= key[order[i]];                                                           \
            differing |= key[order[i - 1]] ^ key[order[i]];                                                            \
            rows |= order[i];                                                                                          \
        }                                                                                                              \
        if (is_sorted)                                                                                                 \
            return true;                                                                                               \
        const unsigned row_bits = bits_of(rows), high = bits_of(differing);                                            \
        uint64_t *a = memory_take(n * sizeof *a), *b = memory_take(n * sizeof *b);                                     \
        const uint64_t row_mask = ((uint64_t)1 << row_bits) - 1;                                                       \
        for (unsigned low = (unsigned)__builtin_ctzll(differing), bits; a && b && low < high; low += bits) {           \
            bits = high - low < 64 - row_bits ? high - low : 64 - row_bits;                                            \
            for (size_t i = 0; i < n; i++)                                                                             \
                a[i] = (uint64_t)key[order[i]] >> low << row_bits | order[i];                                          \
            const uint64_t *sorted = radix(a, b, n, row_bits, bits);                                                   \
            for (size_t i = 0; i < n; i++)                                                                             \
                order[i] = (uint32_t)(sorted[i] & row_mask);                                                           \
        }                                                                                                              \
        const bool done = a && b;                                                                                      \
        memory_give(a);                                                                                                \
        memory_give(b);                                                                                                \
        return done;                                                                                                   \
    }
ORDER_BY(u64, uint64_t)
ORDER_BY(u32, uint32_t)
ORDER_BY(u16, uint16_t)

#define ORDER_FIRST(suffix, type)                                                                                      \
    size_t order_first_##suffix(const uint32_t *order, size_t n, const type *key, type wanted)                         \
    {                                                                                                                  \
        return SEARCH_FIRST_NOT(i, 0, n, key[order ? order[i] : i] < wanted);                                          \
    }
ORDER_FIRST(u64, uint64_t)
ORDER_FIRST(u32, uint32_t)

#define APPLY(type)                                                                                                    \
    do {                                                                                                               \
        const type *from = in;                                                                                         \
        type *to = out;                                                                                                \
        for (size_t i = 0; i < n; i++)                                                                                 \
            to[i] = from[order[i]];                                                                                    \
    } while (0)

void order_apply(void *out, const void *in, const uint32_t *order, size_t n, size_t size)
{
    switch (size) {
    case 1: APPLY(uint8_t); break;
    case 2: APPLY(uint16_t); break;
    case 4: APPLY(uint32_t); break;
    case 8: APPLY(uint64_t); break;
    default:
        for (size_t i = 0; i < n; i++)
            memcpy((char *)out + i * size, (const char *)in + order[i] * size, size);
    }
}
