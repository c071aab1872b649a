#include "analyse/framework/connections.h"
#include "base/keys.h"
#include "export/framework/framework_db.h"

#include <string.h>

/* Numbers of ENUM_API_TYPE. */
enum { API_OP = 50001, API_QUEUE, API_TRACE };

enum {
    API_BEGIN,
    API_END,
    API_TID,
    API_CONNECTION,
    API_NAME,
    API_SEQUENCE,
    API_FORWARD,
    API_TYPES,
    API_SHAPES,
    API_CHAIN,
    API_TYPE,
    API_COLUMNS
};

/* Begin and end are texts there, and nowhere else. */
static const struct db_column api_column[API_COLUMNS] = {
    [API_BEGIN] = { "startNs", "TEXT", NULL },          [API_END] = { "endNs", "TEXT", NULL },
    [API_TID] = { "globalTid", "INTEGER", NULL },       [API_CONNECTION] = { "connectionId", "INTEGER", NULL },
    [API_NAME] = { "name", "INTEGER", NULL },           [API_SEQUENCE] = { "sequenceNumber", "INTEGER", NULL },
    [API_FORWARD] = { "fwdThreadId", "INTEGER", NULL }, [API_TYPES] = { "inputDtypes", "INTEGER", NULL },
    [API_SHAPES] = { "inputShapes", "INTEGER", NULL },  [API_CHAIN] = { "callchainId", "INTEGER", NULL },
    [API_TYPE] = { "type", "INTEGER", NULL },
};

static struct cell tid_cell(uint32_t process, uint32_t thread)
{
    return cell_uint((uint64_t)process << 32 | thread);
}

/* "Dequeue@" and the name of an operator: each is made once. */
struct prefixed {
    const char *prefix;
    struct names *names;
    struct keys plain;
    LIST(name_id) whole; /* by place in plain */
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
    uint64_t first_id; /* of CONNECTION_IDS */
};

static struct cell queue_cell(const void *rows, size_t i, size_t column)
{
    const struct queue_rows *r = rows;
    switch (column) {
    case API_BEGIN: return cell_int(r->spans->begin_ns[i]);
    case API_END: return cell_int(r->spans->end_ns[i]);
    case API_TID: return tid_cell(r->spans->process[i], r->spans->thread[i]);
    case API_CONNECTION: return cell_uint(r->first_id + i);
    case API_NAME: return cell_name(r->name[i]);
    case API_TYPE: return cell_uint(API_QUEUE);
    default: return cell_na();
    }
}

static struct cell python_cell(const void *rows, size_t i, size_t column)
{
    const struct python_calls *p = rows;
    switch (column) {
    case API_BEGIN: return cell_int(p->begin_ns[i]);
    case API_END: return cell_int(p->end_ns[i]);
    case API_TID: return tid_cell(p->process[i], p->thread[i]);
    case API_NAME: return cell_string(p->name[i]);
    case API_TYPE: return cell_uint(API_TRACE);
    default: return cell_na();
    }
}

