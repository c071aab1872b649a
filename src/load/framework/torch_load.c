/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "load/framework/framework_loaders.h"

#include <string.h>

#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "load/framework/tlv.h"
#include "raw/torch.h"

/* Converts "a;b" to "a;\r\nb", as results show it. Texts repeat, and each is converted once: by_plain[id] is the result
 * + 1. */
struct broken_lines {
    struct names *names;
    struct names_recent recent;
    LIST(name_id) by_plain;
    LIST(char) text;
    struct arena *mem;
};

static name_id break_lines(struct broken_lines *b, name_id plain)
{
    while (b->by_plain.n <= plain)
        if (!list_add(&b->by_plain, b->mem))
            return plain;
    if (b->by_plain.at[plain] > 0)
        return b->by_plain.at[plain] - 1;
    const char *text = names_text(b->names, plain);
    const size_t len = names_len(b->names, plain);
    b->text.n = 0;
    for (size_t i = 0; i < len; i++)
        for (const char *c = text[i] == ';' ? ";\r\n" : (char[2]){ text[i] }, *end = c + (text[i] == ';' ? 3 : 1);
             c < end; c++) {
            char *slot = list_add(&b->text, b->mem);
            if (slot)
                *slot = *c;
        }
    const name_id broken = names_add(b->names, b->text.at, b->text.n);
    b->by_plain.at[plain] = broken + 1;
    return broken;
}

static name_id text_name(struct names *names, struct names_recent *recent, struct tlv_text t)
{
    return t.at ? names_add_recent(names, recent, t.at, t.len) : NO_NAME;
}

static name_id text_broken(struct broken_lines *b, struct tlv_text t)
{
    return !t.at        ? NO_NAME
           : t.len == 0 ? NAME_EMPTY
                        : break_lines(b, names_add_recent(b->names, &b->recent, t.at, t.len));
}

static name_id graph_text(struct broken_lines *b, struct tlv_text t)
{
    const name_id name = text_broken(b, t);
    return name == (name_id)NO_NAME ? NAME_EMPTY : name;
}

static bool ops_take(struct framework_ops *o, size_t n, bool keeps_records, struct arena *mem)
{
    arena_columns(mem, n, o->begin_ns, o->end_ns, o->sequence, o->forward_thread, o->process, o->thread, o->scope);
    name_id **const name[] = { &o->name, &o->types, &o->shapes, &o->stack, &o->modules, &o->flops };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        *name[i] = arena_take(mem, n, sizeof **name[i]);
    if (keeps_records) {
        o->record = arena_take(mem, n, sizeof *o->record);
        o->record_size = arena_take(mem, n, sizeof *o->record_size);
    }
    return !arena_failed(mem);
}

static void load_ops(struct framework_loading *l, struct framework_file *file)
{
    const struct layout *layout = &torch_op_layout;
    struct framework_ops *o = &l->f->ops;
    struct names *names = l->r->names;
    struct tlv t = framework_tlv(file);
    struct broken_lines lines = { .names = names, .mem = arena_new() };
    if (!lines.mem)
        error_no_memory(&l->error[FRAMEWORK_OPS], file->name);
    if (!lines.mem || !ops_take(o, tlv_count(&t, layout->size), l->r->keeps_records, file->mem)) {
        arena_free(lines.mem);
        return;
    }
    for (struct tlv_record r; tlv_next(&t, layout->size, &r);) {
        struct tlv_text text[TORCH_TEXTS];
        const uint64_t process = layout_get(layout, TORCH_OP_PROCESS, r.data),
                       thread = layout_get(layout, TORCH_OP_THREAD, r.data);
        if (!framework_ids(file, r.at, process, thread))
            continue;
        tlv_texts(&t, &r, layout->size, text, TORCH_TEXTS);
        const size_t i = o->n++;
        o->begin_ns[i] = framework_ns(&l->r->clock, layout_get(layout, TORCH_OP_BEGIN, r.data));
        o->end_ns[i] = framework_ns(&l->r->clock, layout_get(layout, TORCH_OP_END, r.data));
        o->sequence[i] = (int64_t)layout_get(layout, TORCH_OP_SEQUENCE, r.data);
        o->forward_thread[i] = layout_get(layout, TORCH_OP_FORWARD_THREAD, r.data);
        o->process[i] = (uint32_t)process;
        o->thread[i] = (uint32_t)thread;
        o->scope[i] = (uint8_t)layout_get(layout, TORCH_OP_SCOPE, r.data);
        o->name[i] = text[TORCH_TEXT_NAME].at ? text_name(names, &lines.recent, text[TORCH_TEXT_NAME]) : NAME_EMPTY;
        o->types[i] = text_broken(&lines, text[TORCH_TEXT_TYPES]);
        o->shapes[i] = text_broken(&lines, text[TORCH_TEXT_SHAPES]);
        o->stack[i] = text_broken(&lines, text[TORCH_TEXT_STACK]);
        o->modules[i] = text_name(names, &lines.recent, text[TORCH_TEXT_MODULES]);
        o->flops[i] = text_name(names, &lines.recent, text[TORCH_TEXT_FLOPS]);
        if (o->record) {
            o->record[i] = r.data;
            o->record_size[i] = (uint32_t)r.size;
        }
    }
    if (arena_failed(lines.mem))
        error_no_memory(&l->error[FRAMEWORK_OPS], file->name);
    arena_free(lines.mem);
}

