/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

bool kernel_places_take(struct kernel_places *out, const struct profile *p, struct arena *mem)
{
    const bool is_generic = !p->chip->is_native;
    struct kernel_places k = { .p = p,
                               .mem = mem,
                               .comm_sort = is_generic ? PLACE_COMM_GENERIC : PLACE_COMM,
                               .row_of_stream = stream_rows(p, mem),
                               .groups = arena_take(mem, p->n_devices, sizeof *k.groups) };
    int64_t next_row = 0;
    for (size_t i = 0; k.groups && i < p->n_devices; i++) {
        const struct device *d = &p->device[i];
        next_row = is_generic ? 0 : next_row;
        k.groups[i] = comm_groups_find(p, d, NULL, &next_row, mem);
        for (size_t op = 0; op < d->comm.ops.n; op++) /* add all groups now: kernel_place() only looks them up */
            comm_group_of(&k.groups[i], d->comm.ops.group[op], mem);
    }
    *out = k;
    return !arena_failed(mem);
}

struct place kernel_place(const struct kernel_places *places, const struct kernels *k, size_t row)
{
    const uint32_t device = k->device[row];
    const struct source *s = &places->p->device[device].source;
    const uint32_t track = k->track[row];
    if (!k->is_collective[row])
        return (struct place){ trace_pid(s->pid, PLACE_HARDWARE, s->device),
                               track <= UINT16_MAX ? places->row_of_stream[track] : track };
    const struct comm_group *group = comm_group_of(&places->groups[device], track, places->mem);
    return (struct place){ trace_pid(s->pid, places->comm_sort, s->device), group ? group->first_row : 0 };
}