struct op_rows {
    const struct torch_ops *ops;
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

static struct cell op_cell(const void *rows, size_t i, size_t column)
{
    const struct op_rows *r = rows;
    const struct torch_ops *o = r->ops;
    const uint32_t row = r->c->op[i];
    switch (column) {
    case API_BEGIN: return cell_int(o->begin_ns[row]);
    case API_END: return cell_int(o->end_ns[row]);
    case API_TID: return tid_cell(o->process[row], o->thread[row]);
    case API_CONNECTION: return id_cell(r->connection[i]);
    case API_NAME: return cell_string(o->name[row]);
    case API_SEQUENCE: return cell_int(o->sequence[row]);
    case API_FORWARD: return cell_uint(o->forward_thread[row]);
    case API_TYPES: return text_cell(o->types[row]);
    case API_SHAPES: return text_cell(o->shapes[row]);
    case API_CHAIN: return id_cell(r->chain[row]);
    default: return cell_uint(API_OP);
    }
}

/* Every task of the queue has one connection, operators have none or several. Ids are numbered in this order: tasks that were taken out,
 * tasks that were put in, operators. */
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
        return error_set(e, FAULT_LIMIT, "CONNECTION_IDS: no memory for its rows");
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

/* The frames of call stacks. Many operators have the same stack, and a stack is taken apart once. */
struct stacks {
    struct names *names;
    uint32_t *known; /* by name_id of a stack: its place in first, + 1 */
    LIST(uint32_t) first;
    LIST(name_id) frame;
    struct arena *mem;
};

/* False: no memory. */
static bool stack_frames(struct stacks *s, name_id stack, const name_id **frame, size_t *n)
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

/* Every operator has a chain of its own, also where it has the same frames as another's: so has the reference. */
static bool write_chains(const struct collection_export *x, uint32_t *chain, struct db *db, struct error *e)
{
    enum { BLOCK = 4096 };
    static const struct db_column column[] = {
        { "id", "INTEGER", NULL },
        { "stack", "INTEGER", NULL },
        { "stackDepth", "INTEGER", NULL },
    };
    const struct torch_ops *o = &x->framework->ops;
    struct arena *mem = arena_new();
    struct names *names = x->collection->profile.names;
    struct stacks s = { .names = names, .mem = mem };
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
    return done || error_set(e, FAULT_LIMIT, "PYTORCH_CALLCHAINS: no memory for its rows");
}

static bool write_queue(const struct collection_export *x, const struct connections *c, struct db *db, struct error *e)
{
    const struct framework *f = x->framework;
    struct names *names = x->collection->profile.names;
    struct prefixed in = { .prefix = "Enqueue@", .names = names, .mem = x->mem },
                    out = { .prefix = "Dequeue@", .names = names, .mem = x->mem };
    const name_id alone = names_addz(names, "Enqueue"); /* nobody took it out */
    name_id *enqueue = arena_take(x->mem, f->enqueue.n, sizeof *enqueue),
            *dequeue = arena_take(x->mem, f->dequeue.n, sizeof *dequeue);
    if (!enqueue || !dequeue)
        return error_set(e, FAULT_LIMIT, "PYTORCH_API: no memory for its rows");
    for (size_t i = 0; i < f->enqueue.n; i++)
        enqueue[i] = c->dequeue[i] == NO_ROW ? alone : prefix_name(&in, f->dequeue.name[c->dequeue[i]]);
    for (size_t i = 0; i < f->dequeue.n; i++)
        dequeue[i] = prefix_name(&out, f->dequeue.name[i]);
    const struct queue_rows part[] = { { &f->enqueue, enqueue, f->dequeue.n }, { &f->dequeue, dequeue, 0 } };
    for (size_t i = 0; i < 2; i++)
        if (!db_table(db,
                      &(struct db_table){ .name = "PYTORCH_API",
                                          .column = api_column,
                                          .n_columns = API_COLUMNS,
                                          .n_rows = part[i].spans->n,
                                          .rows = &part[i],
                                          .get = queue_cell },
                      e))
            return false;
    return true;
}

bool pytorch_api_db(const struct collection_export *x, struct db *db, struct error *e)
{
    const struct framework *f = x->framework;
    struct connections c;
    uint32_t *connection = arena_take(x->mem, f->ops.n, sizeof *connection),
             *chain = arena_take(x->mem, f->ops.n, sizeof *chain);
    if (!connection || !chain || !connections_find(&c, x->collection, f, x->mem))
        return error_set(e, FAULT_LIMIT, "PYTORCH_API: no memory for its rows");
    const struct op_rows ops = { &f->ops, &c, connection, chain };
    const struct db_table python = { .name = "PYTORCH_API",
                                     .column = api_column,
                                     .n_columns = API_COLUMNS,
                                     .n_rows = f->python.n,
                                     .rows = &f->python,
                                     .get = python_cell },
                          operators = { .name = "PYTORCH_API",
                                        .column = api_column,
                                        .n_columns = API_COLUMNS,
                                        .n_rows = c.n,
                                        .rows = &ops,
                                        .get = op_cell };
    return write_connections(x, &c, connection, db, e) && write_chains(x, chain, db, e) && db_table(db, &python, e) &&
           write_queue(x, &c, db, e) && db_table(db, &operators, e);
}
