/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyse/flow/flows.h"
#include "base/memory/sort.h"
#include "export/scope.h"

enum { SCOPES_SORT = 12 };

/* An operator that has a scope. */
struct scoped {
    int64_t begin_ns, end_ns;
    const char *path; /* the path without the last component; len bytes, not terminated */
    size_t len;
};

/* A slice of a layer; depth is its track. */
struct layer {
    uint32_t depth;
    name_id name;
    int64_t begin_ns, end_ns;
};

struct scopes {
    const struct collection_export *x;
    struct trace *t;
    LIST(struct scoped) op;
    LIST(struct layer) open; /* the current slice of each depth */
    LIST(struct layer) closed;
    size_t most_depth;
    struct arena *mem;
};

/* The number of components of a name without the last one, and their length; 0: it is no path of a network. */
static size_t scope_of(const char *name, size_t *len)
{
    static const char *const root[] = { "Default", "Gradients", "recompute_Default" };
    const char *last = strrchr(name, '/');
    bool is_path = false;
    for (size_t i = 0; i < sizeof root / sizeof *root && !is_path; i++)
        is_path = strncmp(name, root[i], strlen(root[i])) == 0;
    if (!is_path || !last)
        return 0;
    size_t n = 1;
    *len = (size_t)(last - name);
    for (size_t i = 0; i < *len; i++)
        n += name[i] == '/';
    return n;
}

/* The part of a name behind the last "::". */
static const char *last_part(const char *name)
{
    const char *at = name;
    for (const char *next; (next = strstr(at, "::"));)
        at = next + 2;
    return at;
}

/* Adds an operator with the scope of its own name or of the range that launched it, whichever has more components. */
static bool ms_scopes_add(struct scopes *s, int64_t begin_ns, int64_t end_ns, const char *own, const char *launch)
{
    size_t own_len = 0, launch_len = 0;
    const char *around = launch ? last_part(launch) : NULL;
    const size_t n_own = scope_of(own, &own_len), n_launch = around ? scope_of(around, &launch_len) : 0;
    if (n_own == 0 && n_launch == 0)
        return true;
    struct scoped *new = list_add(&s->op, s->mem);
    if (!new)
        return false;
    const bool is_own = n_own >= n_launch;
    *new = (struct scoped){ begin_ns, end_ns, is_own ? own : around, is_own ? own_len : launch_len };
    return true;
}

static bool ms_scopes_gather(struct scopes *s)
{
    const struct collection *c = s->x->collection;
    const struct profile *p = &c->profile;
    const struct ms_host_ops *h = &s->x->framework->ms.host_ops;
    bool done = true;
    for (size_t i = 0; done && i < h->n; i++)
        done = ms_scopes_add(s, h->begin_ns[i], h->begin_ns[i] + h->dur_ns[i], names_text(p->names, h->name[i]), NULL);
    for (size_t d = 0; d < p->n_devices && c->has_device; d++) {
        const struct tasks *t = &p->device[d].tasks;
        for (size_t i = 0; done && i < t->n; i++) {
            if (t->is_hidden[i] || !scope_has_task(&s->x->device, t, i))
                continue;
            const struct task_label label =
                task_label(p, t, i, scope_task_host(&s->x->device, t, i), s->x->device.is_generic);
            const name_id launch = c->launches.device[d].of_task[i];
            const int64_t dur_ns = t->dur_ns[i] > 0 && t->dur_ns[i] < 9e18 ? (int64_t)t->dur_ns[i] : 0;
            done = ms_scopes_add(s, t->begin_ns[i], stamp_add(t->begin_ns[i], dur_ns), names_text(p->names, label.name),
                                 launch == NAME_EMPTY ? NULL : names_text(p->names, launch));
        }
    }
    return done;
}

/* Keeps a slice that is over. Slices are written at the end, behind the names of their tracks. */
static bool close_layer(struct scopes *s, size_t depth)
{
    struct layer *new = list_add(&s->closed, s->mem);
    if (new)
        *new = s->open.at[depth];
    return new != NULL;
}

/* Extends the slices of the layers that an operator shares with the one before, from the outermost on, and begins new
 * ones for the others. Slices below its innermost layer stay open, as in the reference: a later operator may extend
 * them. */
static bool extend(struct scopes *s, const struct scoped *op)
{
    struct names *names = s->x->collection->profile.names;
    const char *at = op->path, *const end = op->path + op->len;
    bool is_shared = true;
    for (size_t depth = 0; at <= end; depth++) {
        const char *slash = memchr(at, '/', (size_t)(end - at)), *to = slash ? slash : end;
        const name_id name = names_add(names, at, (size_t)(to - at));
        at = to + 1;
        if (depth < s->open.n && is_shared && s->open.at[depth].name == name) {
            s->open.at[depth].end_ns = op->end_ns;
            continue;
        }
        is_shared = is_shared && depth >= s->open.n;
        if (depth < s->open.n ? !close_layer(s, depth) : !list_add(&s->open, s->mem))
            return false;
        s->open.at[depth] = (struct layer){ (uint32_t)depth, name, op->begin_ns, op->end_ns };
        s->most_depth = depth > s->most_depth ? depth : s->most_depth;
    }
    return true;
}

static bool merge(struct scopes *s)
{
    uint32_t *order = arena_take(s->mem, s->op.n, sizeof *order);
    uint64_t *key = arena_take(s->mem, s->op.n, sizeof *key);
    if (!order || !key)
        return false;
    for (size_t i = 0; i < s->op.n; i++)
        key[i] = (uint64_t)s->op.at[i].begin_ns ^ UINT64_C(1) << 63;
    order_fill(order, s->op.n);
    if (!order_by_u64(order, s->op.n, key))
        return false;
    for (size_t i = 0; i < s->op.n; i++) {
        const struct scoped *op = &s->op.at[order[i]];
        const bool is_beside =
            s->open.n > 0 && op->begin_ns < s->open.at[0].end_ns; /* slices of a track must not overlap */
        if (!is_beside && !extend(s, op))
            return false;
    }
    bool done = true;
    for (size_t i = 0; done && i < s->open.n; i++)
        done = close_layer(s, i);
    return done;
}

static void ms_scopes_write_all(const struct scopes *s)
{
    struct trace *t = s->t;
    trace_process(t, MS_SCOPES_PROCESS, "Scope Layer", NULL, SCOPES_SORT);
    for (size_t depth = 0; depth <= s->most_depth; depth++) {
        char name[32];
        snprintf(name, sizeof name, "Thread %zu", depth);
        trace_thread(t, MS_SCOPES_PROCESS, (int64_t)depth, name, (int64_t)depth);
    }
    for (size_t i = 0; i < s->closed.n; i++) {
        const struct layer *l = &s->closed.at[i];
        trace_slice_name(t, l->name, MS_SCOPES_PROCESS, l->depth, l->begin_ns, (double)(l->end_ns - l->begin_ns));
        trace_category(t, "");
        trace_args(t);
        trace_end(t);
    }
}

bool ms_scopes_draw(const struct collection_export *x, struct trace *t)
{
    struct scopes s = { .x = x, .t = t, .mem = arena_new() };
    const bool done = s.mem && ms_scopes_gather(&s) && merge(&s);
    if (done && s.closed.n > 0)
        ms_scopes_write_all(&s);
    arena_free(s.mem);
    return done;
}
