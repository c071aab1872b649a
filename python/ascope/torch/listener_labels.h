/* SPDX-License-Identifier: Apache-2.0 */
/* listener_labels.h - operators that came before: the same name with inputs of the same types and shapes is announced to the library
 * when it comes for the second time, and is a number from then on. What never comes again is recorded with its texts.
 *
 * Each thread has a table of what it saw last, by a hash of the name and the inputs. The whole of both is compared.
 */
#pragma once

#include "listener_context.h"
#include "listener_inputs.h"

namespace
{

enum : unsigned { LABEL_WORDS = 31, LABEL_BITS = 10, LABEL_SLOTS = 1 << LABEL_BITS };

struct label_slot {
    uint32_t label; /* 0: seen once, or never announced */
    uint32_t n;     /* words; 0: empty */
    uint64_t word[LABEL_WORDS];
};

/* Lies in memory that is zeros, and is made so when another recording begins. */
struct label_table {
    uint32_t turn;   /* the recording that the labels are of */
    label_slot next; /* what is looked for */
    label_slot slot[LABEL_SLOTS];
};

inline uint64_t word_at(const void *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Words behind each other, and their hash. */
struct label_writer {
    uint64_t *to;
    uint64_t *const end;
    uint64_t hash;

    bool has_room(size_t n) const { return n <= static_cast<size_t>(end - to); }
    void put(uint64_t word)
    {
        *to++ = word;
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    }
};

bool label_put_name(label_writer *w, const char *name, size_t n)
{
    if (!w->has_room(2 + n / 8))
        return false;
    w->put(n);
    if (n >= 8) { /* the last ones may be there twice */
        for (size_t i = 0; i + 8 < n; i += 8)
            w->put(word_at(name + i));
        w->put(word_at(name + n - 8));
    } else {
        uint64_t word = 0;
        memcpy(&word, name, n);
        w->put(word);
    }
    return true;
}

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

bool label_put_inputs(label_writer *w, c10::ArrayRef<const c10::IValue> inputs)
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

inline label_table *label_table_here()
{
    if (__builtin_expect(!here.labels, 0))
        here.labels = static_cast<label_table *>(calloc(1, sizeof(label_table)));
    label_table *const t = here.labels;
    const uint32_t turn = __atomic_load_n(&ascope_recording_turn, __ATOMIC_RELAXED);
    if (t && __builtin_expect(t->turn != turn, 0)) {
        memset(t, 0, sizeof *t);
        t->turn = turn;
    }
    return t;
}

inline bool label_is(const label_slot &slot, const label_slot &wanted)
{
    if (slot.n != wanted.n)
        return false;
    for (uint32_t i = 0; i < wanted.n; i++)
        if (slot.word[i] != wanted.word[i])
            return false;
    return true;
}

/* Where the label of an operator is, or will be. nullptr: it is recorded with its texts. */
label_slot *label_find(label_table *t, const char *name, c10::ArrayRef<const c10::IValue> inputs)
{
    label_writer w{ t->next.word, t->next.word + LABEL_WORDS, 0 };
    if (!label_put_name(&w, name, strlen(name)) || !label_put_inputs(&w, inputs))
        return nullptr;
    t->next.n = static_cast<uint32_t>(w.to - t->next.word);
    label_slot *const slot = &t->slot[w.hash >> (64 - LABEL_BITS)];
    if (__builtin_expect(label_is(*slot, t->next), 1))
        return slot;
    memcpy(slot, &t->next, offsetof(label_slot, word) + t->next.n * sizeof(uint64_t)); /* with label 0 */
    return nullptr;
}

} // namespace
