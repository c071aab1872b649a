/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/write/name_dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "ascope/record.h"
#include "base/text/utf8.h"
#include "collect/ring/ring.h"
#include "raw/name_hash.h"

/* ---- which names were written ---- */

enum { SET_BITS = 13, SETS = 1 << SET_BITS, WAYS = 8 }; /* a set is a cache line */
static _Alignas(64) _Atomic uint64_t said[SETS][WAYS];

static uint64_t mixed(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15;
    key = (key ^ key >> 32) * 0xBF58476D1CE4E5B9;
    return key ^ key >> 32;
}

/* Keys include the number of the recording, so that nothing has to be cleared between two. 0 is no key. */
static uint64_t name_dictionary_key_of(uint64_t number)
{
    return mixed(number ^ mixed(__atomic_load_n(&ascope_recording_turn, __ATOMIC_RELAXED))) | 1;
}

static _Atomic uint64_t *set_of(uint64_t key)
{
    return said[key >> (64 - SET_BITS)];
}

/* True: the name is new, and the caller writes it. Relaxed: finding a key gives access to nothing else. */
static bool say_first(uint64_t key)
{
    _Atomic uint64_t *set = set_of(key);
    for (unsigned i = 0; i < WAYS; i++)
        if (atomic_load_explicit(&set[i], memory_order_relaxed) == key)
            return false;
    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t found = 0;
        if (atomic_compare_exchange_strong_explicit(&set[i], &found, key, memory_order_relaxed, memory_order_relaxed))
            return true;
        if (found == key)
            return false;
    }
    atomic_store_explicit(&set[key >> 1 & (WAYS - 1)], key, memory_order_relaxed);
    return true;
}

static void unsay(uint64_t key)
{
    _Atomic uint64_t *set = set_of(key);
    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t found = key;
        atomic_compare_exchange_strong_explicit(&set[i], &found, 0, memory_order_relaxed, memory_order_relaxed);
    }
}

/* ---- lines of the two dictionaries ---- */

enum { DECIMALS_MOST = 20 };

static size_t decimals(char out[static DECIMALS_MOST], uint64_t value)
{
    char reversed[DECIMALS_MOST];
    size_t n = 0;
    do
        reversed[n++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    for (size_t i = 0; i < n; i++)
        out[i] = reversed[n - 1 - i];
    return n;
}

/* Writes the line "head:text"; characters that would end the line become blanks. */
static bool line_put(enum stream_id stream, const char *head, size_t head_bytes, const char *text, size_t n)
{
    const struct ring_slot slot = ring_put(stream, 0, head_bytes + n + 2);
    if (!slot.at)
        return false;
    char *at = (char *)slot.at;
    memcpy(at, head, head_bytes);
    at += head_bytes;
    *at++ = ':';
    utf8_copy(at, text, n);
    for (const char *end = at + n; at < end; at++)
        if (*at == '\n' || *at == '\r' || *at == '\0')
            *at = ' ';
    *at = '\n';
    ring_done(slot);
    return true;
}

bool names_say(uint64_t hash, const char *text, size_t n)
{
    const uint64_t key = name_dictionary_key_of(hash);
    if (!say_first(key))
        return true;
    char head[DECIMALS_MOST];
    if (line_put(STREAM_NAMES, head, decimals(head, hash), text, n))
        return true;
    unsay(key);
    return false;
}

uint64_t ascope_name(struct ascope_text text)
{
    const uint64_t hash = name_hash_of(text.at, text.n);
    if (text.n > 0 && ascope_records(ASCOPE_RECORDS_DEVICE | ASCOPE_RECORDS_MARKS))
        names_say(hash, text.at, text.n);
    return hash;
}

/* ---- names of types: recorded once per process, before or while anything is recorded ---- */

enum { TYPES_BITS = 13, TYPES = 1 << TYPES_BITS, TYPES_TRIED = 64 };
struct type_name {
    uint64_t number; /* level and type */
    size_t n;
    char text[];
};
static struct type_name *_Atomic types[TYPES]; /* never freed, and never replaced */

static uint64_t type_number(uint16_t level, uint32_t type)
{
    return (uint64_t)level << 32 | type;
}

/* Differs from the keys of texts, whose numbers are hashes. */
static uint64_t type_key(uint64_t number)
{
    return name_dictionary_key_of(~number);
}

static size_t type_slot(uint64_t number, size_t i)
{
    return (mixed(number) + i) & (TYPES - 1);
}

static const struct type_name *type_find(uint64_t number)
{
    for (size_t i = 0; i < TYPES_TRIED; i++) {
        /* acquire: what the pointer points to was filled before it was published */
        const struct type_name *t = atomic_load_explicit(&types[type_slot(number, i)], memory_order_acquire);
        if (!t || t->number == number)
            return t;
    }
    return NULL;
}

void ascope_type_name(uint16_t level, uint32_t type, const char *name)
{
    const uint64_t number = type_number(level, type);
    if (!name || type_find(number))
        return;
    const size_t n = strlen(name);
    struct type_name *fresh = malloc(sizeof *fresh + n);
    if (!fresh)
        return;
    *fresh = (struct type_name){ .number = number, .n = n };
    memcpy(fresh->text, name, n);
    for (size_t i = 0; i < TYPES_TRIED; i++) {
        struct type_name *there = NULL;
        /* release: it is filled; acquire: to read the one that is there */
        if (atomic_compare_exchange_strong_explicit(&types[type_slot(number, i)], &there, fresh, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            unsay(type_key(number)); /* it was used before it had a name: its next use writes the name */
            return;
        }
        if (there->number == number)
            break;
    }
    free(fresh);
}

void names_say_type(uint16_t level, uint32_t type)
{
    const uint64_t number = type_number(level, type), key = type_key(number);
    if (!say_first(key))
        return;
    const struct type_name *name = type_find(number);
    char head[2 * DECIMALS_MOST + 1];
    size_t n = decimals(head, level);
    head[n++] = '_';
    n += decimals(head + n, type);
    if (name && !line_put(STREAM_TYPES, head, n, name->text, name->n))
        unsay(key);
}
