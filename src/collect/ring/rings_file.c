/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/rings_file.h"

uint64_t header_check(const struct rings_header *h)
{
    const size_t from = offsetof(struct rings_header, id);
    return check_bytes(check_word(h->version, h->bytes), &h->id, sizeof *h - from);
}

uint64_t commit_check(const struct rings_commit *c, struct rings_id id)
{
    const size_t from = offsetof(struct rings_commit, number);
    uint64_t check = check_bytes(check_id(id), &c->number, offsetof(struct rings_commit, output) - from);
    check = check_bytes(check, c->output, c->n_outputs * sizeof *c->output);
    return check_bytes(check, c->tail, c->n_rings * sizeof *c->tail);
}

uint64_t lane_seed(struct rings_id id, uint32_t ring, unsigned lane)
{
    return check_word(check_id(id), (uint64_t)ring * RING_LANES + lane) | 1;
}

uint32_t open_slots(const struct rings_layout *l)
{
    return (uint32_t)((l->lane_at[0] - l->open_at) / OPEN_SLOT_BYTES);
}

struct open_part open_part(const struct rings_layout *l, unsigned lane)
{
    const uint32_t all = open_slots(l), first = all / 4 * 3;
    return lane == 0 ? (struct open_part){ 0, first } : (struct open_part){ first, all - first };
}
