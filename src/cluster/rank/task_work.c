/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/rank_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/memory/tuples.h"
#include "profile/calls.h"

enum { EVENT_RANGE = 2 };

/* Which of the kernels of a range have its operations: the best ones that there are. */
enum suited { SUITS_ANY, SUITS_CUBE, SUITS_PRODUCT, SUITED };

/* What was recorded of one call. */
struct recorded {
    int64_t begin_ns, end_ns;
    double operations;
    name_id name;
    double ns[SUITED]; /* of its kernels */
};

struct recordings {
    LIST(struct recorded) list; /* by begin */
};

/* "48-mm" */
static bool recording_read(struct recorded *to, const char *message, struct names *names)
{
    char *end;
    if (!isdigit((unsigned char)*message))
        return false;
    to->operations = strtod(message, &end);
    if (!(to->operations > 0) || *end != '-' || !end[1] || strspn(message, "0123456789") != (size_t)(end - message))
        return false;
    to->name = names_addz(names, end + 1);
    return true;
}

static bool recordings_find(struct recordings *out, const struct rank *r, struct arena *mem)
{
    const struct rank_marks *const m = &r->marks;
    const name_id domain = names_addz(r->names, "mfu_flops");
    for (size_t i = 0; i < m->n; i++) {
        struct recorded new = { .begin_ns = m->begin_ns[i], .end_ns = m->end_ns[i] };
        if (m->event_type[i] != EVENT_RANGE || m->domain[i] != domain || new.end_ns <= new.begin_ns ||
            !recording_read(&new, names_text(r->names, m->message[i]), r->names))
            continue;
        struct recorded *const to = list_add(&out->list, mem);
        if (!to)
            return false;
        *to = new;
    }
    return true;
}

/* Of the operators with the same number the innermost: the one that begins last. */
static bool innermost_find(struct rank_op_links *out, const struct rank_op_links *l, struct arena *mem)
{
    *out = (struct rank_op_links){ 0, arena_take(mem, l->n, sizeof *out->connection),
                                   arena_take(mem, l->n, sizeof *out->op) };
    for (size_t i = 0; out->connection && out->op && i < l->n; i++) {
        if (i == 0 || l->connection[i] != l->connection[i - 1]) {
            out->connection[out->n] = l->connection[i];
            out->op[out->n++] = l->op[i];
        } else if (l->op[i] > out->op[out->n - 1])
            out->op[out->n - 1] = l->op[i];
    }
    return out->connection && out->op;
}

static uint32_t op_of(const struct rank_op_links *innermost, uint64_t connection)
{
    const size_t i = SEARCH_FIRST_NOT(at, 0, innermost->n, innermost->connection[at] < connection);
    return i < innermost->n && innermost->connection[i] == connection ? innermost->op[i] : NO_ROW;
}

/* In which range an operator began; NULL: in none. */
static struct recorded *recording_of(const struct recordings *all, const struct rank *r, uint32_t op)
{
    if (op == NO_ROW)
        return NULL;
    const int64_t begin = r->ops.begin_ns[op];
    const size_t behind = SEARCH_FIRST_NOT(at, 0, all->list.n, all->list.at[at].begin_ns <= begin);
    struct recorded *const found = behind > 0 ? &all->list.at[behind - 1] : NULL;
    return found && begin <= found->end_ns ? found : NULL;
}

struct by_shapes {
    struct tuples keys;
    LIST(struct kernel_work) work;
};

static const struct kernel_work *by_shapes(struct by_shapes *s, const struct rank *r, uint32_t kernel,
                                           struct arena *mem)
{
    const struct rank_kernels *const k = &r->kernels;
    const uint32_t part[] = { k->op_type[kernel],       k->input_shapes[kernel],  k->input_types[kernel],
                              k->input_formats[kernel], k->output_shapes[kernel], k->output_formats[kernel] };
    const uint32_t at = tuple_add(&s->keys, part, 6, mem);
    if (at == KEYS_NO_MEMORY)
        return NULL;
    if (at == s->work.n) {
        struct kernel_work *const new = list_add(&s->work, mem);
        if (!new)
            return NULL;
        kernel_work_find(new,
                         &(struct kernel_tensors){ names_text(r->names, part[0]),
                                                   { names_text(r->names, part[1]), names_text(r->names, part[4]) },
                                                   { names_text(r->names, part[2]), "" },
                                                   { names_text(r->names, part[3]), names_text(r->names, part[5]) } });
    }
    return &s->work.at[at];
}

static enum suited suited(const struct rank *r, uint32_t kernel, const struct kernel_work *w)
{
    const char *const type = names_text(r->names, r->kernels.task_type[kernel]);
    return w->operations > 0                                              ? SUITS_PRODUCT
           : strcmp(type, "AI_CORE") == 0 || strcmp(type, "MIX_AIC") == 0 ? SUITS_CUBE
                                                                          : SUITS_ANY;
}

static double duration_ns(const struct rank *r, size_t task)
{
    return (double)(r->tasks.end_ns[task] - r->tasks.begin_ns[task]);
}

/* The share of a task in what its range recorded. */
static double share_of(const struct recorded *of, enum suited suits, double ns)
{
    enum suited best = SUITS_PRODUCT;
    while (best > SUITS_ANY && !(of->ns[best] > 0))
        best--;
    return suits == best && of->ns[best] > 0 ? of->operations * (ns / of->ns[best]) : 0;
}

struct task_work *task_work_find(const struct rank *r, struct arena *mem)
{
    struct task_work *const out = arena_take(mem, r->tasks.n, sizeof *out);
    uint8_t *const suits = arena_take(mem, r->tasks.n, sizeof *suits);
    struct recordings recordings = { 0 };
    struct by_shapes shapes = { 0 };
    struct rank_op_links innermost;
    if (!out || !suits || !recordings_find(&recordings, r, mem) || !innermost_find(&innermost, &r->op_links, mem))
        return NULL;
    for (size_t i = 0; i < r->tasks.n; i++) {
        const uint32_t kernel = r->tasks.kernel[i];
        out[i] = (struct task_work){ .op = NO_ROW };
        if (kernel == NO_ROW)
            continue;
        const struct kernel_work *const w = by_shapes(&shapes, r, kernel, mem);
        if (!w)
            return NULL;
        out[i] =
            (struct task_work){ w->operations, kernel_numbers(names_text(r->names, r->kernels.input_types[kernel])),
                                r->kernels.op_type[kernel], op_of(&innermost, r->tasks.connection[i]) };
        struct recorded *const of = recording_of(&recordings, r, out[i].op);
        suits[i] = (uint8_t)suited(r, kernel, w);
        if (of)
            of->ns[suits[i]] += duration_ns(r, i);
    }
    for (size_t i = 0; recordings.list.n > 0 && i < r->tasks.n; i++) {
        const struct recorded *const of = recording_of(&recordings, r, out[i].op);
        const double operations = of ? share_of(of, (enum suited)suits[i], duration_ns(r, i)) : 0;
        if (operations > 0) {
            out[i].operations = operations;
            out[i].by = of->name;
        }
    }
    return out;
}
