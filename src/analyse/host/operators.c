/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include <stdio.h>
#include <string.h>

#include "base/files/bytes.h"
#include "base/memory/sort.h"
#include "raw/enums.h"
#include "raw/host_records.h"

/* The runtime's names of the task types that matter here: which of them have context ids, and which are operators even
 * without a description. `ge` is their name in reports then. */
enum kernel {
    KERNEL_NONE,
    KERNEL_AICORE,
    KERNEL_AIVEC,
    KERNEL_AICPU,
    KERNEL_SIMT,
    KERNEL_MIX_AIC,
    KERNEL_MIX_AIV,
    KERNEL_FFTS_PLUS,
    KERNEL_STARS_COMMON,
    KERNEL_OTHER,
    KERNELS
};
static const struct {
    const char *name, *ge;
    bool has_contexts, is_operator;
} kernel_kind[KERNELS] = {
    [KERNEL_AICORE] = { "KERNEL_AICORE", "AI_CORE", true, true },
    [KERNEL_AIVEC] = { "KERNEL_AIVEC", "AI_VECTOR_CORE", true, true },
    [KERNEL_AICPU] = { "KERNEL_AICPU", "AI_CPU", false, true },
    [KERNEL_SIMT] = { "KERNEL_SIMT", "AI_VECTOR_CORE", true, true },
    [KERNEL_MIX_AIC] = { "KERNEL_MIX_AIC", "MIX_AIC", true, true },
    [KERNEL_MIX_AIV] = { "KERNEL_MIX_AIV", "MIX_AIV", true, true },
    [KERNEL_FFTS_PLUS] = { "FFTS_PLUS", NULL, true, false },
    [KERNEL_STARS_COMMON] = { "STARS_COMMON", NULL, false, false },
    [KERNEL_OTHER] = { "KERNEL", NULL, false, false }, /* any other name that begins so */
};

static enum kernel kernel_of(const char *type)
{
    for (int k = KERNEL_AICORE; k < KERNEL_OTHER; k++)
        if (strcmp(type, kernel_kind[k].name) == 0)
            return (enum kernel)k;
    return strncmp(type, "KERNEL", 6) == 0 ? KERNEL_OTHER : KERNEL_NONE;
}

enum { GE_TYPES = 32 };

/* All tasks are visited twice: to count the rows, and to fill them. */
struct build {
    struct profile *p;
    struct arena *mem;
    struct by_call basics, attrs, tensors, contexts, hccl_ops, hccl_infos, nodes;
    struct captured captured;
    struct runtime_type {
        uint64_t number;
        name_id name;
        enum kernel kernel;
        bool is_known;
    } type[64]; /* the few types that a million tasks have, by their low bits */
    struct ge_type {
        uint32_t number;
        name_id name;
        bool is_known;
    } ge_type[GE_TYPES];    /* and those of operators */
    uint64_t *info_context; /* of each row of hccl_infos */
    bool fills;
    size_t room; /* how many more contexts may become rows */
    size_t n_tasks, n_ops, n_small, n_big;
    uint32_t last_big_thread;
    uint64_t last_big_end;
};

/* A task and the calls around it. */
struct situation {
    size_t track;
    name_id type;
    enum kernel kernel;
    struct call_path path;
    uint32_t connection, model;
    int64_t request;
};

static void add_task(struct build *b, const struct situation *s, uint32_t context, uint32_t op)
{
    const size_t k = b->n_tasks++;
    if (!b->fills)
        return;
    const struct tracks *t = &b->p->host.records.tracks;
    struct host_tasks *h = &b->p->host.tasks;
    h->device[k] = t->device[s->track];
    h->stream[k] = t->stream[s->track];
    h->batch[k] = t->batch[s->track];
    if (t->recorded_batch)
        h->recorded_batch[k] = t->recorded_batch[s->track];
    h->task[k] = t->task[s->track];
    h->context[k] = context;
    h->key[k] = task_key(h->stream[k], h->batch[k], h->task[k]);
    h->type[k] = s->type;
    h->kernel[k] = t->kernel[s->track] ? dictionary_hash(&b->p->dictionary, t->kernel[s->track]) : NAME_NA;
    h->connection[k] = s->connection;
    h->model[k] = s->model;
    h->request[k] = s->request;
    h->time[k] = t->time[s->track];
    h->thread[k] = t->thread[s->track];
    h->op[k] = op;
}

