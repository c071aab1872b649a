/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "load/framework/framework_loaders.h"

#include <ctype.h>
#include <string.h>

#include "raw/mindspore.h"

static const char flow_name[] = "flow", dataset_module[] = "Dataset";

/* The contents of a record of either form. */
struct ms_ranges_range {
    uint64_t thread, flow, step, begin, end;
    bool is_stack;
    name_id name;  /* as it is shown */
    name_id label; /* for reports */
    bool is_dataset;
    name_id node, stage, info;
    name_id types, shapes, stack, modules, flops;
};

struct ranges_reading {
    struct framework_loading *l;
    struct framework_file *file;
    struct tlv tlv;
    char *text; /* a name that is composed */
    size_t len, cap;
    struct arena *mem;
    bool is_bad; /* the current record has an impossible value */
};

/* The name of a number; unknown numbers have the first name, and the record is counted as bad. */
static struct tlv_text word(struct ranges_reading *r, const char *const *table, size_t n, uint64_t number)
{
    r->is_bad |= number >= n;
    const char *text = table[number < n ? number : 0];
    return (struct tlv_text){ text, (uint32_t)strlen(text) };
}

static void append(struct ranges_reading *r, const char *text, size_t len)
{
    if (len > r->cap - r->len) {
        const size_t cap = 2 * (r->len + len) + 256;
        char *more = arena_take(r->mem, cap, 1);
        if (!more)
            return;
        if (r->len > 0)
            memcpy(more, r->text, r->len);
        r->text = more;
        r->cap = cap;
    }
    if (len > 0)
        memcpy(r->text + r->len, text, len);
    r->len += len;
}

static struct tlv_text checked(struct ranges_reading *r, struct tlv_text t)
{
    return ms_text_checked(t, &r->is_bad);
}

static name_id text_name(struct ranges_reading *r, struct tlv_text t, name_id otherwise)
{
    return ms_text_name(r->l->r->names, t, otherwise, &r->is_bad);
}

/* "a::b::c" */
static name_id compose(struct ranges_reading *r, struct tlv_text a, struct tlv_text b, struct tlv_text c)
{
    const struct tlv_text part[] = { checked(r, a), checked(r, b), checked(r, c) };
    r->len = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        append(r, "::", i > 0 ? 2 : 0);
        append(r, part[i].at, part[i].len);
    }
    return names_add(r->l->r->names, r->text, r->len);
}

static bool text_is(struct tlv_text t, const char *word)
{
    return t.len == strlen(word) && memcmp(t.at, word, t.len) == 0;
}

/* The first that applies: a Python call, a range of graphs, a stage, an operator. */
static name_id range_name(struct ranges_reading *r, const uint8_t *rec, const struct tlv_text *text)
{
    const struct layout *l = &ms_range_layout;
    const struct tlv_text name = text[MS_TEXT_NAME];
    if (layout_get(l, MS_RANGE_IS_STACK, rec))
        return text_name(r, name, NAME_EMPTY);
    if (layout_get(l, MS_RANGE_IS_GRAPH_DATA, rec))
        return compose(r, text[MS_TEXT_MODULE_GRAPH], text[MS_TEXT_EVENT_GRAPH], name);
    if (layout_get(l, MS_RANGE_IS_STAGE, rec))
        return text_name(r, word(r, ms_stages, MS_STAGES, layout_get(l, MS_RANGE_STAGE, rec)), NAME_EMPTY);
    if (text_is(name, flow_name))
        return text_name(r, text[MS_TEXT_FULL_NAME], NAME_EMPTY);
    return compose(r, word(r, ms_modules, MS_MODULES, layout_get(l, MS_RANGE_MODULE, rec)),
                   word(r, ms_events, MS_EVENTS, layout_get(l, MS_RANGE_EVENT, rec)), text[MS_TEXT_FULL_NAME]);
}

/* For reports, where operators of the same kind count together: "KernelLaunch MatMul" of
 * "RuntimeFramework::KernelLaunch::Default/net-Net/MatMul-op3". What has no such form keeps its name. */
static name_id label_of(struct ranges_reading *r, name_id name)
{
    struct names *names = r->l->r->names;
    const char *text = names_text(names, name), *event = strstr(text, "::"),
               *op = event ? strstr(event + 2, "::") : NULL;
    if (!op || strstr(op, "ProfilerStep#"))
        return name;
    const char *slash = strrchr(op, '/'), *from = slash ? slash + 1 : op + 2, *to = from + strlen(from), *number = to;
    while (number > from && isdigit((unsigned char)number[-1]))
        number--;
    if (number < to && number - from > 3 && memcmp(number - 3, "-op", 3) == 0)
        to = number - 3;
    r->len = 0;
    append(r, event + 2, (size_t)(op - event - 2));
    append(r, " ", from < to);
    append(r, from, (size_t)(to - from));
    return r->len > 0 ? names_add(names, r->text, r->len) : NAME_EMPTY;
}

