/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"
#include "base/memory/keys.h"
#include "export/framework/framework_files.h"

#include <string.h>

/* Numbers of ENUM_API_TYPE. */
enum { API_OP = 50001, API_QUEUE, API_TRACE };

static struct cell tid_cell(uint32_t process, uint32_t thread)
{
    return cell_uint((uint64_t)process << 32 | thread);
}

/* Names with a prefix like "Dequeue@"; each is made once. */
struct prefixed {
    const char *prefix;
    struct names *names;
    struct keys plain;
    LIST(name_id) whole; /* the prefixed names, in the order of `plain` */
    struct arena *mem;
};

static name_id prefix_name(struct prefixed *p, name_id name)
{
    const uint32_t place = keys_add(&p->plain, name, p->mem);
    if (place == KEYS_NO_MEMORY)
        return name;
    if (place == p->whole.n) {
        name_id *slot = list_add(&p->whole, p->mem);
        const char *text = arena_printf(p->mem, "%s%s", p->prefix, names_text(p->names, name));
        if (!slot || !text)
            return name;
        *slot = names_addz(p->names, text);
    }
    return place < p->whole.n ? p->whole.at[place] : name;
}

struct queue_rows {
    const struct queue_spans *spans;
    const name_id *name;
    uint64_t first_id; /* the id of row 0 in CONNECTION_IDS */
};

CELL_GETTER(queue_begin, struct queue_rows, cell_int(r->spans->begin_ns[i]))
CELL_GETTER(queue_end, struct queue_rows, cell_int(r->spans->end_ns[i]))
CELL_GETTER(queue_tid, struct queue_rows, tid_cell(r->spans->process[i], r->spans->thread[i]))
CELL_GETTER(queue_connection, struct queue_rows, cell_uint(r->first_id + i))
CELL_GETTER(queue_name, struct queue_rows, cell_name(r->name[i]))
CELL_GETTER(queue_type, struct queue_rows, cell_uint(API_QUEUE))

CELL_GETTER(python_begin, struct python_calls, cell_int(r->begin_ns[i]))
CELL_GETTER(python_end, struct python_calls, cell_int(r->end_ns[i]))
CELL_GETTER(python_tid, struct python_calls, tid_cell(r->process[i], r->thread[i]))
CELL_GETTER(python_name, struct python_calls, cell_string(r->name[i]))
CELL_GETTER(python_type, struct python_calls, cell_uint(API_TRACE))

struct op_rows {
    const struct framework_ops *ops;
    const struct connections *c;
    const uint32_t *connection; /* by position in c->op: id of CONNECTION_IDS, or NO_ROW */
    const uint32_t *chain;      /* by row of ops: id of PYTORCH_CALLCHAINS, or NO_ROW */
};

static struct cell id_cell(uint32_t id)
{
    return id == NO_ROW ? cell_na() : cell_uint(id);
}

static struct cell text_cell(name_id text)
{
    return text == NO_NAME || text == NAME_EMPTY ? cell_na() : cell_name(text);
}

/* Cells of an operator; rows are in the order of `connections`. */
#define OF_OP(function, make, column) CELL_GETTER(function, struct op_rows, make(r->ops->column[r->c->op[i]]))
OF_OP(op_begin, cell_int, begin_ns)
OF_OP(op_end, cell_int, end_ns)
CELL_GETTER(op_tid, struct op_rows, tid_cell(r->ops->process[r->c->op[i]], r->ops->thread[r->c->op[i]]))
CELL_GETTER(op_connection, struct op_rows, id_cell(r->connection[i]))
OF_OP(op_name, cell_string, name)
OF_OP(op_sequence, cell_int, sequence)
OF_OP(op_forward, cell_uint, forward_thread)
OF_OP(op_types, text_cell, types)
OF_OP(op_shapes, text_cell, shapes)
CELL_GETTER(op_chain, struct op_rows, id_cell(r->chain[r->c->op[i]]))
CELL_GETTER(op_kind, struct op_rows, cell_uint(API_OP))

/* The rows of PYTORCH_API are of three kinds. Unlike in other tables, begin and end are declared as TEXT, as in the
 * reference. */
