/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/frames.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "base/memory/keys.h"

double op_self_us(const struct collection *s, enum time_metric metric, uint32_t at)
{
    const struct op_tree *t = &s->tree;
    if (metric == TIME_OF_HOST)
        return (double)t->self_ns[t->by_begin[at]] / 1000;
    double us = 0;
    for (uint32_t i = t->first_started[at]; i < t->first_started[at + 1]; i++)
        us += kernel_replays(s, t->started[i]) == NO_ROW ? s->kernels.dur_us[t->started[i]] : 0;
    return us;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool stack_next(const char *stack, size_t len, size_t *at, struct stack_part *part)
{
    if (*at > len)
        return false;
    const char *from = stack + *at, *semicolon = memchr(from, ';', len - *at);
    const char *to = semicolon ? semicolon : stack + len;
    *at = (size_t)(to - stack) + 1;
    while (from < to && is_blank(*from))
        from++;
    while (from < to && is_blank(to[-1]))
        to--;
    *part = (struct stack_part){ from, (size_t)(to - from) };
    return true;
}

struct frames_building {
    const struct collection *s;
    struct frames *f;
    struct keys places; /* of frames but the root, by (parent, is operator, name) */
    struct keys stacks;
    LIST(uint32_t) leaf; /* by place in stacks: the innermost frame */
    name_id no_stack;
    uint32_t *inside;  /* by row of framework_ops: the frame that contains what the operator calls */
    name_id *stack_of; /* by row of framework_ops: the stack that leads to this frame */
    struct arena *mem, *spare;
};

static uint32_t frame_in(struct frames_building *b, uint32_t parent, name_id name, enum frame_kind kind)
{
    const uint8_t depth = b->f->at.at[parent].depth;
    if (depth == FRAMES_DEEPEST)
        return parent;
    const uint64_t key = (uint64_t)parent << 33 | (uint64_t)(kind == FRAME_OPERATOR) << 32 | name;
    const uint32_t place = keys_add(&b->places, key, b->spare);
    if (place == KEYS_NO_MEMORY)
        return parent;
    if (place + 1 == b->f->at.n) {
        struct frame *new = list_add(&b->f->at, b->mem);
        if (!new)
            return parent;
        *new = (struct frame){ .parent = parent, .name = name, .kind = (uint8_t)kind, .depth = (uint8_t)(depth + 1) };
    }
    return place + 1 < b->f->at.n ? place + 1 : parent;
}

/* Code of libraries, by the place of its installation. Our own package is also used where it was built. */
static bool is_library(const struct stack_part *p)
{
    static const char *const sign[] = { "-packages/", "/lib/python",    "<frozen",
                                        "<built-in",  "/ascope/torch/", "/ascope/torch_npu_compat.py",
                                        "/ascope/_" };
    for (size_t i = 0; i < sizeof sign / sizeof *sign; i++)
        if (memmem(p->text, p->len, sign[i], strlen(sign[i])))
            return true;
    return false;
}

/* The innermost frame of a stack. The same stacks occur many times; each is split only once. */
static uint32_t leaf_of(struct frames_building *b, name_id stack)
{
    const uint32_t place = keys_add(&b->stacks, stack, b->spare);
    if (place == KEYS_NO_MEMORY || place < b->leaf.n)
        return place < b->leaf.n ? b->leaf.at[place] : 0;
    const char *text = names_text(b->s->profile.names, stack);
    const size_t len = names_len(b->s->profile.names, stack);
    struct stack_part part[FRAMES_DEEPEST]; /* the outermost ones of a longer stack, from the inside out */
    size_t n = 0;
    for (size_t at = 0; stack_next(text, len, &at, &part[n % FRAMES_DEEPEST]);)
        n++;
    uint32_t frame = 0;
    for (size_t i = n; i > 0 && n - i < FRAMES_DEEPEST; i--) {
        const struct stack_part *p = &part[(i - 1) % FRAMES_DEEPEST];
        frame = frame_in(b, frame, names_add(b->s->profile.names, p->text, p->len),
                         is_library(p) ? FRAME_LIBRARY : FRAME_PYTHON);
    }
    uint32_t *leaf = list_add(&b->leaf, b->spare);
    if (leaf)
        *leaf = frame;
    return frame;
}

/* The frame of an operator. A step has the frame of its surroundings, so that the same operators of all steps are in
 * one frame. */
static uint32_t frame_of_op(struct frames_building *b, uint32_t row, bool is_step)
{
    const struct framework_ops *o = &b->s->framework.ops;
    const uint32_t outer = b->s->tree.parent[row];
    const name_id own = o->stack[row] == NO_NAME ? NAME_EMPTY : o->stack[row];
    uint32_t in = 0;
    if (outer != NO_ROW && (own == NAME_EMPTY || own == b->stack_of[outer])) {
        in = b->inside[outer];
        b->stack_of[row] = b->stack_of[outer];
    } else {
        in = own == NAME_EMPTY ? frame_in(b, 0, b->no_stack, FRAME_NO_STACK) : leaf_of(b, own);
        b->stack_of[row] = own;
    }
    b->inside[row] = is_step ? in : frame_in(b, in, o->name[row], FRAME_OPERATOR);
    return b->inside[row];
}

struct frames_sorting {
    const struct frame *frame;
    const struct names *names;
};

static int longest_first(const void *a, const void *b, void *context)
{
    const struct frames_sorting *s = context;
    const struct frame *x = &s->frame[*(const uint32_t *)a], *y = &s->frame[*(const uint32_t *)b];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->total_us < y->total_us || x->total_us > y->total_us)
        return x->total_us > y->total_us ? -1 : 1;
    const int by_name = names_compare(s->names, x->name, y->name);
    return by_name ? by_name : x->kind - y->kind;
}

