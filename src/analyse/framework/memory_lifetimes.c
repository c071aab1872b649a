/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/memory_lifetimes.h"

#include "analyse/framework/memory_names.h"
#include "analyse/framework/memory_series.h"
#include "base/memory/sort.h"

static const uint64_t SIGN = UINT64_C(1) << 63;

/* The events of device allocators in two orders, in scratch memory. */
struct memory_lifetimes_events {
    size_t n;
    uint64_t *time;       /* of every row, as an unsigned sort key */
    uint32_t *by_time;    /* rows */
    uint32_t *by_address; /* rows by process, address and time */
    uint32_t *position;   /* of every row, in by_time */
};

static bool events_sort(struct memory_lifetimes_events *v, const struct framework_memory *m, struct arena *mem)
{
    v->time = arena_take(mem, m->n, sizeof *v->time);
    v->by_time = arena_take(mem, m->n, sizeof *v->by_time);
    v->by_address = arena_take(mem, m->n, sizeof *v->by_address);
    v->position = arena_take(mem, m->n, sizeof *v->position);
    if (arena_failed(mem))
        return false;
    for (uint32_t i = 0; i < m->n; i++) {
        v->time[i] = (uint64_t)m->time_ns[i] ^ SIGN;
        if (memory_is_on_device(m->device_type[i]) && m->allocator[i] == ALLOCATOR_INNER)
            v->by_time[v->n++] = i;
    }
    if (!order_by_u64(v->by_time, v->n, v->time))
        return false;
    for (uint32_t i = 0; i < v->n; i++) {
        v->by_address[i] = v->by_time[i];
        v->position[v->by_time[i]] = i;
    }
    return order_by_u64(v->by_address, v->n, m->pointer) && order_by_u32(v->by_address, v->n, m->process);
}

/* Lifetimes as they are found: address by address. */
struct memory_lifetimes_found {
    size_t n;
    uint32_t *row[3];    /* by kind */
    uint32_t *position;  /* by time, of the first event of the address */
    uint64_t n_unpaired; /* halves without the other */
};

static bool found_take(struct memory_lifetimes_found *f, size_t most, struct arena *mem)
{
    for (int k = 0; k < 3; k++)
        f->row[k] = arena_take(mem, most, sizeof *f->row[k]);
    f->position = arena_take(mem, most, sizeof *f->position);
    return !arena_failed(mem);
}

/* Counts the missing events of the last lifetime. Blocks of the caching allocator are allocated, freed and returned to
 * the pool; on GPUs, and where records name owners, there is no return. Workspaces are not checked: they are not
 * returned to a pool. */
static void count_missing(struct memory_lifetimes_found *f, const struct framework_memory *m)
{
    const size_t life = f->n - 1;
    const uint32_t row = f->row[MEMORY_MALLOC][life];
    if (m->component[row] != COMPONENT_CACHING)
        return;
    const bool has_two = m->owner || m->device_type[row] == MEMORY_ON_CUDA;
    for (int k = MEMORY_FREE; k <= (has_two ? MEMORY_FREE : MEMORY_BLOCK_FREE); k++)
        f->n_unpaired += f->row[k][life] == NO_ROW;
}

/* Divides the events of one address, by time, into lifetimes. */
static void find_lives(struct memory_lifetimes_found *f, const struct framework_memory *m, const uint32_t *row,
                       size_t n, uint32_t position)
{
    bool is_open = false;
    for (size_t i = 0; i < n; i++) {
        const uint8_t kind = m->kind[row[i]];
        if (kind > MEMORY_BLOCK_FREE)
            continue;
        if (is_open && f->row[kind][f->n - 1] == NO_ROW) {
            f->row[kind][f->n - 1] = row[i];
            continue;
        }
        if (is_open)
            count_missing(f, m);
        if (is_open && kind == MEMORY_MALLOC && m->owner && f->row[MEMORY_FREE][f->n - 1] == NO_ROW)
            f->n--; /* its end was lost: MindSpore's own table has only the later one */
        is_open = kind == MEMORY_MALLOC;
        f->n_unpaired += !is_open;
        if (is_open) {
            f->row[MEMORY_MALLOC][f->n] = row[i];
            f->row[MEMORY_FREE][f->n] = f->row[MEMORY_BLOCK_FREE][f->n] = NO_ROW;
            f->position[f->n++] = position;
        }
    }
    if (is_open)
        count_missing(f, m);
}

static void find_all(struct memory_lifetimes_found *f, const struct framework_memory *m,
                     const struct memory_lifetimes_events *v)
{
    for (size_t first = 0, n; first < v->n; first += n) {
        const uint32_t *row = v->by_address + first;
        for (n = 1;
             first + n < v->n && m->pointer[row[n]] == m->pointer[*row] && m->process[row[n]] == m->process[*row];)
            n++;
        find_lives(f, m, row, n, v->position[*row]);
    }
}

static bool put_in_order(struct memory_lives *l, const struct memory_lifetimes_found *f,
                         const struct memory_lifetimes_events *v, struct arena *mem, struct arena *scratch)
{
    uint32_t *order = arena_take(scratch, f->n, sizeof *order);
    uint64_t *when = arena_take(scratch, f->n, sizeof *when);
    uint32_t **const column[] = {
        [MEMORY_MALLOC] = &l->taken, [MEMORY_FREE] = &l->freed, [MEMORY_BLOCK_FREE] = &l->returned
    };
    for (int k = 0; k < 3; k++)
        *column[k] = arena_take(mem, f->n, sizeof **column[k]);
    l->name = arena_take(mem, f->n, sizeof *l->name);
    if (arena_failed(mem) || arena_failed(scratch))
        return false;
    for (size_t i = 0; i < f->n; i++)
        when[i] = v->time[f->row[MEMORY_MALLOC][i]];
    order_fill(order, f->n);
    if (!order_by_u32(order, f->n, f->position) || !order_by_u64(order, f->n, when))
        return false;
    for (int k = 0; k < 3; k++)
        order_apply(*column[k], f->row[k], order, f->n, sizeof **column[k]);
    l->n = f->n;
    return true;
}

bool memory_lives_analyse(struct collection *s, struct error *e)
{
    const struct framework_memory *m = &s->framework.memory;
    struct framework_file *file = &s->framework.file[FRAMEWORK_MEMORY];
    struct arena *scratch = arena_new();
    struct memory_lifetimes_events v = { 0 };
    struct memory_lifetimes_found f = { 0 };
    struct memory_names names;
    s->lives = (struct memory_lives){ 0 };
    bool done = scratch && events_sort(&v, m, scratch) && found_take(&f, v.n, scratch);
    if (done)
        find_all(&f, m, &v);
    done = done && put_in_order(&s->lives, &f, &v, s->mem, scratch) &&
           (m->owner || s->lives.n == 0 || memory_names_make(&names, s, scratch));
    uint64_t n_nameless = 0;
    for (size_t i = 0; done && i < s->lives.n; i++) {
        s->lives.name[i] = m->owner ? m->owner[s->lives.taken[i]] : memory_name(&names, s->lives.taken[i]);
        n_nameless += s->lives.name[i] == NAME_EMPTY;
    }
    losses_add(&file->lost, LOSS_UNPAIRED, f.n_unpaired, file->name, 0);
    losses_add(&file->lost, LOSS_UNMATCHED, n_nameless, file->name, 0);
    done = done && !arena_failed(scratch);
    arena_free(scratch);
    return done || error_no_memory(e, s->path);
}