enum { OF_PYTHON, OF_QUEUE, OF_OPERATORS };
static const struct db_kind_column api_columns[] = {
    { "startNs", "TEXT", { python_begin, queue_begin, op_begin } },
    { "endNs", "TEXT", { python_end, queue_end, op_end } },
    { "globalTid", "INTEGER", { python_tid, queue_tid, op_tid } },
    { "connectionId", "INTEGER", { NULL, queue_connection, op_connection } },
    { "name", "INTEGER", { python_name, queue_name, op_name } },
    { "sequenceNumber", "INTEGER", { NULL, NULL, op_sequence } },
    { "fwdThreadId", "INTEGER", { NULL, NULL, op_forward } },
    { "inputDtypes", "INTEGER", { NULL, NULL, op_types } },
    { "inputShapes", "INTEGER", { NULL, NULL, op_shapes } },
    { "callchainId", "INTEGER", { NULL, NULL, op_chain } },
    { "type", "INTEGER", { python_type, queue_type, op_kind } },
};

static bool write_calls(struct db *db, const void *rows, size_t n, unsigned kind, struct error *e)
{
    const struct db_table t = { .name = "PYTORCH_API", .n_rows = n, .rows = rows };
    return db_table_kind(db, t, KIND_COLUMNS(api_columns), kind, e);
}

/* Writes CONNECTION_IDS. Every task of the queue has one connection, an operator has none or several. Ids count first
 * the dequeues, then the enqueues, then the operators; id[i] is set to that of operator i. */
static bool write_connections(const struct collection_export *x, const struct connections *c, uint32_t *id,
                              struct db *db, struct error *e)
{
    enum { BLOCK = 4096 };
    static const struct db_column column[] = { { "id", "INTEGER", NULL }, { "connectionId", "INTEGER", NULL } };
    const struct framework *f = x->framework;
    const struct queue_spans *const queue[] = { &f->dequeue, &f->enqueue };
    struct cell *cells = arena_take(x->mem, 2 * BLOCK, sizeof *cells);
    struct db_table t = { .name = "CONNECTION_IDS", .column = column, .n_columns = 2, .grid = cells };
    if (!cells)
        return error_no_memory(e, "CONNECTION_IDS");
    uint32_t next = 0;
    for (size_t q = 0; q < 2; q++)
        for (size_t i = 0; i < queue[q]->n; i++) {
            cells[2 * t.n_rows] = cell_uint(next++);
            cells[2 * t.n_rows + 1] = cell_uint(queue[q]->id[i] + CONNECTION_FRAMEWORK);
            if (++t.n_rows < BLOCK && i + 1 < queue[q]->n)
                continue;
            if (!db_table(db, &t, e))
                return false;
            t.n_rows = 0;
        }
    for (size_t i = 0; i < c->n; i++) {
        id[i] = c->first[i] < c->first[i + 1] ? next++ : (uint32_t)NO_ROW;
        for (size_t k = c->first[i]; k < c->first[i + 1]; k++) {
            cells[2 * t.n_rows] = cell_uint(id[i]);
            cells[2 * t.n_rows + 1] = cell_uint(c->id[k]);
            if (++t.n_rows < BLOCK)
                continue;
            if (!db_table(db, &t, e))
                return false;
            t.n_rows = 0;
        }
    }
    return db_table(db, &t, e);
}

/* The frames of call stacks. Many operators have the same stack; each stack is split once. */
struct framework_api_db_stacks {
    struct names *names;
    uint32_t *known;      /* by name_id of a stack: its index in `first`, + 1; 0: not split yet */
    LIST(uint32_t) first; /* the index of its first frame */
    LIST(name_id) frame;
    struct arena *mem;
};

/* The frames of a stack, lent until the next call. False: no memory. */
static bool stack_frames(struct framework_api_db_stacks *s, name_id stack, const name_id **frame, size_t *n)
{
    static const char between[] = ";\r\n";
    if (s->known[stack] == 0) {
        uint32_t *first = list_add(&s->first, s->mem);
        if (!first)
            return false;
        *first = (uint32_t)s->frame.n;
        const char *text = names_text(s->names, stack), *end = text + names_len(s->names, stack);
        for (const char *next; text; text = next) {
            const char *stop = memmem(text, (size_t)(end - text), between, sizeof between - 1);
            name_id *slot = list_add(&s->frame, s->mem);
            if (!slot)
                return false;
            *slot = names_add(s->names, text, (size_t)((stop ? stop : end) - text));
            next = stop ? stop + sizeof between - 1 : NULL;
        }
        s->known[stack] = (uint32_t)s->first.n;
    }
    const size_t at = s->known[stack] - 1, from = s->first.at[at],
                 to = at + 1 < s->first.n ? s->first.at[at + 1] : s->frame.n;
    *frame = s->frame.at + from;
    *n = to - from;
    return true;
}

