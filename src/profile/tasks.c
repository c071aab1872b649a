/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/tasks.h"

bool edges_take(struct edges *e, size_t n, struct arena *mem)
{
    *e = (struct edges){ .id = arena_take(mem, n, sizeof *e->id),
                         .tick = arena_take(mem, n, sizeof *e->tick),
                         .type = arena_take(mem, n, sizeof *e->type),
                         .is_end = arena_take(mem, n, sizeof *e->is_end) };
    return !arena_failed(mem);
}

void edges_add(struct edges *e, uint32_t id, uint64_t tick, uint8_t type, bool is_end)
{
    e->id[e->n] = id;
    e->tick[e->n] = tick;
    e->type[e->n] = type;
    e->is_end[e->n++] = is_end;
}
