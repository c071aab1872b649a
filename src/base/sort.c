#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void order_fill(uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
}

struct keyed {
    uint64_t key;
    uint32_t row;
};

/* Least significant digits first, and only of the bits from `low` on, in which keys differ. Digits are as wide as it takes
 * to cover those in the fewest passes: more than 11 bits would scatter over more places than the cache holds. */
enum { WIDEST = 11 };

static bool radix(uint32_t *order, size_t n, struct keyed *a, unsigned low, unsigned bits)
{
    const unsigned passes = (bits + WIDEST - 1) / WIDEST, width = (bits + passes - 1) / passes;
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    struct keyed *b = memory_take(n * sizeof *b);
    size_t *count = calloc((size_t)1 << width, sizeof *count);
    if (!b || !count) {
        memory_give(b);
        free(count);
        return false;
    }
    struct keyed *from = a, *to = b;
    for (unsigned shift = low; shift < low + bits; shift += width) {
        for (size_t i = 0; i < n; i++)
            count[from[i].key >> shift & mask]++;
        size_t at = 0;
        for (size_t v = 0; v <= mask; v++) {
            const size_t here = count[v];
            count[v] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[from[i].key >> shift & mask]++] = from[i];
        memset(count, 0, sizeof *count << width);
        struct keyed *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = from[i].row;
    memory_give(b);
    free(count);
    return true;
}

#define ORDER_BY(suffix, type)                                                                                         \
    bool order_by_##suffix(uint32_t *order, size_t n, const type *key)                                                 \
    {                                                                                                                  \
        uint64_t differing = 0;                                                                                        \
        bool is_sorted = true;                                                                                         \
        for (size_t i = 1; i < n; i++) {                                                                               \
            is_sorted &= key[order[i - 1]] <= key[order[i]];                                                           \
            differing |= key[order[i - 1]] ^ key[order[i]];                                                            \
        }                                                                                                              \
        if (is_sorted)                                                                                                 \
            return true;                                                                                               \
        struct keyed *a = memory_take(n * sizeof *a);                                                                  \
        if (!a)                                                                                                        \
            return false;                                                                                              \
        for (size_t i = 0; i < n; i++)                                                                                 \
            a[i] = (struct keyed){ key[order[i]], order[i] };                                                          \
        const unsigned low = (unsigned)__builtin_ctzll(differing), high = 64 - (unsigned)__builtin_clzll(differing);   \
        const bool done = radix(order, n, a, low, high - low);                                                         \
        memory_give(a);                                                                                                \
        return done;                                                                                                   \
    }
ORDER_BY(u64, uint64_t)
ORDER_BY(u32, uint32_t)
ORDER_BY(u16, uint16_t)

#define ORDER_FIRST(suffix, type)                                                                                      \
    size_t order_first_##suffix(const uint32_t *order, size_t n, const type *key, type wanted)                         \
    {                                                                                                                  \
        size_t low = 0, high = n;                                                                                      \
        while (low < high) {                                                                                           \
            const size_t middle = low + (high - low) / 2;                                                              \
            if (key[order ? order[middle] : middle] < wanted)                                                          \
                low = middle + 1;                                                                                      \
            else                                                                                                       \
                high = middle;                                                                                         \
        }                                                                                                              \
        return low;                                                                                                    \
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
