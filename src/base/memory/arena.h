/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory that is released all at once.
 *
 * One arena per job: a directory being loaded, a table being exported. Allocate per batch of records, never per record.
 * What was allocated stays valid until arena_free(); only large columns can be released earlier. Not thread-safe: one
 * arena per thread.
 */
#ifndef ASCOPE_BASE_MEMORY_ARENA_H
#define ASCOPE_BASE_MEMORY_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);                                   /* owner: the caller; NULL when out of memory */
void *arena_take(struct arena *a, size_t n, size_t size);        /* n zeroed elements, aligned for any type, or NULL */
char *arena_text(struct arena *a, const char *text, size_t len); /* a copy with a NUL */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* NULL: no memory */
size_t arena_bytes(const struct arena *a); /* bytes that it holds, used or not */
bool arena_failed(const struct arena *a);  /* some take has returned NULL: the caller may check once, at the end */
void arena_free(struct arena *a);          /* NULL is fine */

/* Releases a column before the arena is freed. Small ones stay until then. */
void arena_drop(struct arena *a, const void *column); /* NULL is fine */

/* Releases all but the first n elements of a column that was allocated for as many as there might be. Returns its new
 * address. */
void *arena_trim(struct arena *a, void *column, size_t n, size_t size);

/* A list is an array that grows inside an arena. Growing moves it: keep no pointers into it; for large columns count
 * first and take once. list_add() returns the new, zeroed element, or NULL when there is no memory. */
#define LIST(type)                                                                                                     \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        size_t n, cap;                                                                                                 \
    }
#define list_add(list, arena)                                                                                          \
    ((__typeof__((list)->at))list_grow((arena), (void **)&(list)->at, &(list)->n, &(list)->cap, sizeof *(list)->at))

/* Makes room for so many elements, so that adding them copies nothing. False: no memory. */
#define list_expect(list, arena, wanted)                                                                               \
    list_room((arena), (void **)&(list)->at, (list)->n, &(list)->cap, sizeof *(list)->at, (wanted))

void *list_grow(struct arena *a, void **at, size_t *n, size_t *cap, size_t size);
bool list_room(struct arena *a, void **at, size_t n, size_t *cap, size_t size, size_t wanted);

#endif
