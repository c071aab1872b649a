/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/large_memory.h"

/* Small requests share blocks, each twice as large as the one before: most arenas of a small export hold a few texts. A
 * large request gets a block of its own, which comes zeroed from the system: pages that are never written cost
 * nothing. */
#ifndef ARENA_BLOCK_BYTES
#define ARENA_BLOCK_BYTES (1 << 18) /* tests use a tiny one, so that every request is an allocation that can fail */
#endif
enum { BLOCK_BYTES = ARENA_BLOCK_BYTES, FIRST_BLOCK_BYTES = BLOCK_BYTES / 32, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size; /* of data */
    _Alignas(ALIGN) unsigned char data[];
};

struct arena {
    struct arena_block *first; /* the one that small requests are cut from, or NULL */
    struct arena_block *large;
    size_t bytes; /* of all blocks */
    bool failed;
};

struct arena *arena_new(void)
{
    return calloc(1, sizeof(struct arena));
}

static struct arena_block *block_new(struct arena *a, struct arena_block **list, size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(struct arena_block))
        return NULL;
    struct arena_block *b = memory_column(sizeof *b + bytes);
    if (!b)
        return NULL;
    b->size = bytes;
    a->bytes += bytes;
    b->next = *list;
    *list = b;
    return b;
}

void *arena_take(struct arena *a, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX - ALIGN) {
        a->failed = true;
        return NULL;
    }
    bytes = bytes ? (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
    struct arena_block *b = a->first;
    const size_t next = !b ? FIRST_BLOCK_BYTES : b->size < BLOCK_BYTES ? b->size * 2 : BLOCK_BYTES;
    if (!b || bytes > b->size - b->used)
        b = bytes > next / 4 ? block_new(a, &a->large, bytes) : block_new(a, &a->first, next);
    if (!b) {
        a->failed = true;
        return NULL;
    }
    void *p = b->data + b->used;
    b->used += bytes;
    return p;
}

char *arena_text(struct arena *a, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? arena_take(a, len + 1, 1) : NULL;
    if (copy && len > 0)
        memcpy(copy, text, len);
    return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int len = vsnprintf(NULL, 0, fmt, args);
    char *text = len < 0 ? NULL : arena_take(a, (size_t)len + 1, 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    va_end(args);
    return text;
}

size_t arena_bytes(const struct arena *a)
{
    return a->bytes;
}

bool arena_failed(const struct arena *a)
{
    return a->failed;
}

static void blocks_free(struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;
        memory_give(b);
        b = next;
    }
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    blocks_free(a->first);
    blocks_free(a->large);
    free(a);
}

void arena_drop(struct arena *a, const void *column)
{
    for (struct arena_block **b = &a->large; *b; b = &(*b)->next)
        if ((*b)->data == column) {
            struct arena_block *gone = *b;
            *b = gone->next;
            a->bytes -= gone->size;
            memory_give(gone);
            return;
        }
}

void *arena_trim(struct arena *a, void *column, size_t n, size_t size)
{
    enum { LEAST_GAIN = 1 << 16 }; /* less is not worth a system call */
    struct arena_block **b = &a->large;
    while (*b && (*b)->data != column)
        b = &(*b)->next;
    if (!*b || (*b)->size < n * size + LEAST_GAIN)
        return column;
    a->bytes -= (*b)->size - n * size;
    *b = memory_trim(*b, sizeof **b + n * size);
    (*b)->size = (*b)->used = n * size;
    return (*b)->data;
}

bool list_room(struct arena *a, void **at, size_t n, size_t *cap, size_t size, size_t wanted)
{
    if (wanted <= *cap)
        return true;
    void *bigger = arena_take(a, wanted, size);
    if (!bigger)
        return false;
    if (n > 0)
        memcpy(bigger, *at, n * size);
    arena_drop(a, *at);
    *at = bigger;
    *cap = wanted;
    return true;
}

void *list_grow(struct arena *a, void **at, size_t *n, size_t *cap, size_t size)
{
    if (*n == *cap && !list_room(a, at, *n, cap, size, *cap ? *cap * 2 : 16))
        return NULL;
    return (char *)*at + (*n)++ * size;
}
