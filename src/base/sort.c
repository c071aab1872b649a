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

/* Least significant byte first. A byte that is equal in all keys costs nothing but its share of the histogram. */
static bool radix(uint32_t *order, size_t n, struct keyed *a)
{
    struct keyed *b = memory_take(n * sizeof *b);
    size_t(*count)[256] = calloc(8, sizeof *count);
    if (!b || !count) {
        memory_give(b);
        free(count);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        for (int byte = 0; byte < 8; byte++)
            count[byte][a[i].key >> (8 * byte) & 255]++;
    struct keyed *from = a, *to = b;
    for (int byte = 0; byte < 8; byte++) {
        if (count[byte][from[0].key >> (8 * byte) & 255] == n)
            continue;
        size_t at = 0;
        for (int v = 0; v < 256; v++) {
            const size_t here = count[byte][v];
            count[byte][v] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[byte][from[i].key >> (8 * byte) & 255]++] = from[i];
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

static bool is_sorted(const struct keyed *a, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (a[i - 1].key > a[i].key)
            return false;
    return true;
}

#define ORDER_BY(suffix, type)                                                                                         \
    bool order_by_##suffix(uint32_t *order, size_t n, const type *key)                                                 \
    {                                                                                                                  \
        if (n < 2)                                                                                                     \
            return true;                                                                                               \
        struct keyed *a = memory_take(n * sizeof *a);                                                                  \
        if (!a)                                                                                                        \
            return false;                                                                                              \
        for (size_t i = 0; i < n; i++)                                                                                 \
            a[i] = (struct keyed){ key[order[i]], order[i] };                                                          \
        const bool done = is_sorted(a, n) || radix(order, n, a);                                                       \
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