/* Each context is reported once and belongs to the tasks of one call. In damaged files many tasks may refer to the same
 * contexts, and their product could be of any size. This is the limit for the number of rows; contexts beyond it are
 * counted as losses. */
static size_t room_for_contexts(const struct host_records *h)
{
    return ((size_t)1 << 20) + 16 * (h->tracks.n + h->hccl_infos.n) + 64 * h->contexts.n;
}

static bool takes_contexts(struct build *b, size_t n, const uint8_t *ids)
{
    if (n <= b->room) {
        b->room -= n;
        return true;
    }
    if (b->fills)
        record_lost(&b->p->host.source, "additional.context_id_info", LOSS_BAD_VALUE, ids);
    return false;
}

/* The records of an operator; NO_ROW: not recorded. */
struct parts {
    uint32_t basic, attr, tensor, captured;
};

/* The number of blocks in the record of the runtime replaces the one of the description. */
static void set_extension(struct build *b, const struct situation *s, size_t k)
{
    const struct tracks *t = &b->p->host.records.tracks;
    struct ops *o = &b->p->host.ops;
    if (t->data_len[s->track] != TRACK_LEN_EXTENDED)
        return;
    const uint8_t *rec = t->record[s->track];
    if (s->kernel != KERNEL_SIMT) {
        o->blocks[k] = (uint32_t)layout_get(&track_kernel_layout, EXT_BLOCKS, rec);
        o->mix_blocks[k] = o->blocks[k] * (uint32_t)(layout_get(&track_kernel_layout, EXT_BITS, rec) & EXT_RATIO_MASK);
        return;
    }
    name_id *dim[2] = { &o->grid_dim[k], &o->block_dim[k] };
    for (unsigned d = 0; d < 2; d++) {
        char text[64];
        const int len =
            snprintf(text, sizeof text, "%u,%u,%u", (unsigned)layout_get(&track_simt_layout, SIMT_GRID_X + 3 * d, rec),
                     (unsigned)layout_get(&track_simt_layout, SIMT_GRID_Y + 3 * d, rec),
                     (unsigned)layout_get(&track_simt_layout, SIMT_GRID_Z + 3 * d, rec));
        *dim[d] = names_add(b->p->names, text, (size_t)len);
    }
}

static name_id ge_task_type(struct build *b, uint32_t type)
{
    struct ge_type *t = &b->ge_type[type % GE_TYPES];
    if (!t->is_known || t->number != type) {
        const char *text = enum_text(&ge_task_types, type);
        *t = (struct ge_type){ type, text ? names_addz(b->p->names, text) : names_number(b->p->names, type), true };
    }
    return t->name;
}

static void set_described(struct build *b, size_t k, uint32_t blocks, uint32_t op_flag, bool is_static)
{
    struct ops *o = &b->p->host.ops;
    o->blocks[k] = blocks & 0xFFFF;
    o->mix_blocks[k] = (blocks & 0xFFFF) * (blocks >> 16);
    o->hf32[k] = op_flag ? NAME_YES : NAME_NO;
    o->state[k] = is_static ? NAME_STATIC : NAME_DYNAMIC;
}

static void set_tensors(struct ops *o, size_t k, name_id *const shapes[2], name_id *const types[2],
                        name_id *const formats[2], uint32_t row)
{
    for (int d = 0; d < 2; d++) {
        o->shapes[d][k] = row == NO_ROW ? NAME_NA : shapes[d][row];
        o->types[d][k] = row == NO_ROW ? NAME_NA : types[d][row];
        o->formats[d][k] = row == NO_ROW ? NAME_NA : formats[d][row];
    }
}

