/* SPDX-License-Identifier: Apache-2.0 */
/* listener_context.h - what the listener keeps of an operator between its begin and its end, and of each thread.
 *
 * PyTorch allocates a context for each operator. Its memory is reused by the next one of the thread, with the buffer of
 * its texts.
 */
#pragma once

#include <ATen/record_function.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <pthread.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ascope/record.h"
#include "ascope/sim.h"

namespace
{

enum : size_t { TEXT_ROOM = 2048, TEXTS_MOST = 60000 }; /* a record has 64 KiB */

struct text_piece {
    uint32_t at, n;
};

/* Lies before each context, and stays when that is gone: memory of an operator is given to the next one of the thread. */
struct alignas(64) memory {
    char *text;
    size_t used, room;
    ascope_sim_op *sim;
    bool is_on_sim;
    uint64_t exchange, flops; /* on the simulated device; a range: 0: none */
    unsigned wants;           /* of the recording that had it last: only those texts have bytes */
    ascope_op op;

    bool reserve(size_t more)
    {
        if (used + more <= room)
            return true;
        const size_t wanted = (used + more) * 2 < TEXT_ROOM ? size_t{ TEXT_ROOM } : (used + more) * 2;
        char *const larger = static_cast<char *>(realloc(text, wanted));
        if (!larger)
            return false;
        text = larger;
        room = wanted;
        return true;
    }
    void put(const char *at, size_t n)
    {
        if (!reserve(n))
            return;
        memcpy(text + used, at, n);
        used += n;
    }
    void put(char c)
    {
        if (reserve(1))
            text[used++] = c;
    }
    void put_number(uint64_t value, unsigned base = 10)
    {
        char digits[20];
        unsigned n = 0;
        do
            digits[sizeof digits - ++n] = "0123456789abcdef"[value % base];
        while ((value /= base) != 0);
        put(digits + sizeof digits - n, n);
    }
    void put_signed(int64_t value)
    {
        if (value < 0)
            put('-');
        put_number(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
    }
    void put_pointer(const void *p)
    {
        put("0x", 2);
        put_number(reinterpret_cast<uintptr_t>(p), 16);
    }
    template <typename LIST> void put_list(const LIST &list)
    {
        bool is_first = true;
        for (const int64_t value : list) {
            if (!is_first)
                put(',');
            is_first = false;
            put_signed(value);
        }
    }
};

enum : unsigned { SPARE_MOST = 64 }; /* operators inside of each other, as a rule */

struct label_table; /* listener_labels.h */

/* In place of a context that is gone. */
struct spare {
    void *vtable; /* as it was */
    spare *next;
};

/* Plain data, reached without a constructor's guard. */
struct alignas(64) mine {
    ::spare *spare;
    unsigned spare_room;  /* how many more it may have; 0 also before the key knows the thread */
    uint32_t labels_turn; /* the recording that the labels are of */
    label_table *labels;  /* nullptr: none yet */
    at::CallbackHandle callback;
    at::CallbackHandle mark_callback; /* of collectives; 0: none */
    torch::profiler::impl::ProfilerStateBase *reporter;
    bool is_child;   /* asked for it by itself, and ends it by itself */
    bool is_known;   /* to the key that cleans up when the thread ends */
    bool is_counted; /* inside an operator whose FLOPs are recorded */
};
__thread mine here __attribute__((tls_model("initial-exec")));
pthread_key_t thread_end;

/* Room for a context behind it, which is a line of the cache with what most operators have. */
void *memory_make(size_t bytes)
{
    void *m = nullptr;
    if (posix_memalign(&m, alignof(memory), sizeof(memory) + bytes) != 0)
        return nullptr;
    memset(m, 0, sizeof(memory) + bytes);
    return static_cast<memory *>(m) + 1;
}

void memory_free(memory *m)
{
    free(m->text);
    free(m->sim);
    free(m);
}

void spare_free(void *)
{
    while (spare *const s = here.spare) {
        here.spare = s->next;
        memory_free(reinterpret_cast<memory *>(s) - 1);
    }
    here.spare_room = 0;
    free(std::exchange(here.labels, nullptr));
    here.is_known = false;
}

/* False: it has as many as it may have. Collectives end in threads where none begins. */
bool spare_room_make()
{
    if (here.is_known)
        return false;
    here.is_known = pthread_setspecific(thread_end, &here) == 0;
    here.spare_room = here.is_known ? unsigned{ SPARE_MOST } : 0;
    return here.is_known;
}

struct context : at::ObserverContext {
    /* All that there is of an operator that came before (listener_labels.h); label.number 0: it is in own(). */
    ascope_label label;
    uint64_t begin, forward_thread;
    int64_t sequence;
    uint32_t frame;
    uint8_t scope;

    static void *operator new(size_t bytes) noexcept
    {
        spare *const s = here.spare;
        if (__builtin_expect(!s, 0))
            return memory_make(bytes);
        here.spare = s->next;
        here.spare_room++;
        return s;
    }
    static void operator delete(void *p) noexcept
    {
        if (__builtin_expect(here.spare_room == 0, 0) && !spare_room_make()) {
            memory_free(static_cast<memory *>(p) - 1);
            return;
        }
        spare *const s = static_cast<spare *>(p);
        s->next = here.spare;
        here.spare = s;
        here.spare_room--;
    }
    memory *own() { return reinterpret_cast<memory *>(this) - 1; }
};

} // namespace
