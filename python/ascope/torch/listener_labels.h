/* SPDX-License-Identifier: Apache-2.0 */
/* listener_labels.h - operators that came before: the same name with inputs of the same types and shapes is announced
 * to the library when it comes for the second time, and is a number from then on. What never comes again is recorded
 * with its texts.
 *
 * Each thread has a table of the names that it saw, and of the inputs that it saw last, by a hash. The whole of both is
 * compared, each time: an address may have become that of another name, and is only where to look first.
 */
#pragma once

#include "listener_context.h"
#include "listener_inputs.h"

namespace
{

enum : unsigned {
    NAME_WORDS = 12,
    NAME_BITS = 10,
    NAMES_MOST = 1 << NAME_BITS,
    NAME_LOOKS = 8,
    PLACE_BITS = 9,
    LABEL_WORDS = 30,
    LABEL_BITS = 10,
    LABEL_SLOTS = 1 << LABEL_BITS,
    LABEL_LOOKS = 8
};
enum : uint64_t { MIX = 0x9E3779B97F4A7C15u };
enum : uintptr_t { PAGE = 4096 }; /* or a multiple */

struct alignas(64) label_name {
    ascope_label label; /* of the name alone; number 0: not announced */
    uint64_t last;      /* which bits of its last word are the text, and the zero behind it */
    uint64_t hash;
    uint32_t n; /* words; 0: empty */
    bool came_before;
    uint64_t word[NAME_WORDS];
};

struct alignas(64) label_slot {
    ascope_label label; /* number 0: seen once, or never announced */
    uint64_t n;         /* words; 0: empty */
    uint64_t word[LABEL_WORDS];
};

/* Where a name was found, and what was there the last time. */
struct label_place {
    const char *at;
    label_name *name;
};

/* Lies in memory that is zeros, and is made so when another recording begins. */
struct label_table {
    label_slot next;                       /* what is looked for */
    label_place place[1 << PLACE_BITS][2]; /* two names of the same hash would take turns in one */
    label_name name[NAMES_MOST];
    label_slot slot[LABEL_SLOTS];
};

inline uint64_t word_at(const void *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* ---- names ---- */

/* Eight bytes; those behind the end of the text, which are anything, are read only from a page that the text is in. */
inline __attribute__((no_sanitize("address"))) uint64_t text_word(const char *at)
{
    if ((reinterpret_cast<uintptr_t>(at) & (PAGE - 1)) <= PAGE - sizeof(uint64_t))
        return word_at(at);
    uint64_t word = 0;
    memcpy(&word, at, strnlen(at, sizeof word));
    return word;
}

/* The words of a text up to the first with a zero in it, which has zeros from there on. False: it is too long. */
bool name_read(label_name *name, const char *text)
{
    const uint64_t ones = 0x0101010101010101u;
    for (name->n = 0; name->n < NAME_WORDS; text += sizeof(uint64_t)) {
        const uint64_t word = text_word(text), zeros = (word - ones) & ~word & ones << 7;
        const uint64_t first = zeros & -zeros; /* right for the first one */
        name->last = first == 0 ? ~uint64_t{ 0 } : first << 1 == 0 ? ~uint64_t{ 0 } : (first << 1) - 1;
        name->word[name->n] = word & name->last;
        name->hash = (name->hash ^ name->word[name->n++]) * MIX;
        if (first != 0)
            return true;
    }
    return false;
}

inline label_place *places_of(label_table *t, const char *text)
{
    return t->place[reinterpret_cast<uintptr_t>(text) * MIX >> (64 - PLACE_BITS)];
}

__attribute__((noinline)) label_name *name_find(label_table *t, const char *text)
{
    label_name wanted = {};
    if (!name_read(&wanted, text))
        return nullptr;
    for (uint64_t i = wanted.hash >> (64 - NAME_BITS), end = i + NAME_LOOKS; i < end; i++) {
        label_name *const name = &t->name[i % NAMES_MOST];
        if (name->n == 0)
            *name = wanted;
        else if (name->n != wanted.n || memcmp(name->word, wanted.word, wanted.n * sizeof(uint64_t)) != 0)
            continue;
        if (reinterpret_cast<uintptr_t>(text) % PAGE + wanted.n * sizeof(uint64_t) <= PAGE) {
            label_place *const place = places_of(t, text);
            place[1] = place[0];
            place[0] = { text, name };
        }
        return name;
    }
    return nullptr;
}

/* Its words are in one page, as they were when the address was noted. */
inline __attribute__((always_inline, no_sanitize("address"))) bool name_is(const label_name *name, const char *text)
{
    const size_t last = name->n - 1;
    for (size_t i = 0; i < last; i++)
        if (word_at(text + i * sizeof(uint64_t)) != name->word[i])
            return false;
    return (word_at(text + last * sizeof(uint64_t)) & name->last) == name->word[last];
}

/* nullptr: it is too long, or there are too many. */
inline __attribute__((always_inline)) label_name *name_of(label_table *t, const char *text)
{
    const label_place *const place = places_of(t, text);
    for (unsigned i = 0; i < 2; i++)
        if (__builtin_expect(place[i].at == text && name_is(place[i].name, text), 1))
            return place[i].name;
    return name_find(t, text);
}

/* ---- inputs ---- */

/* Words behind each other, and their hash. */
struct label_writer {
    uint64_t *to;
    uint64_t *const end;
    uint64_t hash;

    bool has_room(size_t n) const { return n <= static_cast<size_t>(end - to); }
    void put(uint64_t word)
    {
        *to++ = word;
        hash = (hash ^ word) * MIX;
    }
};

/* What add_type() writes for it. */
enum input_kind : uint8_t { INPUT_NONE, INPUT_SCALAR, INPUT_TENSOR_LIST, INPUT_SCALAR_LIST, INPUT_TENSOR };

inline input_kind kind_of(const c10::IValue &v)
{
    if (v.isNone())
        return INPUT_NONE;
    if (v.isScalar())
        return INPUT_SCALAR;
    if (!v.isList())
        return INPUT_NONE;
    if (v.isTensorList())
        return INPUT_TENSOR_LIST;
    return v.toListRef().empty() || v.toListRef()[0].isScalar() ? INPUT_SCALAR_LIST : INPUT_NONE;
}

inline __attribute__((always_inline)) bool label_put_inputs(label_writer *w, c10::ArrayRef<const c10::IValue> inputs)
{
    for (const c10::IValue &v : inputs) {
        if (!v.isTensor() || !is_plain(v.toTensor())) {
            if (!w->has_room(1))
                return false;
            w->put(v.isTensor() ? INPUT_NONE : kind_of(v));
            continue;
        }
        const at::Tensor &t = v.toTensor();
        const auto sizes = t.sizes();
        const auto type = static_cast<uint64_t>(t.scalar_type());
        if (type_names[type].n == 0 || !w->has_room(1 + sizes.size()))
            return false;
        w->put(INPUT_TENSOR | type << 8 | static_cast<uint64_t>(sizes.size()) << 16);
        for (const int64_t size : sizes)
            w->put(static_cast<uint64_t>(size));
    }
    return true;
}

/* nullptr: no memory. */
__attribute__((noinline)) label_table *label_table_begin(uint32_t turn)
{
    void *t = here.labels;
    if (!t && posix_memalign(&t, alignof(label_table), sizeof(label_table)) != 0)
        return nullptr;
    memset(t, 0, sizeof(label_table));
    here.labels_turn = turn;
    return here.labels = static_cast<label_table *>(t);
}

inline label_table *label_table_here()
{
    const uint32_t turn = __atomic_load_n(&ascope_recording_turn, __ATOMIC_RELAXED);
    if (__builtin_expect(here.labels && here.labels_turn == turn, 1))
        return here.labels;
    return label_table_begin(turn);
}

inline bool label_is(const label_slot &slot, const label_slot &wanted)
{
    if (slot.n != wanted.n)
        return false;
    for (uint64_t i = 0; i < wanted.n; i++)
        if (slot.word[i] != wanted.word[i])
            return false;
    return true;
}

/* Behind its place, where another one is. Where there is no room it takes the place of that one. */
__attribute__((noinline)) ascope_label *label_find_further(label_table *t, uint64_t first)
{
    label_slot *to = &t->slot[first];
    for (uint64_t i = first; i < first + LABEL_LOOKS; i++) {
        label_slot *const slot = &t->slot[i % LABEL_SLOTS];
        if (label_is(*slot, t->next))
            return &slot->label;
        if (slot->n == 0) {
            to = slot;
            break;
        }
    }
    memcpy(to, &t->next, offsetof(label_slot, word) + t->next.n * sizeof(uint64_t)); /* with label 0 */
    return nullptr;
}

/* Where the label of an operator is, or will be. nullptr: it is recorded with its texts. */
inline __attribute__((always_inline)) ascope_label *label_find(label_table *t, const char *text,
                                                               c10::ArrayRef<const c10::IValue> inputs)
{
    label_name *const name = name_of(t, text);
    if (!name)
        return nullptr;
    if (inputs.empty()) {
        const bool is_again = name->label.number != 0 || std::exchange(name->came_before, true);
        return is_again ? &name->label : nullptr;
    }
    label_writer w{ t->next.word, t->next.word + LABEL_WORDS, name->hash };
    *w.to++ = reinterpret_cast<uintptr_t>(name);
    if (!label_put_inputs(&w, inputs))
        return nullptr;
    t->next.n = static_cast<uint64_t>(w.to - t->next.word);
    const uint64_t first = w.hash >> (64 - LABEL_BITS);
    if (__builtin_expect(label_is(t->slot[first], t->next), 1))
        return &t->slot[first].label;
    return label_find_further(t, first);
}

} // namespace