/* Adds a row of ops with the name that reports show. Collections of level 0 have only names. */
static uint32_t add_op(struct build *b, const struct situation *s, const struct parts *part, name_id name)
{
    const size_t k = b->n_ops++;
    if (!b->fills)
        return (uint32_t)k;
    const struct host_records *h = &b->p->host.records;
    const struct dictionary *dict = &b->p->dictionary;
    struct ops *o = &b->p->host.ops;
    o->name[k] = name;
    o->op_type[k] = o->task_type[k] = o->state[k] = o->hf32[k] = o->grid_dim[k] = o->block_dim[k] = NAME_NA;
    o->attr[k] = NAME_EMPTY;
    set_tensors(o, k, h->tensors.shapes, h->tensors.types, h->tensors.formats, NO_ROW);
    const bool full = !b->p->is_level0;
    if (full && part->captured != NO_ROW) {
        const struct captured_ops *c = &h->captured_ops;
        set_described(b, k, c->blocks[part->captured], c->op_flag[part->captured], c->is_static[part->captured]);
        set_tensors(o, k, c->shapes, c->types, c->formats, part->captured);
        o->op_type[k] = dictionary_hash(dict, c->op_type[part->captured]);
        o->task_type[k] = ge_task_type(b, c->task_type[part->captured]);
        o->attr[k] = c->attr[part->captured] ? dictionary_hash(dict, c->attr[part->captured]) : NAME_EMPTY;
    } else if (full && part->basic != NO_ROW) {
        const struct node_basics *n = &h->node_basics;
        set_described(b, k, n->blocks[part->basic], n->op_flag[part->basic], n->is_static[part->basic]);
        set_tensors(o, k, h->tensors.shapes, h->tensors.types, h->tensors.formats, part->tensor);
        o->op_type[k] = dictionary_hash(dict, n->op_type[part->basic]);
        o->task_type[k] = ge_task_type(b, n->task_type[part->basic]);
        o->attr[k] = part->attr == NO_ROW ? NAME_EMPTY : dictionary_hash(dict, h->node_attrs.text[part->attr]);
    } else if (full) {
        o->op_type[k] = name;
        o->task_type[k] = kernel_kind[s->kernel].ge ? names_addz(b->p->names, kernel_kind[s->kernel].ge) : s->type;
    }
    set_extension(b, s, k);
    return (uint32_t)k;
}

/* Inside a collective an operator is one of its steps: its kernels are communication. */
static void make_communication(struct build *b, const struct situation *s, uint32_t op)
{
    struct ops *o = &b->p->host.ops;
    if (!b->fills || b->p->is_level0)
        return;
    if (s->kernel == KERNEL_AICPU)
        o->task_type[op] = ge_task_type(b, GE_HCCL_AI_CPU);
    else if (s->kernel == KERNEL_AICORE)
        o->task_type[op] = ge_task_type(b, GE_COMMUNICATION);
}

/* A graph of the FFTS+ scheduler runs several operators as contexts of one task: each has its own list of context ids,
 * and is found by its name. False when the node is no such graph. */
static bool add_graph_ops(struct build *b, const struct situation *s)
{
    const struct host_records *h = &b->p->host.records;
    const uint32_t node = s->path.node;
    const size_t first = by_call_first(&b->contexts, node), end = by_call_first(&b->contexts, node + 1);
    bool is_graph = false;
    if (first == end || !takes_contexts(b, end - first, h->contexts.ids[b->contexts.order[first]]))
        return false;
    for (size_t at = first; by_call_has(&b->contexts, at, node) && !is_graph; at++)
        is_graph = h->contexts.name[b->contexts.order[at]] != h->contexts.name[b->contexts.order[first]];
    for (size_t at = first; is_graph && by_call_has(&b->contexts, at, node); at++) {
        const uint32_t context = b->contexts.order[at];
        const uint64_t name = h->contexts.name[context];
        const struct parts part = { by_call_named(&b->basics, b->mem, node, h->node_basics.name, name),
                                    by_call_named(&b->attrs, b->mem, node, h->node_attrs.name, name),
                                    by_call_named(&b->tensors, b->mem, node, h->tensors.name, name), NO_ROW };
        if (!takes_contexts(b, h->contexts.count[context], h->contexts.ids[context]))
            continue;
        const bool has_op = part.basic != NO_ROW || b->p->is_level0;
        const uint32_t op = has_op ? add_op(b, s, &part, dictionary_hash(&b->p->dictionary, name)) : NO_ROW;
        for (uint32_t i = 0; i < h->contexts.count[context]; i++)
            add_task(b, s, le32(h->contexts.ids[context] + 4 * i), op);
    }
    if (is_graph)
        add_task(b, s, NO_CONTEXT, NO_ROW); /* the task as a whole, around its contexts */
    return is_graph;
}

