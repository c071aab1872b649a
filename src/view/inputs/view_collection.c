/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/memory_allocators.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "load/framework/framework_loaders.h"
#include "open/recording_open.h"
#include "pipeline/drawn.h"
#include "profile/collection.h"
#include "view/rows/view_input.h"

/* Loads the memory of a collection for the viewer: totals of allocators over time, their blocks, and who allocated
 * them. */

/* Loads the totals that each allocator reported, by time. False: no memory. */
static bool totals_load(struct view_input *in, const struct framework_memory *m, const uint32_t *allocator,
                        const uint64_t *allocators, size_t n_keys)
{
    uint32_t *order = arena_take(in->mem, m->n, sizeof *order);
    uint64_t *key = arena_take(in->mem, m->n, sizeof *key);
    if (!order || !key)
        return false;
    order_fill(order, m->n);
    for (size_t i = 0; i < m->n; i++)
        key[i] = (uint64_t)m->time_ns[i] ^ UINT64_C(1) << 63;
    if (!order_by_u64(order, m->n, key))
        return false;
    for (size_t i = 0; i < n_keys; i++) {
        struct view_allocator *a = list_add(&in->allocators, in->mem);
        if (!a)
            return false;
        a->name = memory_allocator_name(allocators[i], in->mem);
        if (!a->name)
            return false;
    }
    for (size_t i = 0; i < m->n; i++) {
        struct view_held *new = list_add(&in->allocators.at[allocator[order[i]]].held, in->mem);
        if (!new)
            return false;
        *new = (struct view_held){ m->time_ns[order[i]], m->allocated_bytes[order[i]], m->reserved_bytes[order[i]] };
    }
    return true;
}

/* A copy of a name that remains valid after the collection is released; each is copied once. */
static const char *kept_name(const char **kept, const struct names *names, name_id id, struct arena *mem)
{
    if (!kept[id])
        kept[id] = arena_text(mem, names_text(names, id), names_len(names, id));
    return kept[id];
}

static bool blocks_load(struct view_input *in, const struct collection *s, const uint32_t *allocator)
{
    const struct memory_lives *l = &s->lives;
    const struct framework_memory *m = &s->framework.memory;
    const char **kept = arena_take(in->mem, names_count(s->profile.names), sizeof *kept);
    in->blocks = arena_take(in->mem, l->n, sizeof *in->blocks);
    if (!kept || (l->n && !in->blocks))
        return false;
    for (size_t i = 0; i < l->n; i++) {
        const uint32_t taken = l->taken[i], end = memory_life_end(l, i);
        in->blocks[i] = (struct view_block){ .begin_ns = m->time_ns[taken],
                                             .end_ns = end == NO_ROW ? INT64_MAX : m->time_ns[end],
                                             .bytes = m->size_bytes[taken],
                                             .allocator = allocator[taken],
                                             .name = kept_name(kept, s->profile.names, l->name[i], in->mem) };
        if (!in->blocks[i].name)
            return false;
    }
    in->n_blocks = l->n;
    return true;
}

/* Assigns each row the index of its allocator in the order of display. False: no memory. */
static bool allocators_find(const struct collection *s, uint32_t *allocator, uint64_t **shown, size_t *n,
                            struct arena *mem)
{
    struct keys keys = { 0 };
    for (size_t i = 0; i < s->framework.memory.n; i++) {
        allocator[i] = keys_add(&keys, memory_allocator_key(s, i), mem);
        if (allocator[i] == KEYS_NO_MEMORY)
            return false;
    }
    *n = keys.key.n;
    uint32_t *order = arena_take(mem, *n, sizeof *order), *place = arena_take(mem, *n, sizeof *place);
    *shown = arena_take(mem, *n, sizeof **shown);
    if (!order || !place || !*shown)
        return false;
    order_fill(order, *n);
    if (!order_by_u64(order, *n, keys.key.at))
        return false;
    order_apply(*shown, keys.key.at, order, *n, sizeof **shown);
    for (size_t i = 0; i < *n; i++)
        place[order[i]] = (uint32_t)i;
    for (size_t i = 0; i < s->framework.memory.n; i++)
        allocator[i] = place[allocator[i]];
    return true;
}

/* false: no memory */
static bool view_memory_load(struct view_input *in, const struct collection *s)
{
    const struct framework_memory *m = &s->framework.memory;
    uint64_t *shown;
    size_t n;
    if (m->n == 0)
        return true;
    uint32_t *allocator = arena_take(in->mem, m->n, sizeof *allocator);
    return allocator && allocators_find(s, allocator, &shown, &n, in->mem) && totals_load(in, m, allocator, shown, n) &&
           blocks_load(in, s, allocator);
}

/* Progress in percent after reading and after drawing; size of the drawn timeline in percent of the raw data. */
enum { READ = 35, DRAWN = 80, DRAWN_PERCENT = 70 };

static bool add_fact(struct view_input *in, const char *name, const char *text)
{
    struct view_fact *f = text ? list_add(&in->facts, in->mem) : NULL;
    if (f)
        *f = (struct view_fact){ name, text };
    return f != NULL;
}

static bool answers_find(struct view_input *in, const struct recording *l)
{
    for (size_t i = 0; i < recording_n_devices(l); i++) {
        const struct run_rank view = recording_rank(l, i);
        if (!view_steps_add(in, &view))
            return false;
    }
    if (l->profile && l->profile->n_devices > 0)
        in->device = l->profile->chip->name; /* of a static table */
    return add_fact(in, "directory", in->path) &&
           add_fact(in, "losses", l->is_lossy ? "some records could not be used; ascope analyse lists them" : "none");
}

/* Comes after the other answers, which pages may be reading already. */
static bool advice_find(struct view_input *in, const struct recording *l)
{
    struct view_advice advice = { 0 };
    return view_advice_add_all(&advice, l, in->path, 0, in->mem) && view_advice_put(&advice, in);
}

bool view_collection_load(struct view_input *in, struct error *e)
{
    const struct view_collection *c = in->context;
    struct recording l = { 0 };
    struct drawn drawn = { 0 };
    const uint64_t bytes = raw_bytes(in->path);
    view_progress_stage(&in->progress, VIEW_READING, 0, READ, bytes);
    bool is_done = recording_open(&l, c->input, 0, c->options->n_threads, e);
    view_progress_stage(&in->progress, VIEW_DRAWING, READ, DRAWN, bytes / 100 * DRAWN_PERCENT);
    if (is_done) {
        atomic_store(&in->is_simulated, recording_is_simulated(&l));
        in->is_lossy = l.is_lossy;
        is_done = (answers_find(in, &l) && view_losses_keep(in, &l.lost) &&
                   (!l.collection || view_memory_load(in, l.collection))) ||
                  error_no_memory(e, in->path);
        atomic_store(&in->has_answers, is_done);
        is_done = is_done && (advice_find(in, &l) || error_no_memory(e, in->path)) &&
                  view_kernel_counters_load(in, &l, c->options, "", e) && view_roofline_load(in, &l, "", e) &&
                  drawn_begin(&drawn, &in->trace, in->path, l.collection, l.profile, c->options, e);
    }
    view_progress_stage(&in->progress, VIEW_ARRANGING, DRAWN, 100, 1);
    recording_close(&l);
    is_done = is_done && drawn_finish(&drawn, &in->drawn, e);
    drawn_end(&drawn);
    return is_done;
}