/* Begin and end marks, before they are paired. */
struct torch_load_marks {
    size_t n;
    uint64_t *time; /* ns with an inverted sign bit: sorted as unsigned numbers */
    uint64_t *id;
    uint32_t *process, *thread;
    uint8_t *kind;
    name_id *name;
    uint64_t *at;    /* offset in the file */
    uint32_t *order; /* by time */
};

static const uint64_t SIGN = UINT64_C(1) << 63;

static bool marks_read(struct torch_load_marks *m, const struct framework_loading *l, struct framework_file *file,
                       struct arena *mem)
{
    const struct layout *layout = &torch_mark_layout;
    struct tlv t = framework_tlv(file);
    struct names_recent recent = { 0 };
    const size_t n = tlv_count(&t, layout->size);
    arena_columns(mem, n, m->time, m->id, m->process, m->thread, m->kind, m->name, m->at, m->order);
    if (arena_failed(mem))
        return false;
    for (struct tlv_record r; tlv_next(&t, layout->size, &r);) {
        struct tlv_text text[TORCH_MARK_TEXT_NAME + 1];
        const uint64_t process = layout_get(layout, TORCH_MARK_PROCESS, r.data),
                       thread = layout_get(layout, TORCH_MARK_THREAD, r.data),
                       kind = layout_get(layout, TORCH_MARK_KIND, r.data);
        if (!framework_ids(file, r.at, process, thread))
            continue;
        if (kind >= TORCH_MARKS) {
            losses_add(&file->lost, LOSS_BAD_VALUE, 1, file->name, r.at);
            continue;
        }
        tlv_texts(&t, &r, layout->size, text, TORCH_MARK_TEXT_NAME + 1);
        const size_t i = m->n++;
        m->time[i] = (uint64_t)framework_ns(&l->r->clock, layout_get(layout, TORCH_MARK_TIME, r.data)) ^ SIGN;
        m->id[i] = layout_get(layout, TORCH_MARK_ID, r.data);
        m->process[i] = (uint32_t)process;
        m->thread[i] = (uint32_t)thread;
        m->kind[i] = (uint8_t)kind;
        m->name[i] =
            text[TORCH_MARK_TEXT_NAME].at ? text_name(l->r->names, &recent, text[TORCH_MARK_TEXT_NAME]) : NAME_EMPTY;
        m->at[i] = r.at;
    }
    order_fill(m->order, m->n);
    return order_by_u64(m->order, m->n, m->time);
}

static bool spans_take(struct queue_spans *q, size_t n, struct arena *mem)
{
    arena_columns(mem, n, q->begin_ns, q->end_ns, q->id, q->process, q->thread, q->name);
    return !arena_failed(mem);
}

