/* SPDX-License-Identifier: Apache-2.0 */
#include "load/ms_load.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"
#include "load/ms_pipeline.h"
#include "load/text.h"
#include "raw/framework_values.h"
#include "raw/mindspore.h"

static const uint64_t FREED = UINT64_MAX; /* size of a block that was given back */
static const char flow_name[] = "flow", dataset_module[] = "Dataset";

/* What is read of a record of either form. */
struct range {
    uint64_t thread, flow, begin, end;
    bool is_stack;
    name_id name; /* as it is shown */
    bool is_dataset;
    name_id node, stage, info;
    name_id types, shapes, stack, modules, flops;
};

struct ranges_reading {
    struct framework_loading *l;
    struct framework_file *file;
    struct tlv tlv;
    LIST(char) text; /* a name that is composed */
    struct arena *mem;
    bool is_bad; /* of the record: something in it cannot be */
};

/* Text that is not UTF-8 is replaced as a whole, as the reference does, and counted. */
static struct tlv_text checked(struct ranges_reading *r, struct tlv_text t)
{
    for (size_t i = 0, len; i < t.len; i += len) {
        const unsigned char *at = (const unsigned char *)t.at + i;
        len = *at < 0x80 ? 1 : utf8_len(at, t.len - i);
        if (len == 0) {
            r->is_bad = true;
            return (struct tlv_text){ "N/A", 3 };
        }
    }
    return t;
}

static name_id text_name(struct ranges_reading *r, struct tlv_text t, name_id otherwise)
{
    const struct tlv_text text = checked(r, t);
    return text.at ? names_add(r->l->r->names, text.at, text.len) : otherwise;
}

/* The name of a number; of one that is not in the table the first, and it is counted. */
static struct tlv_text word(struct ranges_reading *r, const char *const *table, size_t n, uint64_t number)
{
    r->is_bad |= number >= n;
    const char *text = table[number < n ? number : 0];
    return (struct tlv_text){ text, (uint32_t)strlen(text) };
}

static void append(struct ranges_reading *r, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char *c = list_add(&r->text, r->mem);
        if (c)
            *c = text[i];
    }
}

/* "a::b::c" */
static name_id compose(struct ranges_reading *r, struct tlv_text a, struct tlv_text b, struct tlv_text c)
{
    const struct tlv_text part[] = { checked(r, a), checked(r, b), checked(r, c) };
    r->text.n = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        append(r, "::", i > 0 ? 2 : 0);
        append(r, part[i].at, part[i].len);
    }
    return names_add(r->l->r->names, r->text.at, r->text.n);
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