/* Adds the totals of frames to their parents, and builds the lists of children. */
static bool close_tree(struct frames_building *b)
{
    struct frames *f = b->f;
    for (size_t i = f->at.n; i-- > 1;) { /* parents have smaller numbers */
        f->at.at[f->at.at[i].parent].total_us += f->at.at[i].total_us;
        f->at.at[f->at.at[i].parent].n_operators += f->at.at[i].n_operators;
    }
    f->child = arena_take(b->mem, f->at.n, sizeof *f->child);
    f->first_child = arena_take(b->mem, f->at.n + 1, sizeof *f->first_child);
    if (!f->child || !f->first_child)
        return false;
    for (uint32_t i = 1; i < f->at.n; i++) {
        f->child[i - 1] = i;
        f->first_child[f->at.at[i].parent + 1]++;
    }
    for (size_t i = 0; i < f->at.n; i++)
        f->first_child[i + 1] += f->first_child[i];
    if (f->at.n > 1)
        qsort_r(f->child, f->at.n - 1, sizeof *f->child, longest_first,
                &(struct frames_sorting){ f->at.at, b->s->profile.names });
    return true;
}

static void frame_spends(struct frames *f, uint32_t frame, double us)
{
    f->at.at[frame].self_us += us;
    f->at.at[frame].total_us += us;
    f->at.at[frame].n_operators++;
}

/* Kernels of replayed graphs are where their operators were captured. */
static void add_captured(struct frames_building *b)
{
    const struct graph_capture *c = &b->s->profile.captured;
    for (size_t i = 0; i < b->s->kernels.n; i++) {
        const uint32_t op = kernel_replays(b->s, i);
        if (op == NO_ROW)
            continue;
        const uint32_t in =
            c->stack[op] == NAME_EMPTY ? frame_in(b, 0, b->no_stack, FRAME_NO_STACK) : leaf_of(b, c->stack[op]);
        frame_spends(b->f, frame_in(b, in, c->name[op], FRAME_OPERATOR), b->s->kernels.dur_us[i]);
    }
}

bool frames_build(struct frames *f, const struct collection *s, enum time_metric metric, struct arena *mem)
{
    const size_t n = s->framework.ops.n;
    struct names *names = s->profile.names;
    struct arena *spare = arena_new();
    *f = (struct frames){ 0 };
    struct frames_building b = { .s = s, .f = f, .mem = mem, .spare = spare };
    bool ok = spare && list_add(&f->at, mem);
    if (ok) {
        b.no_stack = names_addz(names, "without a Python stack");
        b.inside = arena_take(spare, n, sizeof *b.inside);
        b.stack_of = arena_take(spare, n, sizeof *b.stack_of);
        ok = !arena_failed(spare);
    }
    for (uint32_t at = 0; ok && at < n; at++) {
        const uint32_t row = s->tree.by_begin[at];
        const bool is_step = name_is_step(names, s->framework.ops.name[row]);
        const uint32_t frame = frame_of_op(&b, row, is_step);
        const double us = is_step ? 0 : op_self_us(s, metric, at);
        if (!(us > 0))
            continue;
        frame_spends(f, frame, us);
    }
    if (ok && metric == TIME_OF_DEVICE)
        add_captured(&b);
    ok = ok && !arena_failed(spare) && !arena_failed(mem) && close_tree(&b);
    arena_free(spare);
    return ok;
}
