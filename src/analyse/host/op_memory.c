/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include "base/memory/hash.h"

static const char file[] = "host/data/additional.task_memory_info";

/* An address with its current allocation. If an address is allocated again without a release, the later allocation
 * takes the place of the first one in the report. */
struct op_memory_holding {
    uint64_t addr, name;
    uint32_t device;
    bool is_used;
    uint32_t first; /* row of the first allocation since the last release, or NO_ROW */
};

struct holdings {
    struct op_memory_holding *slot;
    size_t n_slots; /* a power of two */
};

static struct op_memory_holding *op_memory_find(struct holdings *h, const struct op_memory *m, size_t row)
{
    const uint64_t hash = hash_more(hash_more(hash_u64(m->addr[row]), m->name[row]), m->device[row]);
    size_t at = (size_t)hash & (h->n_slots - 1);
    struct op_memory_holding *s = &h->slot[at];
    while (s->is_used && (s->addr != m->addr[row] || s->name != m->name[row] || s->device != m->device[row])) {
        at = (at + 1) & (h->n_slots - 1);
        s = &h->slot[at];
    }
    if (!s->is_used)
        *s = (struct op_memory_holding){ m->addr[row], m->name[row], m->device[row], true, NO_ROW };
    return s;
}

/* `latest`: by row of a first allocation, the allocation that counts; NO_ROW after its release. */
static uint64_t pair(struct op_memory *m, struct holdings *h, uint32_t *latest)
{
    uint64_t n_unpaired = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        latest[i] = NO_ROW;
        if (m->size[i] == 0)
            continue;
        struct op_memory_holding *s = op_memory_find(h, m, i);
        if (m->size[i] > 0) {
            n_unpaired += s->first != NO_ROW;
            s->first = s->first == NO_ROW ? i : s->first;
            latest[s->first] = i;
        } else if (s->first == NO_ROW) {
            n_unpaired++;
        } else {
            m->lives.allocation[m->lives.n] = latest[s->first];
            m->lives.release[m->lives.n++] = i;
            latest[s->first] = NO_ROW;
            s->first = NO_ROW;
        }
    }
    for (size_t i = 0; i < m->n; i++) {
        if (latest[i] == NO_ROW)
            continue;
        m->lives.allocation[m->lives.n] = latest[i];
        m->lives.release[m->lives.n++] = NO_ROW;
        n_unpaired++;
    }
    return n_unpaired;
}

bool memory_analyse(struct profile *p, struct error *e)
{
    struct op_memory *m = &p->host.records.op_memory;
    struct arena *mem = p->host.source.mem, *temp = arena_new();
    struct holdings h = { .n_slots = 16 };
    while (h.n_slots < m->n * 2)
        h.n_slots *= 2;
    m->lives.n = 0;
    m->lives.allocation = arena_take(mem, m->n, sizeof *m->lives.allocation);
    m->lives.release = arena_take(mem, m->n, sizeof *m->lives.release);
    h.slot = temp ? arena_take(temp, h.n_slots, sizeof *h.slot) : NULL;
    uint32_t *latest = h.slot ? arena_take(temp, m->n, sizeof *latest) : NULL;
    const bool done = latest && m->lives.allocation && m->lives.release;
    if (done)
        losses_add(&p->host.source.lost, LOSS_UNPAIRED, pair(m, &h, latest), file, 0);
    arena_free(temp);
    return done || error_no_memory(e, p->path);
}
