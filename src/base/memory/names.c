/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/names.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/arena.h"
#include "base/memory/hash.h"
#include "base/files/out.h"
#include "base/text/utf8.h"

enum { UNKNOWN_BYTES = sizeof UTF8_UNKNOWN - 1 };
/* Entries are in pages that never move, so that a reader needs no lock for an id that it has. */
enum { PAGE_BITS = 12, PAGE_ENTRIES = 1 << PAGE_BITS, MAX_PAGES = 1 << 16 };

struct names_entry {
    const char *text;
    uint32_t len, hash;
};

struct names {
    pthread_mutex_t lock;
    struct arena *mem;
    struct names_entry **page; /* MAX_PAGES of them */
    uint32_t n;
    uint32_t *slot; /* open addressing, id + 1, 0 = free; the size is a power of two */
    uint32_t n_slots;
    int failed;
};

static struct names_entry *entry_of(const struct names *s, name_id id)
{
    return &s->page[id >> PAGE_BITS][id & (PAGE_ENTRIES - 1)];
}

static bool is_entry(const struct names_entry *e, const char *text, size_t len, uint32_t hash)
{
    return e->hash == hash && e->len == len && memcmp(e->text, text, len) == 0;
}

/* Eight bytes at a time: there may be a million call stacks of kilobytes. */
static uint32_t hash_of(const char *text, size_t len, bool *is_ascii)
{
    const uint64_t high_bits = 0x8080808080808080;
    uint64_t h = hash_seed ^ len, bits = 0, word = 0;
    size_t i = 0;
    for (; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        bits |= word;
        h = (h ^ word) * 0x9E3779B97F4A7C15;
        h ^= h >> 32;
    }
    word = 0;
    memcpy(&word, text + i, len - i);
    *is_ascii = ((bits | word) & high_bits) == 0;
    return (uint32_t)hash_u64(h ^ word);
}

/* Writes a name with U+FFFD for each byte that is not UTF-8 to `out`, unless that is NULL; returns its length. */
static size_t clean(const char *text, size_t len, char *out)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        const size_t sequence = p[i] < 0x80 ? 1 : utf8_len(p + i, len - i), put = sequence ? sequence : UNKNOWN_BYTES;
        if (out)
            memcpy(out + n, sequence ? text + i : UTF8_UNKNOWN, put);
        n += put;
        i += sequence ? sequence : 1;
    }
    return n;
}

static int slots_grow(struct names *s)
{
    const uint32_t more = s->n_slots ? s->n_slots * 2 : 1024;
    uint32_t *slot = calloc(more, sizeof *slot);
    if (!slot)
        return 0;
    for (name_id id = 0; id < s->n; id++) {
        uint32_t at = entry_of(s, id)->hash & (more - 1);
        while (slot[at])
            at = (at + 1) & (more - 1);
        slot[at] = id + 1;
    }
    free(s->slot);
    s->slot = slot;
    s->n_slots = more;
    return 1;
}

static name_id add_hashed(struct names *s, const char *text, size_t len, uint32_t hash, bool is_ascii);

static name_id add_locked(struct names *s, const char *text, size_t len)
{
    bool is_ascii;
    const uint32_t hash = hash_of(text, len, &is_ascii);
    return add_hashed(s, text, len, hash, is_ascii);
}

/* All outputs are UTF-8: invalid bytes are replaced here, once, and not by each writer. */
static name_id add_cleaned(struct names *s, const char *text, size_t len, size_t cleaned_len)
{
    char *cleaned = malloc(cleaned_len);
    s->failed |= !cleaned;
    if (!cleaned)
        return NAME_EMPTY;
    clean(text, len, cleaned);
    const name_id id = add_locked(s, cleaned, cleaned_len);
    free(cleaned);
    return id;
}

static name_id add_hashed(struct names *s, const char *text, size_t len, uint32_t hash, bool is_ascii)
{
    if (!is_ascii) {
        /* an invalid byte is replaced by three, so the length changes */
        const size_t cleaned = clean(text, len, NULL);
        if (cleaned != len)
            return add_cleaned(s, text, len, cleaned);
    }
    if (s->n_slots == 0 || s->n > s->n_slots / 2) {
        if (s->n_slots >= 1u << 31 || !slots_grow(s))
            goto failed;
    }
    uint32_t at = hash & (s->n_slots - 1);
    for (; s->slot[at]; at = (at + 1) & (s->n_slots - 1)) {
        if (is_entry(entry_of(s, s->slot[at] - 1), text, len, hash))
            return s->slot[at] - 1;
    }
    const uint32_t page = s->n >> PAGE_BITS;
    if (page >= MAX_PAGES || len > UINT32_MAX)
        goto failed;
    if (!s->page[page])
        s->page[page] = arena_take(s->mem, PAGE_ENTRIES, sizeof(struct names_entry));
    char *copy = s->page[page] ? arena_text(s->mem, text, len) : NULL;
    if (!copy)
        goto failed;
    s->page[page][s->n & (PAGE_ENTRIES - 1)] = (struct names_entry){ copy, (uint32_t)len, hash };
    s->slot[at] = ++s->n;
    return s->n - 1;
failed:
    s->failed = 1;
    return NAME_EMPTY;
}

name_id names_add(struct names *s, const char *text, size_t len)
{
    pthread_mutex_lock(&s->lock);
    const name_id id = add_locked(s, text, len);
    pthread_mutex_unlock(&s->lock);
    return id;
}

name_id names_add_recent(struct names *s, struct names_recent *recent, const char *text, size_t len)
{
    bool is_ascii;
    const uint32_t hash = hash_of(text, len, &is_ascii);
    name_id *last = &recent->slot[hash % NAMES_RECENT];
    if (!is_entry(entry_of(s, *last), text, len, hash)) {
        pthread_mutex_lock(&s->lock);
        *last = add_hashed(s, text, len, hash, is_ascii);
        pthread_mutex_unlock(&s->lock);
    }
    return *last;
}

name_id names_addz(struct names *s, const char *text)
{
    return names_add(s, text, strlen(text));
}

name_id names_number(struct names *s, uint64_t number)
{
    char text[24];
    return names_add(s, text, digits_put(text, number));
}

struct names *names_new(void)
{
    struct names *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->mem = arena_new();
    s->page = s->mem ? arena_take(s->mem, MAX_PAGES, sizeof(struct names_entry *)) : NULL;
    if (!s->page || names_addz(s, "") != NAME_EMPTY || names_addz(s, "N/A") != NAME_NA || s->failed) {
        names_free(s);
        return NULL;
    }
    return s;
}

const char *names_text(const struct names *s, name_id id)
{
    return entry_of(s, id)->text;
}

size_t names_len(const struct names *s, name_id id)
{
    return entry_of(s, id)->len;
}

size_t names_count(const struct names *s)
{
    pthread_mutex_t *lock = &((struct names *)s)->lock; /* other threads may be adding */
    pthread_mutex_lock(lock);
    const size_t n = s->n;
    pthread_mutex_unlock(lock);
    return n;
}

int names_compare(const struct names *s, name_id a, name_id b)
{
    if (a == b)
        return 0;
    const struct names_entry *x = entry_of(s, a), *y = entry_of(s, b);
    const int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

int names_failed(const struct names *s)
{
    return s->failed;
}

void names_free(struct names *s)
{
    if (!s)
        return;
    arena_free(s->mem);
    free(s->slot);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
