/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/memory_allocators.h"

#include "analyse/framework/memory_series.h"

uint64_t memory_allocator_key(const struct collection *s, size_t row)
{
    const struct framework_memory *m = &s->framework.memory;
    const bool is_on_device = memory_is_on_device(m->device_type[row]);
    const uint64_t device = is_on_device ? (uint64_t)memory_device(s, row) & 0xffff : 0;
    return (uint64_t)!is_on_device << 40 | (uint64_t)(uint8_t)m->device_type[row] << 32 | device << 8 |
           memory_source_of(m, row);
}

const char *memory_allocator_name(uint64_t key, struct arena *mem)
{
    const int type = (int)(key >> 32 & 0xff), number = (int)(key >> 8 & 0xffff);
    const char *kind = type == MEMORY_ON_NPU ? "NPU" : type == MEMORY_ON_CUDA ? "GPU" : "CPU";
    const char *of = (key & 0xff) == MEMORY_OF_WORKSPACE ? ", workspaces" : "";
    if (!memory_is_on_device(type))
        return arena_printf(mem, "%s%s", type == MEMORY_ON_CPU ? kind : "other devices", of);
    return arena_printf(mem, "%s %d%s", kind, number, of);
}