/* The operator of a node call: one, whatever records it has, unless it is a graph. */
static void add_compute(struct build *b, const struct situation *s)
{
    const struct host_records *h = &b->p->host.records;
    const struct calls *c = &b->p->host.calls;
    const uint32_t node = s->path.node;
    struct parts part = { by_call_last(&b->basics, node), by_call_last(&b->attrs, node),
                          by_call_last(&b->tensors, node), NO_ROW };
    const uint32_t any_context = by_call_last(&b->contexts, node);
    if (kernel_kind[s->kernel].has_contexts && s->path.communication == NO_ROW && add_graph_ops(b, s))
        return;
    const uint32_t context = kernel_kind[s->kernel].has_contexts ? any_context : NO_ROW;
    const bool in_comm = s->path.communication != NO_ROW;
    /* A graph of the FFTS+ scheduler describes itself as an operator too: only its parts are. */
    const bool is_graph = part.basic != NO_ROW && h->node_basics.task_type[part.basic] == GE_FFTS_PLUS;
    const bool described =
        !is_graph && (part.basic != NO_ROW || part.attr != NO_ROW || part.tensor != NO_ROW || context != NO_ROW);
    if (!described && !in_comm) {
        const bool named = b->p->is_level0 && any_context == NO_ROW;
        add_task(b, s, NO_CONTEXT,
                 named ? add_op(b, s, &part, dictionary_hash(&b->p->dictionary, c->item[node])) : NO_ROW);
        return;
    }
    uint32_t op = NO_ROW;
    const uint64_t name = in_comm && (!b->p->is_level0 || !described) ? c->item[s->path.communication]
                          : part.basic != NO_ROW                      ? h->node_basics.name[part.basic]
                          : part.tensor != NO_ROW                     ? h->tensors.name[part.tensor]
                          : part.attr != NO_ROW                       ? h->node_attrs.name[part.attr]
                                                                      : h->contexts.name[context];
    if (part.basic != NO_ROW || in_comm || b->p->is_level0)
        op = add_op(b, s, &part, dictionary_hash(&b->p->dictionary, name));
    if (op != NO_ROW && in_comm)
        make_communication(b, s, op);
    else if (op != NO_ROW && b->fills && s->kernel == KERNEL_AICPU && part.basic != NO_ROW && !b->p->is_level0 &&
             h->node_basics.task_type[part.basic] == GE_COMMUNICATION)
        b->p->host.ops.task_type[op] =
            ge_task_type(b, GE_AI_CPU); /* a collective run by an AI CPU of a helper process */
    uint32_t n_contexts = context == NO_ROW ? 0 : h->contexts.count[context];
    if (n_contexts > 0 && !takes_contexts(b, n_contexts, h->contexts.ids[context]))
        n_contexts = 0;
    for (uint32_t i = 0; i < n_contexts; i++)
        add_task(b, s, le32(h->contexts.ids[context] + 4 * i), op);
    if (n_contexts == 0)
        add_task(b, s, NO_CONTEXT, op);
    else
        add_task(b, s, NO_CONTEXT, NO_ROW); /* the task as a whole, around its contexts */
}

static void add_small(struct build *b, const struct situation *s, uint32_t context, uint32_t info)
{
    const size_t k = b->n_small++;
    if (!b->fills)
        return;
    const struct tracks *t = &b->p->host.records.tracks;
    const struct calls *c = &b->p->host.calls;
    struct comm_requests *r = &b->p->host.comm;
    const uint32_t call = s->path.communication;
    r->small.device[k] = t->device[s->track];
    r->small.stream[k] = t->stream[s->track];
    r->small.batch[k] = t->batch[s->track];
    r->small.task[k] = t->task[s->track];
    r->small.context[k] = context;
    r->small.thread[k] = t->thread[s->track];
    r->small.model[k] = s->model;
    r->small.connection[k] = s->connection;
    r->small.time[k] = t->time[s->track];
    r->small.info[k] = info;
    r->small.is_master[k] = dictionary_type(&b->p->dictionary, c->level[call], c->type[call]) == NAME_MASTER;
}