static struct range range_read(struct ranges_reading *r, const struct tlv_record *rec)
{
    const struct layout *l = &ms_range_layout;
    struct tlv_text text[MS_TEXTS];
    tlv_texts(&r->tlv, rec, l->size, text, MS_TEXTS);
    struct range v = { .thread = layout_get(l, MS_RANGE_THREAD, rec->data),
                       .flow = layout_get(l, MS_RANGE_FLOW, rec->data),
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
static void split_dataset(struct ranges_reading *r, struct range *v)
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

/* Frames of a call stack on lines of their own. */
static name_id stack_name(struct ranges_reading *r, struct tlv_text t)
{
    const struct tlv_text text = checked(r, t);
    r->text.n = 0;
    for (size_t i = 0; i < text.len; i++)
        append(r, text.at[i] == '|' ? "\r\n" : text.at + i, text.at[i] == '|' ? 2 : 1);
    return text.len > 0 ? names_add(r->l->r->names, r->text.at, r->text.n) : NO_NAME;
}

/* What is empty was not recorded. */
static name_id filled_name(struct ranges_reading *r, struct tlv_text t)
{
    return t.len > 0 ? text_name(r, t, NO_NAME) : NO_NAME;
}

static struct range old_range_read(struct ranges_reading *r, const struct tlv_record *rec)
{
    const struct layout *l = &ms_range_s_layout;
    struct tlv_text text[MS_TEXTS_S];
    tlv_texts(&r->tlv, rec, l->size, text, MS_TEXTS_S);
    struct range v = { .thread = layout_get(l, MS_RANGE_S_THREAD, rec->data),
                       .flow = layout_get(l, MS_RANGE_S_FLOW, rec->data),
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

/* What a record becomes. */
enum range_use { USE_NONE, USE_OP, USE_PYTHON, USE_MARK, USE_INSTANT, RANGE_USES };

static enum range_use use_of(const struct range *v, name_id flow)
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
        &o->process,       &o->thread,         &p->process,          &p->thread,      &p->id,   &p->parent,
        &p->module,        &ms->marks.thread,  &ms->instants.thread, &ms->dataset.op, &o->name, &o->types,
        &o->shapes,        &o->stack,          &o->modules,          &o->flops,       &p->name, &ms->instants.name,
        &ms->dataset.node, &ms->dataset.stage, &ms->dataset.info
    };
    for (size_t i = 0; i < sizeof time / sizeof *time; i++)
        *time[i] = arena_take(mem, n, sizeof **time[i]);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        *number[i] = arena_take(mem, n, sizeof **number[i]);
    o->scope = arena_take(mem, n, sizeof *o->scope);
    p->key = arena_take(mem, n, sizeof *p->key);
    ms->ranges.flow = arena_take(mem, n, sizeof *ms->ranges.flow);
    ms->marks.flow = arena_take(mem, n, sizeof *ms->marks.flow);
    return !arena_failed(mem);
}

static void add_op(struct framework *f, const struct range *v, int64_t begin_ns, int64_t end_ns)
{
    struct framework_ops *o = &f->ops;
    struct ms_dataset *d = &f->ms.dataset;
    const size_t i = o->n++;
    o->begin_ns[i] = begin_ns;
    o->end_ns[i] = end_ns;
    o->process[i] = MS_PROCESS;
    o->thread[i] = (uint32_t)v->thread;
    o->name[i] = v->name;
    o->types[i] = v->types;
    o->shapes[i] = v->shapes;
    o->stack[i] = v->stack;
    o->modules[i] = v->modules;
    o->flops[i] = v->flops;
    f->ms.ranges.flow[i] = v->flow;
    if (!v->is_dataset || v->begin > v->end)
        return;
    d->op[d->n] = (uint32_t)i;
    d->node[d->n] = v->node;
    d->stage[d->n] = v->stage;
    d->info[d->n++] = v->info;
}

static void add_range(struct framework *f, const struct range *v, enum range_use use, const struct framework_clock *c)
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
                        struct range (*read)(struct ranges_reading *r, const struct tlv_record *rec))
{
    struct ranges_reading r = { .l = l, .file = file, .tlv = framework_tlv(file), .mem = arena_new() };
    const name_id flow = names_addz(l->r->names, flow_name);
    if (r.mem && ranges_take(l->f, tlv_count(&r.tlv, layout->size), file->mem))
        for (struct tlv_record rec; tlv_next(&r.tlv, layout->size, &rec);) {
            r.is_bad = false;
            const struct range v = read(&r, &rec);
            if (!framework_ids(file, rec.at, 0, v.thread))
                continue;
            const enum range_use use = use_of(&v, flow);
            losses_add(&file->lost, LOSS_BAD_VALUE, r.is_bad, file->name, rec.at);
            losses_add(&file->lost, LOSS_UNPAIRED, use == USE_NONE, file->name, rec.at);
            add_range(l->f, &v, use, &l->r->clock);
        }
    if (!r.mem || arena_failed(r.mem))
        error_no_memory(&l->error[FRAMEWORK_OPS], file->name);
    arena_free(r.mem);
}

static void load_new_ranges(struct framework_loading *l, struct framework_file *file)
{
    load_ranges(l, file, &ms_range_layout, range_read);
}

static void load_old_ranges(struct framework_loading *l, struct framework_file *file)
{
    load_ranges(l, file, &ms_range_s_layout, old_range_read);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static bool memory_columns_take(struct framework_memory *m, size_t n, struct arena *mem)
{
    int64_t **const wide[] = { &m->time_ns,        &m->size_bytes,   &m->allocated_bytes,
                               &m->reserved_bytes, &m->active_bytes, &m->stream };
    uint32_t **const number[] = { &m->process, &m->thread, &m->owner };
    uint8_t **const small[] = { &m->component, &m->kind, &m->allocator };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        *wide[i] = arena_take(mem, n, sizeof **wide[i]);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        *number[i] = arena_take(mem, n, sizeof **number[i]);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        *small[i] = arena_take(mem, n, sizeof **small[i]);
    m->pointer = arena_take(mem, n, sizeof *m->pointer);
    m->device_type = arena_take(mem, n, sizeof *m->device_type);
    m->device = arena_take(mem, n, sizeof *m->device);
    return !arena_failed(mem);
}

/* Totals that do not fit a signed number are damaged. */
static bool memory_is_bad(const struct layout *l, const uint8_t *rec)
{
    const uint64_t size = layout_get(l, MS_MEMORY_SIZE, rec), device = layout_get(l, MS_MEMORY_DEVICE, rec);
    return layout_get(l, MS_MEMORY_TIME, rec) > STAMP_MOST || layout_get(l, MS_MEMORY_USED, rec) > INT64_MAX ||
           layout_get(l, MS_MEMORY_RESERVED, rec) > INT64_MAX || (size > INT64_MAX && size != FREED) ||
           device > INT8_MAX;
}

static void load_memory(struct framework_loading *l, struct framework_file *file)
{
    const struct layout *layout = &ms_memory_layout;
    struct framework_memory *m = &l->f->memory;
    struct ranges_reading r = { .l = l, .file = file, .tlv = framework_tlv(file) };
    if (!memory_columns_take(m, tlv_count(&r.tlv, layout->size), file->mem))
        return;
    for (struct tlv_record rec; tlv_next(&r.tlv, layout->size, &rec);) {
        const uint64_t process = layout_get(layout, MS_MEMORY_PROCESS, rec.data),
                       thread = layout_get(layout, MS_MEMORY_THREAD, rec.data),
                       size = layout_get(layout, MS_MEMORY_SIZE, rec.data);
        struct tlv_text text[MS_MEMORY_TEXTS];
        if (!framework_ids(file, rec.at, process, thread))
            continue;
        r.is_bad = memory_is_bad(layout, rec.data);
        losses_add(&file->lost, LOSS_BAD_VALUE, r.is_bad, file->name, rec.at);
        if (r.is_bad)
            continue;
        tlv_texts(&r.tlv, &rec, layout->size, text, MS_MEMORY_TEXTS);
        const size_t i = m->n++;
        m->time_ns[i] = (int64_t)layout_get(layout, MS_MEMORY_TIME, rec.data);
        m->pointer[i] = layout_get(layout, MS_MEMORY_ADDRESS, rec.data);
        m->kind[i] = size == FREED ? MEMORY_FREE : MEMORY_MALLOC;
        m->size_bytes[i] = size == FREED ? 0 : (int64_t)size;
        m->allocated_bytes[i] = m->active_bytes[i] = (int64_t)layout_get(layout, MS_MEMORY_USED, rec.data);
        m->reserved_bytes[i] = (int64_t)layout_get(layout, MS_MEMORY_RESERVED, rec.data);
        m->stream[i] = (int64_t)layout_get(layout, MS_MEMORY_STREAM_POINTER, rec.data);
        m->device_type[i] = MEMORY_ON_NPU;
        m->device[i] = (int8_t)layout_get(layout, MS_MEMORY_DEVICE, rec.data);
        m->component[i] = COMPONENT_CACHING;
        m->allocator[i] = ALLOCATOR_INNER;
        m->process[i] = (uint32_t)process;
        m->thread[i] = (uint32_t)thread;
        m->owner[i] = text_name(&r, text[MS_MEMORY_TEXT_OWNER], NAME_EMPTY);
        losses_add(&file->lost, LOSS_BAD_VALUE, r.is_bad, file->name, rec.at);
    }
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

struct lines {
    struct framework_file *file;
    struct bytes in;
    size_t line_at;
};

static struct lines lines_of(struct framework_file *file)
{
    return (struct lines){ .file = file, .in = { file->data, file->size, 0 } };
}

/* The next line that is not empty, without blanks at its ends. False: that was all. */
static bool next_line(struct lines *l, struct word *line)
{
    *line = (struct word){ 0 };
    while (line->len == 0) {
        size_t len = 0;
        l->line_at = l->in.at;
        const char *at = bytes_line(&l->in, &len);
        if (!at)
            return false;
        *line = word_trim((struct word){ at, len });
    }
    return true;
}

static void line_lost(struct lines *l)
{
    losses_add(&l->file->lost, LOSS_BAD_TEXT, 1, l->file->name, l->line_at);
}

static size_t count_bytes(const struct framework_file *file, char c)
{
    size_t n = 1;
    for (size_t i = 0; i < file->size; i++)
        n += file->data[i] == (uint8_t)c;
    return n;
}

/* The part in front of a separator; rest: behind it. False: there is none. */
static bool split(struct word *rest, char at, struct word *part)
{
    const char *found = rest->len > 0 ? memchr(rest->at, at, rest->len) : NULL;
    if (!found)
        return false;
    *part = (struct word){ rest->at, (size_t)(found - rest->at) };
    *rest = (struct word){ found + 1, rest->len - part->len - 1 };
    return true;
}

/* A time, or how many ns: digits, a point, digits; further digits round, a half to the even one. Very short times have exponents. */
static bool decimal_ns(struct word w, unsigned decimals, int64_t *out)
{
    uint64_t held;
    double real;
    if (w.len > 0 && memchr(w.at, 'e', w.len) && word_real(w, &real) && real >= 0 && real < 1e9) {
        *out = (int64_t)nearbyint(real * pow(10, decimals));
        return true;
    }
    const char *point = w.len > 0 ? memchr(w.at, '.', w.len) : NULL;
    const size_t kept = point ? (size_t)(point - w.at) + 1 + decimals : w.len;
    if (!word_fixed(w, decimals, &held) || held > STAMP_MOST)
        return false;
    int rest = 0; /* of what is dropped: below, at, or above a half */
    for (size_t i = kept; i < w.len; i++)
        rest = i == kept ? (w.at[i] > '5') - (w.at[i] < '5') : rest == 0 && w.at[i] > '0' ? 1 : rest;
    *out = (int64_t)held + (kept < w.len && (rest > 0 || (rest == 0 && held % 2 != 0)));
    return true;
}

/* "start ns,duration ms,thread" */
static bool read_run(struct word run, struct ms_host_ops *o)
{
    struct word begin, dur;
    uint64_t begin_ns, thread;
    int64_t dur_ns;
    if (!split(&run, ',', &begin) || !split(&run, ',', &dur) || !word_u64(begin, &begin_ns) || begin_ns > STAMP_MOST ||
        !decimal_ns(dur, 6, &dur_ns) || !word_u64(run, &thread) || thread > UINT32_MAX)
        return false;
    o->begin_ns[o->n] = (int64_t)begin_ns;
    o->dur_ns[o->n] = dur_ns;
    o->thread[o->n] = (uint32_t)thread;
    return true;
}

/* "name;type;run run run": the name may have semicolons itself. */
static void load_host_ops(struct framework_loading *l, struct framework_file *file)
{
    struct ms_host_ops *o = &l->f->ms.host_ops;
    const size_t most = count_bytes(file, ' ') + count_bytes(file, '\n');
    o->begin_ns = arena_take(file->mem, most, sizeof *o->begin_ns);
    o->dur_ns = arena_take(file->mem, most, sizeof *o->dur_ns);
    o->thread = arena_take(file->mem, most, sizeof *o->thread);
    o->name = arena_take(file->mem, most, sizeof *o->name);
    o->type = arena_take(file->mem, most, sizeof *o->type);
    if (arena_failed(file->mem))
        return;
    struct lines lines = lines_of(file);
    for (struct word line; next_line(&lines, &line);) {
        const char *runs = memrchr(line.at, ';', line.len);
        const char *type = runs ? memrchr(line.at, ';', (size_t)(runs - line.at)) : NULL;
        if (!type) {
            line_lost(&lines);
            continue;
        }
        const name_id name = names_add(l->r->names, line.at, (size_t)(type - line.at)),
                      type_name = names_add(l->r->names, type + 1, (size_t)(runs - type - 1));
        struct word rest = { runs + 1, line.len - (size_t)(runs + 1 - line.at) };
        while (rest.len > 0) {
            struct word run = rest;
            if (split(&rest, ' ', &run))
                rest = word_trim(rest);
            else
                rest.len = 0;
            o->name[o->n] = name;
            o->type[o->n] = type_name;
            if (read_run(run, o))
                o->n++;
            else
                line_lost(&lines);
        }
    }
}

static void load_totals(struct framework_loading *l, struct framework_file *file)
{
    struct ms_memory_totals *t = &l->f->ms.totals;
    const size_t most = count_bytes(file, '\n');
    uint64_t **const column[] = { &t->allocated_bytes, &t->reserved_bytes, &t->active_bytes };
    t->time_ns = arena_take(file->mem, most, sizeof *t->time_ns);
    for (size_t i = 0; i < 3; i++)
        *column[i] = arena_take(file->mem, most, sizeof **column[i]);
    if (arena_failed(file->mem))
        return;
    struct lines lines = lines_of(file);
    for (struct word line; next_line(&lines, &line);) {
        struct word time, part[2];
        uint64_t ns;
        if (word_starts(line, "Timestamp"))
            continue;
        if (!split(&line, ',', &time) || !split(&line, ',', &part[0]) || !split(&line, ',', &part[1]) ||
            !word_u64(time, &ns) || ns > STAMP_MOST || !word_u64(part[0], &t->allocated_bytes[t->n]) ||
            !word_u64(part[1], &t->reserved_bytes[t->n]) || !word_u64(line, &t->active_bytes[t->n])) {
            line_lost(&lines);
            continue;
        }
        t->time_ns[t->n++] = (int64_t)ns;
    }
}

static void load_shapes(struct framework_loading *l, struct framework_file *file)
{
    struct ms_shapes *s = &l->f->ms.shapes;
    struct ranges_reading r = { .l = l, .file = file, .tlv = framework_tlv(file) };
    const size_t n = tlv_count(&r.tlv, 0);
    s->name = arena_take(file->mem, n, sizeof *s->name);
    s->shapes = arena_take(file->mem, n, sizeof *s->shapes);
    if (arena_failed(file->mem))
        return;
    for (struct tlv_record rec; tlv_next(&r.tlv, 0, &rec); s->n++) {
        struct tlv_text text[MS_SHAPES_TEXTS];
        r.is_bad = false;
        tlv_texts(&r.tlv, &rec, 0, text, MS_SHAPES_TEXTS);
        s->name[s->n] = text_name(&r, text[MS_SHAPES_TEXT_NAME], NAME_EMPTY);
        s->shapes[s->n] = text_name(&r, text[MS_SHAPES_TEXT_SHAPES], NAME_EMPTY);
        losses_add(&file->lost, LOSS_BAD_VALUE, r.is_bad, file->name, rec.at);
    }
}

static void load_pipeline(struct framework_loading *l, struct framework_file *file)
{
    if (!ms_pipeline_load(l->f))
        error_no_memory(&l->error[FRAMEWORK_PIPELINE], file->name);
}

/* ---- names of files --------------------------------------------------------------------------------------------- */

/* The first of each file that exists counts. */
static const struct {
    enum framework_file_id id;
    const char *before, *after; /* the rank stands between them; after NULL: it has none */
    void (*load)(struct framework_loading *l, struct framework_file *file);
} files[] = {
    { FRAMEWORK_OPS, "mindspore.op_range", NULL, load_new_ranges },
    { FRAMEWORK_OPS, "op_range_", "", load_old_ranges },
    { FRAMEWORK_MEMORY, "mindspore.memory_usage", NULL, load_memory },
    { FRAMEWORK_SHAPES, "mindspore.record_shapes", NULL, load_shapes },
    { FRAMEWORK_HOST_OPS, "cpu_op_execute_timestamp_", ".txt", load_host_ops },
    { FRAMEWORK_MEMORY_TOTALS, "cpu_ms_memory_record_", ".txt", load_totals },
    { FRAMEWORK_MEMORY_TABLE, "operator_memory_", ".csv", NULL },
    { FRAMEWORK_PIPELINE, "pipeline_profiling_", ".json", load_pipeline },
    { FRAMEWORK_PIPELINE_CPU, "minddata_cpu_utilization_", ".json", NULL },
    { FRAMEWORK_PIPELINE_BATCHES, "device_queue_profiling_", ".txt", NULL },
    { FRAMEWORK_PIPELINE_BATCHES, "dataset_iterator_profiling_", ".txt", NULL },
};
enum { N_FILES = sizeof files / sizeof *files };

/* -1: it is not such a name; of a name without a rank 0. */
static int64_t rank_in(const char *name, size_t i)
{
    const size_t before = strlen(files[i].before);
    if (strncmp(name, files[i].before, before) != 0)
        return -1;
    if (!files[i].after)
        return name[before] == 0 ? 0 : -1;
    int64_t rank = 0;
    const char *p = name + before;
    for (; isdigit((unsigned char)*p) && rank < INT32_MAX; p++)
        rank = 10 * rank + (*p - '0');
    return p > name + before && strcmp(p, files[i].after) == 0 ? rank : -1;
}

/* Of each file the rank that it is read of: the given one, or else the lowest; -1: there is none. False: the directory cannot be read. */
static bool find_ranks(const char *framework, int64_t rank, int64_t found[N_FILES])
{
    DIR *dir = opendir(framework);
    int why = 0;
    for (size_t i = 0; i < N_FILES; i++)
        found[i] = -1;
    for (const char *name; dir && (name = dir_next(dir, &why));)
        for (size_t i = 0; i < N_FILES; i++) {
            const int64_t here = rank_in(name, i);
            if (here >= 0 && found[i] != rank && (found[i] < 0 || here == rank || here < found[i]))
                found[i] = here;
        }
    if (dir)
        closedir(dir);
    return dir && why == 0;
}

bool ms_files_are_there(const char *framework)
{
    int64_t found[N_FILES];
    bool any = false;
    find_ranks(framework, 0, found);
    for (size_t i = 0; i < N_FILES; i++)
        any |= found[i] >= 0;
    return any;
}

bool ms_format_find(struct framework_format *out, const char *path, int64_t rank, struct arena *mem)
{
    int64_t found[N_FILES];
    const char *framework = arena_printf(mem, "%s/FRAMEWORK", path);
    *out = (struct framework_format){ 0 };
    if (!framework)
        return false;
    find_ranks(framework, rank, found);
    for (size_t k = 0; k < 2; k++) /* those that exist, then the names that the others would have */
        for (size_t i = 0; i < N_FILES; i++) {
            const enum framework_file_id id = files[i].id;
            if (out->name[id] || (k == 0 && found[i] < 0))
                continue;
            const int64_t shown = found[i] < 0 ? rank : found[i];
            out->name[id] = files[i].after
                                ? arena_printf(mem, "FRAMEWORK/%s%" PRId64 "%s", files[i].before, shown, files[i].after)
                                : arena_printf(mem, "FRAMEWORK/%s", files[i].before);
            out->load[id] = files[i].load;
        }
    return !arena_failed(mem);
}
