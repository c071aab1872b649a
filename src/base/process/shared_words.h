/* SPDX-License-Identifier: Apache-2.0 */
/* shared_words.h - a structure in memory that others read while it is written, copied word by word.
 *
 * A number says whether the words are of one state: the writer changes it before and after, the reader takes it before
 * and after. The words are put with release and got with acquire, so that a reader that got one new word sees the
 * number that was stored before it. Fences would do the same, but ThreadSanitizer does not see them. The number that
 * completes a state is stored with release, and is first taken with acquire. On x86 all of these are plain loads and
 * stores.
 */
#ifndef ASCOPE_BASE_PROCESS_SHARED_WORDS_H
#define ASCOPE_BASE_PROCESS_SHARED_WORDS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The words that n bytes take. */
#define SHARED_WORDS(n) (((n) + sizeof(uint64_t) - 1) / sizeof(uint64_t))

static inline void words_put(_Atomic uint64_t *to, const void *from, size_t n)
{
    for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)from + at, n - at < sizeof word ? n - at : sizeof word);
        atomic_store_explicit(to++, word, memory_order_release); /* after the number */
    }
}

static inline void words_get(void *to, const _Atomic uint64_t *from, size_t n)
{
    for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
        const uint64_t word = atomic_load_explicit(from++, memory_order_acquire); /* before the second look */
        memcpy((char *)to + at, &word, n - at < sizeof word ? n - at : sizeof word);
    }
}

#endif