/* One step of a collective: a single task, or a range of contexts of one. */
static void operators_add_steps(struct build *b, const struct situation *s, bool adds_tasks)
{
    const struct host_records *h = &b->p->host.records;
    const uint32_t call = s->path.communication, context = by_call_last(&b->contexts, call);
    if (context == NO_ROW) {
        add_small(b, s, NO_CONTEXT, by_call_last(&b->hccl_infos, call));
        if (adds_tasks)
            add_task(b, s, NO_CONTEXT, NO_ROW);
        return;
    }
    const uint8_t *ids = h->contexts.ids[context];
    const uint32_t first = le32(ids), last = le32(ids + 4);
    if (h->contexts.count[context] != 2 || last < first || last > UINT16_MAX) {
        if (b->fills)
            record_lost(&b->p->host.source, "additional.context_id_info", LOSS_BAD_VALUE, ids);
    } else if (takes_contexts(b, last - first + 1, ids)) {
        for (uint32_t id = first; id <= last; id++) {
            add_small(b, s, id, by_call_named(&b->hccl_infos, b->mem, call, b->info_context, id));
            if (adds_tasks)
                add_task(b, s, id, NO_ROW);
        }
    }
    if (adds_tasks)
        add_task(b, s, NO_CONTEXT, NO_ROW);
}

/* The collective itself: one for each node call around steps. */
static void add_collective(struct build *b, const struct situation *s)
{
    const struct calls *c = &b->p->host.calls;
    const struct tracks *t = &b->p->host.records.tracks;
    const uint32_t node = s->path.node;
    if (b->n_big > 0 && b->last_big_thread == t->thread[s->track] && b->last_big_end == c->end[node])
        return;
    b->last_big_thread = t->thread[s->track];
    b->last_big_end = c->end[node];
    const size_t k = b->n_big++;
    if (!b->fills)
        return;
    struct comm_requests *r = &b->p->host.comm;
    const size_t basic = by_call_first(&b->basics, node), op = by_call_first(&b->hccl_ops, node);
    r->big.device[k] = t->device[s->track];
    r->big.call[k] = node;
    r->big.basic[k] = by_call_has(&b->basics, basic, node) ? b->basics.order[basic] : NO_ROW;
    r->big.op[k] = by_call_has(&b->hccl_ops, op, node) ? b->hccl_ops.order[op] : NO_ROW;
    r->big.thread[k] = t->thread[s->track];
    r->big.model[k] = s->model;
    r->big.request[k] = s->request;
    r->big.kfc_call[k] = by_call_last(&b->nodes, node);
}

/* A task that is neither part of a node nor a step of a collective. A kernel is an operator here, too, with its own
 * name. */
static void add_other(struct build *b, const struct situation *s)
{
    const struct tracks *t = &b->p->host.records.tracks;
    const struct captured_ops *c = &b->p->host.records.captured_ops;
    uint32_t op = NO_ROW;
    if (kernel_kind[s->kernel].is_operator) {
        const struct parts part = { NO_ROW, NO_ROW, NO_ROW, captured_op(&b->captured, s->track) };
        if (part.captured != NO_ROW)
            op = add_op(b, s, &part, dictionary_hash(&b->p->dictionary, c->name[part.captured]));
        else if (t->kernel[s->track] != 0)
            op = add_op(b, s, &part, dictionary_hash(&b->p->dictionary, t->kernel[s->track]));
    }
    /* The device logs these as context 0 of their task. */
    const bool is_mix = s->kernel == KERNEL_MIX_AIC || s->kernel == KERNEL_MIX_AIV;
    add_task(b, s, is_mix && !b->p->chip->has_wide_ids ? 0 : NO_CONTEXT, op);
}