/* Joins an end with the latest begin of the same thread and name. Earlier begins count as unpaired. */
static bool marks_pair(const struct torch_load_marks *m, unsigned begin_kind, struct queue_spans *q,
                       struct framework_file *file, struct arena *mem)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->kind[i] == begin_kind + 1;
    struct keys open = { 0 };
    uint32_t *begin = arena_take(mem, m->n, sizeof *begin); /* by place in open: row + 1 of the latest begin, or 0 */
    if (!spans_take(q, n, file->mem) || arena_failed(mem))
        return false;
    uint64_t n_unpaired = 0;
    size_t first_unpaired = 0;
    for (size_t k = 0; k < m->n; k++) {
        const uint32_t i = m->order[k];
        if (m->kind[i] != begin_kind && m->kind[i] != begin_kind + 1)
            continue;
        const uint32_t place = keys_add(&open, (uint64_t)m->thread[i] << 32 | m->name[i], mem);
        if (place == KEYS_NO_MEMORY)
            return false;
        const uint32_t began = begin[place];
        const bool is_begin = m->kind[i] == begin_kind;
        begin[place] = is_begin ? i + 1 : 0;
        if (is_begin == (began > 0)) { /* a begin after a begin, or an end after an end */
            first_unpaired = n_unpaired++ == 0 ? (began > 0 ? began - 1 : i) : first_unpaired;
            continue;
        }
        if (is_begin)
            continue;
        const size_t row = q->n++;
        q->begin_ns[row] = (int64_t)(m->time[began - 1] ^ SIGN);
        q->end_ns[row] = (int64_t)(m->time[i] ^ SIGN);
        q->id[row] = m->id[i];
        q->process[row] = m->process[i];
        q->thread[row] = m->thread[i];
        q->name[row] = m->name[i];
    }
    for (size_t i = 0; i < open.key.n; i++)
        if (begin[i] > 0)
            first_unpaired = n_unpaired++ == 0 ? begin[i] - 1 : first_unpaired;
    if (n_unpaired > 0)
        losses_add(&file->lost, LOSS_UNPAIRED, n_unpaired, file->name, m->at[first_unpaired]);
    return true;
}

static void load_marks(struct framework_loading *l, struct framework_file *file)
{
    struct arena *mem = arena_new();
    struct torch_load_marks m = { 0 };
    l->f->has_queue = file->is_there;
    if (!mem || !marks_read(&m, l, file, mem) || !marks_pair(&m, TORCH_MARK_ENQUEUE_BEGIN, &l->f->enqueue, file, mem) ||
        !marks_pair(&m, TORCH_MARK_DEQUEUE_BEGIN, &l->f->dequeue, file, mem))
        error_no_memory(&l->error[FRAMEWORK_MARKS], file->name);
    arena_free(mem);
}

static void load_memory(struct framework_loading *l, struct framework_file *file)
{
    const struct layout *layout = &torch_memory_layout;
    struct framework_memory *m = &l->f->memory;
    struct tlv t = framework_tlv(file);
    const size_t n = tlv_count(&t, layout->size);
    m->time_ns = arena_take(file->mem, n, sizeof *m->time_ns);
    m->pointer = arena_take(file->mem, n, sizeof *m->pointer);
    /* clang-format off */
    struct { unsigned field; int64_t **column; } const wide[] = {
        { TORCH_MEMORY_SIZE, &m->size_bytes },         { TORCH_MEMORY_ALLOCATED, &m->allocated_bytes },
        { TORCH_MEMORY_RESERVED, &m->reserved_bytes }, { TORCH_MEMORY_ACTIVE, &m->active_bytes },
        { TORCH_MEMORY_STREAM, &m->stream },
    };
    /* clang-format on */
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        *wide[k].column = arena_take(file->mem, n, sizeof **wide[k].column);
    arena_columns(file->mem, n, m->device_type, m->device, m->component, m->kind, m->allocator, m->process, m->thread);
    if (arena_failed(file->mem))
        return;
    for (struct tlv_record r; tlv_next(&t, layout->size, &r);) {
        const uint64_t process = layout_get(layout, TORCH_MEMORY_PROCESS, r.data),
                       thread = layout_get(layout, TORCH_MEMORY_THREAD, r.data);
        if (!framework_ids(file, r.at, process, thread))
            continue;
        const size_t i = m->n++;
        m->time_ns[i] = framework_ns(&l->r->clock, layout_get(layout, TORCH_MEMORY_TIME, r.data));
        m->pointer[i] = layout_get(layout, TORCH_MEMORY_POINTER, r.data);
        for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
            (*wide[k].column)[i] = (int64_t)layout_get(layout, wide[k].field, r.data);
        m->device_type[i] = (int8_t)layout_get(layout, TORCH_MEMORY_DEVICE_TYPE, r.data);
        m->device[i] = (int8_t)layout_get(layout, TORCH_MEMORY_DEVICE, r.data);
        m->component[i] = (uint8_t)layout_get(layout, TORCH_MEMORY_COMPONENT, r.data);
        m->kind[i] = (uint8_t)layout_get(layout, TORCH_MEMORY_KIND, r.data);
        m->allocator[i] = (uint8_t)layout_get(layout, TORCH_MEMORY_ALLOCATOR, r.data);
        m->process[i] = (uint32_t)process;
        m->thread[i] = (uint32_t)thread;
    }
}

