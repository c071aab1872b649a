/* SPDX-License-Identifier: Apache-2.0 */
/* guarded.h - bytes as a mapped file holds them, with a page behind them that nobody may touch.
 *
 * Readers give the pages of a slice back to the system when they are done, so a slice must never share its pages with
 * anything else, as a piece of the heap would.
 */
#ifndef ASCOPE_TESTS_GUARDED_H
#define ASCOPE_TESTS_GUARDED_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline size_t guarded_pages(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

/* A copy that ends where the forbidden page begins; NULL for no bytes, as an empty file is mapped. */
static inline uint8_t *guarded_copy(const void *bytes, size_t size)
{
    if (size == 0)
        return NULL;
    const size_t room = guarded_pages(size), page = guarded_pages(1);
    uint8_t *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + room, page, PROT_NONE) != 0)
        abort();
    return memcpy(at + room - size, bytes, size);
}

static inline void guarded_free(const uint8_t *copy, size_t size)
{
    if (copy &&
        munmap((void *)(uintptr_t)(copy + size - guarded_pages(size)), guarded_pages(size) + guarded_pages(1)) != 0)
        abort();
}

#endif