static bool is_compute(const struct build *b, const struct situation *s)
{
    const struct calls *c = &b->p->host.calls;
    const uint32_t node = s->path.node;
    if (node == NO_ROW || dictionary_type(&b->p->dictionary, LEVEL_NODE, c->type[node]) == NAME_STEP_INFO)
        return false;
    if (strncmp(names_text(b->p->names, dictionary_hash(&b->p->dictionary, c->item[node])), "Lccl", 4) == 0)
        return false;
    return s->kernel == KERNEL_FFTS_PLUS ? s->path.communication == NO_ROW : s->kernel != KERNEL_NONE;
}

static const struct runtime_type *runtime_type(struct build *b, uint64_t number)
{
    struct runtime_type *t = &b->type[number % (sizeof b->type / sizeof *b->type)];
    if (!t->is_known || t->number != number) {
        const name_id name = dictionary_type(&b->p->dictionary, LEVEL_RUNTIME, number);
        *t = (struct runtime_type){ number, name, kernel_of(names_text(b->p->names, name)), true };
    }
    return t;
}

static void visit_track(struct build *b, size_t row, uint32_t root_connection)
{
    const struct tracks *t = &b->p->host.records.tracks;
    const struct calls *c = &b->p->host.calls;
    const struct runtime_type *type = runtime_type(b, t->type[row]);
    struct situation s = {
        .track = row, .type = type->name, .kernel = type->kernel, .path = call_path_of(c, t->call[row]), .request = -1
    };
    if (s.path.model != NO_ROW) {
        s.model = (uint32_t)c->item[s.path.model];
        s.request = c->request[s.path.model];
    } else {
        s.model = captured_model(&b->captured, row);
    }
    const bool in_comm = s.path.communication != NO_ROW && s.path.node != NO_ROW, compute = is_compute(b, &s);
    if (!in_comm && !compute) {
        s.connection = t->call[row] == NO_ROW ? root_connection : t->call[row] + 1;
        add_other(b, &s);
        return;
    }
    s.connection = s.path.node + 1;
    if (compute)
        add_compute(b, &s);
    if (in_comm) {
        operators_add_steps(b, &s, !compute);
        add_collective(b, &s);
    }
}

static void visit_all(struct build *b)
{
    const struct tracks *t = &b->p->host.records.tracks;
    const struct calls *c = &b->p->host.calls;
    b->n_tasks = b->n_ops = b->n_small = b->n_big = 0;
    b->room = room_for_contexts(&b->p->host.records);
    size_t thread = 0;
    for (size_t i = 0; i < t->n; i++) {
        while (thread < c->n_threads && c->thread[c->first_of_thread[thread]] < t->thread[i])
            thread++;
        visit_track(b, i, calls_root_connection(c, thread));
    }
}

/* Finds node calls whose parent is a node call. */
static bool find_inner_nodes(struct build *b)
{
    const struct calls *c = &b->p->host.calls;
    uint32_t *parent = arena_take(b->mem, c->n, sizeof *parent);
    if (!parent)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t up = c->in_tree[i] && c->level[i] == LEVEL_NODE ? c->parent[i] : NO_ROW;
        parent[i] = up != NO_ROW && c->level[up] == LEVEL_NODE ? up : NO_ROW;
    }
    return by_call_init(&b->nodes, b->mem, parent, c->n);
}

static bool build_init(struct build *b, struct profile *p)
{
    const struct host_records *h = &p->host.records;
    *b = (struct build){ .p = p, .mem = arena_new() };
    if (!b->mem || !(b->info_context = arena_take(b->mem, h->hccl_infos.n, sizeof *b->info_context)))
        return false;
    for (size_t i = 0; i < h->hccl_infos.n; i++)
        b->info_context[i] = h->hccl_infos.context[i];
    return by_call_init(&b->basics, b->mem, h->node_basics.call, h->node_basics.n) &&
           by_call_init(&b->attrs, b->mem, h->node_attrs.call, h->node_attrs.n) &&
           by_call_init(&b->tensors, b->mem, h->tensors.call, h->tensors.n) &&
           by_call_init(&b->contexts, b->mem, h->contexts.call, h->contexts.n) &&
           by_call_init(&b->hccl_ops, b->mem, h->hccl_ops.call, h->hccl_ops.n) &&
           by_call_init(&b->hccl_infos, b->mem, h->hccl_infos.call, h->hccl_infos.n) && find_inner_nodes(b) &&
           captured_init(&b->captured, p, b->mem);
}