static void load_params(struct framework_loading *l, struct framework_file *file)
{
    const struct layout *layout = &python_key_layout;
    struct python_params *p = &l->f->params;
    struct tlv t = framework_tlv(file);
    const size_t n = l->r->keeps_records ? tlv_count(&t, layout->size) : 0;
    arena_columns(file->mem, n, p->key, p->modules, p->optimizers, p->modules_len, p->optimizers_len);
    if (arena_failed(file->mem))
        return;
    for (struct tlv_record r; p->n < n && tlv_next(&t, layout->size, &r); p->n++) {
        struct tlv_text text[PYTHON_KEY_OPTIMIZER_PARAMETERS + 1];
        tlv_texts(&t, &r, layout->size, text, PYTHON_KEY_OPTIMIZER_PARAMETERS + 1);
        p->key[p->n] = layout_get(layout, PYTHON_KEY, r.data);
        p->modules[p->n] = text[PYTHON_KEY_MODULE_PARAMETERS].at;
        p->modules_len[p->n] = text[PYTHON_KEY_MODULE_PARAMETERS].len;
        p->optimizers[p->n] = text[PYTHON_KEY_OPTIMIZER_PARAMETERS].at;
        p->optimizers_len[p->n] = text[PYTHON_KEY_OPTIMIZER_PARAMETERS].len;
    }
}

static void load_gc(struct framework_loading *l, struct framework_file *file)
{
    const struct layout *layout = &python_gc_layout;
    struct collected_garbage *g = &l->f->gc;
    struct bytes in = framework_tlv(file).in;
    const size_t n = in.size / layout->size;
    g->begin_ns = arena_take(file->mem, n, sizeof *g->begin_ns);
    g->end_ns = arena_take(file->mem, n, sizeof *g->end_ns);
    g->process = arena_take(file->mem, n, sizeof *g->process);
    if (arena_failed(file->mem))
        return;
    for (const uint8_t *rec; (rec = bytes_take(&in, layout->size));) {
        const uint64_t process = layout_get(layout, PYTHON_GC_PROCESS, rec);
        if (!framework_ids(file, in.at - layout->size, process, 0))
            continue;
        const size_t i = g->n++;
        g->begin_ns[i] = framework_ns(&l->r->clock, layout_get(layout, PYTHON_GC_BEGIN, rec));
        g->end_ns[i] = framework_ns(&l->r->clock, layout_get(layout, PYTHON_GC_END, rec));
        g->process[i] = (uint32_t)process;
    }
    if (in.at < in.size)
        losses_add(&file->lost, LOSS_CUT_SHORT, 1, file->name, in.at);
}

static void load_step_threads(struct framework_loading *l, struct framework_file *file)
{
    const struct layout *layout = &step_thread_layout;
    struct step_threads *t = &l->f->step_threads;
    struct bytes in = framework_tlv(file).in;
    const size_t n = in.size / layout->size;
    arena_columns(file->mem, n, t->begin_ns, t->end_ns, t->cpu_ns, t->ready_ns, t->minor, t->major, t->pushed);
    if (arena_failed(file->mem))
        return;
    for (const uint8_t *rec; (rec = bytes_take(&in, layout->size));) {
        const int64_t begin = framework_ns(&l->r->clock, layout_get(layout, STEP_THREAD_BEGIN, rec)),
                      end = framework_ns(&l->r->clock, layout_get(layout, STEP_THREAD_END, rec));
        if (end < begin || (t->n > 0 && begin < t->end_ns[t->n - 1])) {
            losses_add(&file->lost, LOSS_BAD_VALUE, 1, file->name, in.at - layout->size);
            continue;
        }
        const size_t i = t->n++;
        t->begin_ns[i] = begin;
        t->end_ns[i] = end;
        t->cpu_ns[i] = layout_get(layout, STEP_THREAD_CPU, rec);
        t->ready_ns[i] = layout_get(layout, STEP_THREAD_READY, rec);
        t->minor[i] = (uint32_t)layout_get(layout, STEP_THREAD_MINOR, rec);
        t->major[i] = (uint32_t)layout_get(layout, STEP_THREAD_MAJOR, rec);
        t->pushed[i] = (uint32_t)layout_get(layout, STEP_THREAD_PUSHED, rec);
    }
    if (in.at < in.size)
        losses_add(&file->lost, LOSS_CUT_SHORT, 1, file->name, in.at);
}