static struct ms_ranges_range range_read(struct ranges_reading *r, const struct tlv_record *rec)
{
    const struct layout *l = &ms_range_layout;
    struct tlv_text text[MS_TEXTS];
    tlv_texts(&r->tlv, rec, l->size, text, MS_TEXTS);
    struct ms_ranges_range v = { .thread = layout_get(l, MS_RANGE_THREAD, rec->data),
                                 .flow = layout_get(l, MS_RANGE_FLOW, rec->data),
                                 .step = layout_get(l, MS_RANGE_STEP, rec->data),
                                 .begin = layout_get(l, MS_RANGE_BEGIN, rec->data),
                                 .end = layout_get(l, MS_RANGE_END, rec->data),
                                 .is_stack = layout_get(l, MS_RANGE_IS_STACK, rec->data),
                                 .name = range_name(r, rec->data, text),
                                 .info = NO_NAME,
                                 .types = NO_NAME,
                                 .shapes = NO_NAME,
                                 .stack = NO_NAME,
                                 .modules = NO_NAME,
                                 .flops = NO_NAME };
    v.is_dataset = !v.is_stack && layout_get(l, MS_RANGE_IS_GRAPH_DATA, rec->data) &&
                   text_is(text[MS_TEXT_MODULE_GRAPH], dataset_module);
    if (v.is_dataset) {
        v.node = text_name(r, text[MS_TEXT_EVENT_GRAPH], NAME_EMPTY);
        v.stage = text_name(r, text[MS_TEXT_NAME], NAME_EMPTY);
        v.info = text_name(r, text[MS_TEXT_CUSTOM_INFO], NO_NAME);
    }
    return v;
}

/* "Dataset::Map(ID:3)::WorkerProcess" */
static void split_dataset(struct ranges_reading *r, struct ms_ranges_range *v)
{
    struct names *names = r->l->r->names;
    const char *text = names_text(names, v->name);
    const size_t module = strlen(dataset_module);
    const char *node =
        strncmp(text, dataset_module, module) == 0 && strncmp(text + module, "::", 2) == 0 ? text + module + 2 : NULL;
    const char *stage = node ? strstr(node, "::") : NULL;
    v->is_dataset = stage;
    if (!stage)
        return;
    const name_id node_name = names_add(names, node, (size_t)(stage - node));
    v->stage = names_addz(names, stage + 2);
    v->node = node_name;
}

/* A call stack, with each frame on its own line. */
static name_id stack_name(struct ranges_reading *r, struct tlv_text t)
{
    const struct tlv_text text = checked(r, t);
    r->len = 0;
    for (size_t i = 0; i < text.len; i++)
        append(r, text.at[i] == '|' ? "\r\n" : text.at + i, text.at[i] == '|' ? 2 : 1);
    return text.len > 0 ? names_add(r->l->r->names, r->text, r->len) : NO_NAME;
}

/* An empty text was not recorded. */
static name_id filled_name(struct ranges_reading *r, struct tlv_text t)
{
    return t.len > 0 ? text_name(r, t, NO_NAME) : NO_NAME;
}

static struct ms_ranges_range old_range_read(struct ranges_reading *r, const struct tlv_record *rec)
{
    const struct layout *l = &ms_range_s_layout;
    struct tlv_text text[MS_TEXTS_S];
    tlv_texts(&r->tlv, rec, l->size, text, MS_TEXTS_S);
    struct ms_ranges_range v = { .thread = layout_get(l, MS_RANGE_S_THREAD, rec->data),
                                 .flow = layout_get(l, MS_RANGE_S_FLOW, rec->data),
                                 .step = layout_get(l, MS_RANGE_S_STEP, rec->data),
                                 .begin = layout_get(l, MS_RANGE_S_BEGIN, rec->data),
                                 .end = layout_get(l, MS_RANGE_S_END, rec->data),
                                 .name = text_name(r, text[MS_TEXT_S_NAME], NAME_EMPTY),
                                 .info = text_name(r, text[MS_TEXT_S_CUSTOM_INFO], NO_NAME),
                                 .types = filled_name(r, text[MS_TEXT_S_TYPES]),
                                 .shapes = filled_name(r, text[MS_TEXT_S_SHAPES]),
                                 .stack = stack_name(r, text[MS_TEXT_S_STACK]),
                                 .modules = filled_name(r, text[MS_TEXT_S_MODULES]),
                                 .flops = filled_name(r, text[MS_TEXT_S_EXTRA]) };
    split_dataset(r, &v);
    return v;
}

/* The table that a record belongs to. */
enum range_use { USE_NONE, USE_OP, USE_PYTHON, USE_MARK, USE_INSTANT, RANGE_USES };

static enum range_use use_of(const struct ms_ranges_range *v, name_id flow)
{
    if (v->begin == 0) /* it began before the profiler did */
        return USE_NONE;
    if (v->begin == v->end)
        return USE_INSTANT;
    return v->is_stack ? USE_PYTHON : v->name == flow ? USE_MARK : USE_OP;
}