#define TAKE(column, n) ((column) = arena_take(mem, (n), sizeof *(column)))

static bool take_tables(struct build *b)
{
    struct host *h = &b->p->host;
    struct arena *mem = h->source.mem;
    struct host_tasks *t = &h->tasks;
    struct ops *o = &h->ops;
    struct comm_requests *r = &h->comm;
    t->n = b->n_tasks;
    TAKE(t->device, t->n), TAKE(t->stream, t->n), TAKE(t->batch, t->n), TAKE(t->task, t->n), TAKE(t->context, t->n);
    TAKE(t->key, t->n), TAKE(t->type, t->n), TAKE(t->kernel, t->n), TAKE(t->connection, t->n), TAKE(t->model, t->n);
    if (h->records.tracks.recorded_batch)
        TAKE(t->recorded_batch, t->n);
    TAKE(t->request, t->n), TAKE(t->time, t->n), TAKE(t->thread, t->n), TAKE(t->op, t->n);
    o->n = b->n_ops;
    TAKE(o->name, o->n), TAKE(o->op_type, o->n), TAKE(o->task_type, o->n), TAKE(o->state, o->n), TAKE(o->hf32, o->n);
    TAKE(o->attr, o->n), TAKE(o->blocks, o->n), TAKE(o->mix_blocks, o->n), TAKE(o->grid_dim, o->n);
    TAKE(o->block_dim, o->n);
    for (int d = 0; d < 2; d++)
        TAKE(o->shapes[d], o->n), TAKE(o->types[d], o->n), TAKE(o->formats[d], o->n);
    r->small.n = b->n_small;
    TAKE(r->small.device, r->small.n), TAKE(r->small.stream, r->small.n), TAKE(r->small.batch, r->small.n);
    TAKE(r->small.task, r->small.n), TAKE(r->small.context, r->small.n), TAKE(r->small.thread, r->small.n);
    TAKE(r->small.model, r->small.n), TAKE(r->small.connection, r->small.n), TAKE(r->small.time, r->small.n);
    TAKE(r->small.info, r->small.n), TAKE(r->small.is_master, r->small.n);
    r->big.n = b->n_big;
    TAKE(r->big.device, r->big.n), TAKE(r->big.call, r->big.n), TAKE(r->big.kfc_call, r->big.n);
    TAKE(r->big.basic, r->big.n), TAKE(r->big.op, r->big.n), TAKE(r->big.thread, r->big.n);
    TAKE(r->big.model, r->big.n), TAKE(r->big.request, r->big.n);
    return !arena_failed(mem);
}

/* By (device, stream, batch, task, context). */
static bool sort_tasks(struct profile *p)
{
    struct host_tasks *t = &p->host.tasks;
    struct arena *scratch = arena_new();
    uint32_t *order = scratch ? arena_take(scratch, t->n, sizeof *order) : NULL;
    void *moved = order ? arena_take(scratch, t->n, sizeof(uint64_t)) : NULL;
    bool done = moved != NULL;
    if (done) {
        order_fill(order, t->n);
        done = order_by_u32(order, t->n, t->context) && order_by_u64(order, t->n, t->key) &&
               order_by_u16(order, t->n, t->device);
    }
    const struct {
        void *column;
        size_t size;
    } all[] = { { t->device, 2 },  { t->stream, 2 }, { t->batch, 2 },  { t->task, 4 },       { t->context, 4 },
                { t->key, 8 },     { t->type, 4 },   { t->kernel, 4 }, { t->connection, 4 }, { t->model, 4 },
                { t->request, 8 }, { t->time, 8 },   { t->thread, 4 }, { t->op, 4 },         { t->recorded_batch, 2 } };
    for (size_t i = 0; done && i < sizeof all / sizeof *all && all[i].column; i++) {
        order_apply(moved, all[i].column, order, t->n, all[i].size);
        memcpy(all[i].column, moved, t->n * all[i].size);
    }
    arena_free(scratch);
    return done;
}

