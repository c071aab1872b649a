/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/device/gpu_held.h"

#include "base/memory/keys.h"
#include "raw/cuda_records.h"

struct gpu_held_block {
    uint64_t bytes; /* 0: released */
    unsigned kind;
};

static void release(uint64_t held[CUDA_MEMORY_KINDS], struct gpu_held_block *b)
{
    held[b->kind] -= b->bytes;
    b->bytes = 0;
}

bool gpu_held_analyse(struct samples *s, struct arena *mem)
{
    if (s->n == 0)
        return true;
    struct arena *scratch = arena_new();
    struct keys address = { 0 };
    struct gpu_held_block *block = scratch ? arena_take(scratch, s->n, sizeof *block) : NULL;
    uint64_t *out = arena_take(mem, s->n, sizeof *out), held[CUDA_MEMORY_KINDS] = { 0 };
    bool done = block && out;
    for (size_t i = 0; done && i < s->n; i++) {
        const uint64_t operation = samples_uint(s, CUDA_MEMORY_OPERATION, i);
        uint64_t kind = samples_uint(s, CUDA_MEMORY_KIND, i);
        kind = kind < CUDA_MEMORY_KINDS ? kind : 0;
        if (operation == CUDA_ALLOCATES || operation == CUDA_RELEASES) {
            const uint32_t place = keys_add(&address, samples_uint(s, CUDA_MEMORY_ADDRESS, i), scratch);
            done = place != KEYS_NO_MEMORY;
            if (!done)
                break;
            release(held, &block[place]);
            if (operation == CUDA_ALLOCATES) {
                block[place] = (struct gpu_held_block){ samples_uint(s, CUDA_MEMORY_BYTES, i), (unsigned)kind };
                held[kind] += block[place].bytes;
            }
        }
        out[i] = held[kind];
    }
    arena_free(scratch);
    s->column[CUDA_MEMORY_HELD].at = out;
    s->column[CUDA_MEMORY_HELD].width = sizeof *out;
    return done;
}