static bool ranges_take(struct framework *f, size_t n, struct arena *mem)
{
    struct framework_ops *o = &f->ops;
    struct python_calls *p = &f->python;
    struct mindspore *ms = &f->ms;
    int64_t **const time[] = { &o->begin_ns, &o->end_ns,         &p->begin_ns,
                               &p->end_ns,   &ms->marks.time_ns, &ms->instants.time_ns };
    uint32_t **const number[] = {
        &o->process,        &o->thread,       &p->process,       &p->thread,           &p->id,
        &p->parent,         &p->module,       &ms->marks.thread, &ms->instants.thread, &ms->dataset.op,
        &o->name,           &o->label,        &o->types,         &o->shapes,           &o->stack,
        &o->modules,        &o->flops,        &p->name,          &ms->instants.name,   &ms->dataset.node,
        &ms->dataset.stage, &ms->dataset.info
    };
    for (size_t i = 0; i < sizeof time / sizeof *time; i++)
        *time[i] = arena_take(mem, n, sizeof **time[i]);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        *number[i] = arena_take(mem, n, sizeof **number[i]);
    arena_columns(mem, n, o->scope, p->key, ms->ranges.flow, ms->ranges.step, ms->marks.flow);
    return !arena_failed(mem);
}

static void add_op(struct framework *f, const struct ms_ranges_range *v, int64_t begin_ns, int64_t end_ns)
{
    struct framework_ops *o = &f->ops;
    struct ms_dataset *d = &f->ms.dataset;
    const size_t i = o->n++;
    o->begin_ns[i] = begin_ns;
    o->end_ns[i] = end_ns;
    o->process[i] = MS_PROCESS;
    o->thread[i] = (uint32_t)v->thread;
    o->name[i] = v->name;
    o->label[i] = v->label;
    o->types[i] = v->types;
    o->shapes[i] = v->shapes;
    o->stack[i] = v->stack;
    o->modules[i] = v->modules;
    o->flops[i] = v->flops;
    f->ms.ranges.flow[i] = v->flow;
    f->ms.ranges.step[i] = v->step;
    if (!v->is_dataset || v->begin > v->end)
        return;
    d->op[d->n] = (uint32_t)i;
    d->node[d->n] = v->node;
    d->stage[d->n] = v->stage;
    d->info[d->n++] = v->info;
}

static void add_range(struct framework *f, const struct ms_ranges_range *v, enum range_use use,
                      const struct framework_clock *c)
{
    struct python_calls *p = &f->python;
    struct ms_marks *m = &f->ms.marks;
    struct ms_instants *t = &f->ms.instants;
    const int64_t begin_ns = framework_ns(c, v->begin), end_ns = framework_ns(c, v->end);
    switch (use) {
    case USE_OP: add_op(f, v, begin_ns, end_ns); break;
    case USE_PYTHON:
        p->begin_ns[p->n] = begin_ns;
        p->end_ns[p->n] = end_ns;
        p->process[p->n] = MS_PROCESS;
        p->thread[p->n] = (uint32_t)v->thread;
        p->module[p->n] = NO_MODULE_NUMBER;
        p->name[p->n++] = v->name;
        break;
    case USE_MARK:
        m->time_ns[m->n] = begin_ns;
        m->thread[m->n] = (uint32_t)v->thread;
        m->flow[m->n++] = v->flow;
        break;
    case USE_INSTANT:
        t->time_ns[t->n] = begin_ns;
        t->thread[t->n] = (uint32_t)v->thread;
        t->name[t->n++] = v->name;
        break;
    default: break;
    }
}

static void load_ranges(struct framework_loading *l, struct framework_file *file, const struct layout *layout,
                        struct ms_ranges_range (*read)(struct ranges_reading *r, const struct tlv_record *rec))
{
    struct ranges_reading r = { .l = l, .file = file, .tlv = framework_tlv(file), .mem = arena_new() };
    const name_id flow = names_addz(l->r->names, flow_name);
    if (r.mem && ranges_take(l->f, tlv_count(&r.tlv, layout->size), file->mem))
        for (struct tlv_record rec; tlv_next(&r.tlv, layout->size, &rec);) {
            r.is_bad = false;
            struct ms_ranges_range v = read(&r, &rec);
            if (!framework_ids(file, rec.at, 0, v.thread))
                continue;
            const enum range_use use = use_of(&v, flow);
            if (use == USE_OP)
                v.label = label_of(&r, v.name);
            losses_add(&file->lost, LOSS_BAD_VALUE, r.is_bad, file->name, rec.at);
            losses_add(&file->lost, LOSS_UNPAIRED, use == USE_NONE, file->name, rec.at);
            add_range(l->f, &v, use, &l->r->clock);
        }
    if (!r.mem || arena_failed(r.mem))
        error_no_memory(&l->error[FRAMEWORK_OPS], file->name);
    arena_free(r.mem);
}

void ms_ranges_load(struct framework_loading *l, struct framework_file *file)
{
    load_ranges(l, file, &ms_range_layout, range_read);
}

void ms_old_ranges_load(struct framework_loading *l, struct framework_file *file)
{
    load_ranges(l, file, &ms_range_s_layout, old_range_read);
}