/* Batches of tasks as the host sees them: groups of one device and stream, in time order. */
static bool number_batches(struct profile *p)
{
    struct tracks *t = &p->host.records.tracks;
    const struct host_flips *f = &p->host.records.flips;
    struct arena *scratch = arena_new();
    uint32_t *order = scratch ? arena_take(scratch, t->n, sizeof *order) : NULL;
    bool done = order != NULL;
    if (done) {
        order_fill(order, t->n);
        done = order_by_u64(order, t->n, t->time) && order_by_u16(order, t->n, t->stream) &&
               order_by_u16(order, t->n, t->device);
    }
    size_t flip = 0;
    for (size_t i = 0; done && i < t->n;) {
        const uint16_t device = t->device[order[i]], stream = t->stream[order[i]];
        size_t end = i, flip_end;
        while (end < t->n && t->device[order[end]] == device && t->stream[order[end]] == stream)
            end++;
        while (flip < f->n && (f->device[flip] < device || (f->device[flip] == device && f->stream[flip] < stream)))
            flip++;
        for (flip_end = flip; flip_end < f->n && f->device[flip_end] == device && f->stream[flip_end] == stream;)
            flip_end++;
        batch_of_host(order + i, end - i, t->time, t->task, t->batch, flip_end - flip, f->time + flip, f->task + flip,
                      f->number + flip);
        i = end;
    }
    arena_free(scratch);
    return done;
}

/* Without unique ids, the recorded batches do not identify tasks: instead, each use of an id is numbered as a batch. */
static bool count_uses(struct profile *p)
{
    struct tracks *t = &p->host.records.tracks;
    struct arena *scratch = arena_new();
    uint32_t *order = scratch ? arena_take(scratch, t->n, sizeof *order) : NULL;
    t->recorded_batch = arena_take(p->host.source.mem, t->n, sizeof *t->recorded_batch);
    bool done = order && t->recorded_batch;
    if (done) {
        if (t->n > 0)
            memcpy(t->recorded_batch, t->batch, t->n * sizeof *t->recorded_batch);
        order_fill(order, t->n);
        done = order_by_u64(order, t->n, t->time) && order_by_u32(order, t->n, t->task) &&
               order_by_u16(order, t->n, t->stream) && order_by_u16(order, t->n, t->device);
    }
    for (size_t i = 0; done && i < t->n; i++) {
        const uint32_t row = order[i], before = i > 0 ? order[i - 1] : row;
        const bool is_same = i > 0 && t->task[row] == t->task[before] && t->stream[row] == t->stream[before] &&
                             t->device[row] == t->device[before];
        t->batch[row] = is_same ? (uint16_t)(t->batch[before] + 1) : 0;
    }
    arena_free(scratch);
    return done;
}

bool operators_analyse(struct profile *p, struct error *e)
{
    struct build b = { 0 };
    if (p->chip->task_log == TASK_LOG_CUDA)
        return cuda_operators_analyse(p, e);
    bool done = p->chip->has_wide_ids || (p->has_unique_ids ? number_batches(p) : count_uses(p));
    done = done && build_init(&b, p);
    if (done) {
        visit_all(&b);
        done = take_tables(&b);
    }
    if (done) {
        b.fills = true;
        visit_all(&b);
        done = sort_tasks(p);
    }
    arena_free(b.mem);
    return done || error_no_memory(e, p->path);
}

bool op_is_schedule(const struct profile *p, uint16_t stream, uint32_t op)
{
    static const char kernel[] = "AicpuKernel";
    const struct mc2_groups *g = &p->host.records.mc2_groups;
    if (g->n > 0 && g->row_of_kfc[stream] != NO_ROW)
        return true;
    const size_t len = names_len(p->names, p->host.ops.name[op]);
    return len >= sizeof kernel - 1 &&
           strcmp(names_text(p->names, p->host.ops.name[op]) + len - (sizeof kernel - 1), kernel) == 0;
}