/* Writes PYTORCH_CALLCHAINS. As in the reference every operator has a chain of its own, even if its frames are those of
 * another. */
static bool write_chains(const struct collection_export *x, uint32_t *chain, struct db *db, struct error *e)
{
    enum { BLOCK = 4096 };
    static const struct db_column column[] = {
        { "id", "INTEGER", NULL },
        { "stack", "INTEGER", NULL },
        { "stackDepth", "INTEGER", NULL },
    };
    const struct framework_ops *o = &x->framework->ops;
    struct arena *mem = arena_new();
    struct names *names = x->collection->profile.names;
    struct framework_api_db_stacks s = { .names = names, .mem = mem };
    struct cell *cells = NULL;
    if (mem) {
        s.known = arena_take(mem, names_count(names), sizeof *s.known);
        cells = arena_take(mem, 3 * BLOCK, sizeof *cells);
    }
    struct db_table t = { .name = "PYTORCH_CALLCHAINS", .column = column, .n_columns = 3, .grid = cells };
    bool done = s.known && cells;
    uint32_t next = 0;
    for (size_t i = 0; i < o->n && done; i++) {
        const name_id *frame = NULL;
        size_t n = 0;
        chain[i] = NO_ROW;
        if (o->stack[i] == NO_NAME || o->stack[i] == NAME_EMPTY)
            continue;
        done = stack_frames(&s, o->stack[i], &frame, &n);
        chain[i] = next++;
        for (size_t k = 0; k < n && done; k++) {
            struct cell *row = cells + 3 * t.n_rows++;
            row[0] = cell_uint(chain[i]);
            row[1] = cell_string(frame[k]);
            row[2] = cell_uint(k);
            if (t.n_rows < BLOCK)
                continue;
            done = db_table(db, &t, e);
            t.n_rows = 0;
        }
    }
    done = done && db_table(db, &t, e);
    arena_free(mem);
    return done || error_no_memory(e, "PYTORCH_CALLCHAINS");
}

static bool write_queue(const struct collection_export *x, const struct connections *c, struct db *db, struct error *e)
{
    const struct framework *f = x->framework;
    struct names *names = x->collection->profile.names;
    struct prefixed in = { .prefix = "Enqueue@", .names = names, .mem = x->mem },
                    out = { .prefix = "Dequeue@", .names = names, .mem = x->mem };
    const name_id alone = names_addz(names, "Enqueue"); /* of one without a dequeue: its operator is unknown */
    name_id *enqueue = arena_take(x->mem, f->enqueue.n, sizeof *enqueue),
            *dequeue = arena_take(x->mem, f->dequeue.n, sizeof *dequeue);
    if (!enqueue || !dequeue)
        return error_no_memory(e, "PYTORCH_API");
    for (size_t i = 0; i < f->enqueue.n; i++)
        enqueue[i] = c->dequeue[i] == NO_ROW ? alone : prefix_name(&in, f->dequeue.name[c->dequeue[i]]);
    for (size_t i = 0; i < f->dequeue.n; i++)
        dequeue[i] = prefix_name(&out, f->dequeue.name[i]);
    const struct queue_rows part[] = { { &f->enqueue, enqueue, f->dequeue.n }, { &f->dequeue, dequeue, 0 } };
    return write_calls(db, &part[0], part[0].spans->n, OF_QUEUE, e) &&
           write_calls(db, &part[1], part[1].spans->n, OF_QUEUE, e);
}

bool pytorch_api_db(const struct collection_export *x, struct db *db, struct error *e)
{
    const struct framework *f = x->framework;
    struct connections c;
    uint32_t *connection = arena_take(x->mem, f->ops.n, sizeof *connection),
             *chain = arena_take(x->mem, f->ops.n, sizeof *chain);
    if (!connection || !chain || !connections_find(&c, x->collection, f, x->mem))
        return error_no_memory(e, "PYTORCH_API");
    const struct op_rows ops = { &f->ops, &c, connection, chain };
    return write_connections(x, &c, connection, db, e) &&
           (!db_wants(db, "PYTORCH_CALLCHAINS") || write_chains(x, chain, db, e)) &&
           write_calls(db, &f->python, f->python.n, OF_PYTHON, e) && write_queue(x, &c, db, e) &&
           write_calls(db, &ops, c.n, OF_OPERATORS, e);
}