/* Texts come with the first node of an operator or stack; a node whose texts are lost is damaged. */
static void load_graph_nodes(struct framework_loading *l, struct framework_file *file)
{
    const struct layout *layout = &graph_node_layout;
    struct graph_capture *c = &l->f->captured;
    struct tlv t = framework_tlv(file);
    struct broken_lines lines = { .names = l->r->names, .mem = arena_new() };
    struct keys ops = { 0 }, stacks = { 0 };
    const size_t n = tlv_count(&t, layout->size);
    uint32_t *order = arena_take(file->mem, n, sizeof *order), *op_of = arena_take(file->mem, n, sizeof *op_of);
    uint64_t *node = arena_take(file->mem, n, sizeof *node);
    name_id *stack_text = arena_take(file->mem, n, sizeof *stack_text);
    name_id **const name[] = { &c->name, &c->types, &c->shapes, &c->stack, &c->modules };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        *name[i] = arena_take(file->mem, n, sizeof **name[i]);
    c->node = arena_take(file->mem, n, sizeof *c->node);
    c->op_of = arena_take(file->mem, n, sizeof *c->op_of);
    for (struct tlv_record r; lines.mem && !arena_failed(file->mem) && tlv_next(&t, layout->size, &r);) {
        struct tlv_text text[GRAPH_NODE_TEXTS];
        tlv_texts(&t, &r, layout->size, text, GRAPH_NODE_TEXTS);
        const uint32_t stack = keys_add(&stacks, layout_get(layout, GRAPH_NODE_STACK_ID, r.data), lines.mem),
                       op = keys_add(&ops, layout_get(layout, GRAPH_NODE_OP, r.data), lines.mem);
        if (stack == KEYS_NO_MEMORY || op == KEYS_NO_MEMORY)
            break;
        if (text[GRAPH_NODE_STACK].at)
            stack_text[stack] = text_broken(&lines, text[GRAPH_NODE_STACK]);
        if (op == c->n_ops) {
            c->n_ops++;
            c->name[op] = graph_text(&lines, text[GRAPH_NODE_NAME]);
            c->types[op] = graph_text(&lines, text[GRAPH_NODE_TYPES]);
            c->shapes[op] = graph_text(&lines, text[GRAPH_NODE_SHAPES]);
            c->modules[op] = graph_text(&lines, text[GRAPH_NODE_MODULES]);
            c->stack[op] = stack_text[stack];
        }
        node[c->n] = layout_get(layout, GRAPH_NODE_ID, r.data);
        op_of[c->n++] = op;
    }
    order_fill(order, c->n);
    if (!lines.mem || arena_failed(lines.mem) || !order_by_u64(order, c->n, node))
        error_no_memory(&l->error[FRAMEWORK_GRAPH_NODES], file->name);
    for (size_t i = 0; i < c->n; i++) {
        c->node[i] = node[order[i]];
        c->op_of[i] = op_of[order[i]];
    }
    arena_free(lines.mem);
}

static void load_python(struct framework_loading *l, struct framework_file *file)
{
    if (!python_load(l->f, l->r))
        error_no_memory(&l->error[FRAMEWORK_PYTHON], file->name);
}

const struct framework_format torch_format = {
    .name = {
        [FRAMEWORK_OPS] = "FRAMEWORK/torch.op_range",
        [FRAMEWORK_MARKS] = "FRAMEWORK/torch.op_mark",
        [FRAMEWORK_MEMORY] = "FRAMEWORK/torch.memory_usage",
        [FRAMEWORK_PYTHON] = "FRAMEWORK/torch.python_tracer_func",
        [FRAMEWORK_PYTHON_KEYS] = "FRAMEWORK/torch.python_tracer_hash",
        [FRAMEWORK_PARAMS] = "FRAMEWORK/torch.param_tensor_info",
        [FRAMEWORK_GC] = "FRAMEWORK/torch.gc_record",
        [FRAMEWORK_STEP_THREADS] = "FRAMEWORK/ascope.step_threads",
        [FRAMEWORK_GRAPH_NODES] = "FRAMEWORK/ascope.graph_nodes",
    },
    .load = {
        [FRAMEWORK_OPS] = load_ops,
        [FRAMEWORK_MARKS] = load_marks,
        [FRAMEWORK_MEMORY] = load_memory,
        [FRAMEWORK_PYTHON] = load_python, /* and its keys */
        [FRAMEWORK_PARAMS] = load_params,
        [FRAMEWORK_GC] = load_gc,
        [FRAMEWORK_STEP_THREADS] = load_step_threads,
        [FRAMEWORK_GRAPH_NODES] = load_graph_nodes,
    },
};
