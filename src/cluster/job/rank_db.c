/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/rank_readers.h"

#include <math.h>
#include <string.h>

#include "cluster/job/table_reader.h"
#include "cluster/rank/rank_parts.h"
#include "profile/calls.h"

static bool has_field(const struct table_asked *asked, size_t field)
{
    return asked->fields >> field & 1;
}

static bool load_steps(struct table_reader *r)
{
    static const struct db_field field[] = { { "id", VALUE_I64, IN(rank_steps, id), 0 },
                                             { "startNs", VALUE_TIME, IN(rank_steps, begin_ns), 0 },
                                             { "endNs", VALUE_TIME, IN(rank_steps, end_ns), 0 } };
    struct rank_steps *t = &r->rank->steps;
    return table_load(r, RANK_STEPS, &(struct db_part){ "STEP_TIME", FIELDS(field) }, t, &t->begin_ns) &&
           (t->mark = arena_take(r->rank->mem, t->n, sizeof *t->mark));
}

static bool load_calls(struct table_reader *r)
{
    static const struct db_field field[] = {
        { "name", VALUE_STRING, IN(rank_calls, name), 0 },
        { "type", VALUE_API, IN(rank_calls, type), 0 },
        { "startNs", VALUE_TIME, IN(rank_calls, begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(rank_calls, end_ns), 0 },
        { "globalTid", VALUE_U64, IN(rank_calls, thread), 0 },
        { "connectionId", VALUE_U64, IN(rank_calls, connection), -1 },
    };
    struct rank_calls *t = &r->rank->calls;
    return numbered_read(r, "ENUM_API_TYPE", "name", &r->apis) &&
           table_load(r, RANK_CALLS, &(struct db_part){ "CANN_API", FIELDS(field) }, t, &t->begin_ns);
}

static bool load_marks(struct table_reader *r)
{
    static const struct db_field field[] = {
        { "message", VALUE_STRING, IN(rank_marks, message), 0 },
        { "domainId", VALUE_STRING, IN(rank_marks, domain), 0 },
        { "startNs", VALUE_TIME, IN(rank_marks, begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(rank_marks, end_ns), 0 },
        { "eventType", VALUE_U8, IN(rank_marks, event_type), 0 },
        { "globalTid", VALUE_U64, IN(rank_marks, thread), 0 },
        { "connectionId", VALUE_U64, IN(rank_marks, connection), UINT32_MAX },
    };
    struct rank_marks *t = &r->rank->marks;
    return table_load(r, RANK_MARKS, &(struct db_part){ "MSTX_EVENTS", FIELDS(field) }, t, &t->begin_ns);
}

static bool load_clock(struct table_reader *r)
{
    static const struct db_field field[] = { { "timestampNs", VALUE_TIME, IN(rank_clock, time_ns), 0 },
                                             { "freq", VALUE_I64, IN(rank_clock, mhz), 0 } };
    struct rank_clock *t = &r->rank->clock;
    return table_load(r, RANK_CLOCK, &(struct db_part){ "AICORE_FREQ", FIELDS(field) }, t, &t->time_ns);
}

struct db_tasks {
    struct rank_tasks t;
    int64_t *id; /* globalTaskId */
};
struct db_kernels {
    struct rank_kernels k;
    int64_t *id;
    uint32_t *blocks; /* where they are called so, blockDim is a text: the shape of the blocks of a GPU */
};
enum { BLOCKS_FIELD = 0 };

static bool load_tasks(struct table_reader *r)
{
    static const struct db_field field[] = {
        { "taskType", VALUE_STRING, IN(db_tasks, t.type), 0 },
        { "startNs", VALUE_TIME, IN(db_tasks, t.begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(db_tasks, t.end_ns), 0 },
        { "connectionId", VALUE_U64, IN(db_tasks, t.connection), UINT32_MAX },
        { "streamId", VALUE_U32, IN(db_tasks, t.stream), 0 },
        { "globalTaskId", VALUE_I64, IN(db_tasks, id), -1 },
    };
    static const struct db_field kernel_field[] = {
        [BLOCKS_FIELD] = { "blockNum", VALUE_U32, IN(db_kernels, blocks), 0 },
        { "name", VALUE_STRING, IN(db_kernels, k.name), 0 },
        { "opType", VALUE_STRING, IN(db_kernels, k.op_type), 0 },
        { "taskType", VALUE_STRING, IN(db_kernels, k.task_type), 0 },
        { "inputShapes", VALUE_STRING, IN(db_kernels, k.input_shapes), 0 },
        { "inputDataTypes", VALUE_STRING, IN(db_kernels, k.input_types), 0 },
        { "outputShapes", VALUE_STRING, IN(db_kernels, k.output_shapes), 0 },
        { "inputFormats", VALUE_STRING, IN(db_kernels, k.input_formats), 0 },
        { "outputFormats", VALUE_STRING, IN(db_kernels, k.output_formats), 0 },
        { "blockDim", VALUE_U32, IN(db_kernels, k.block_dim), 0 },
        { "globalTaskId", VALUE_I64, IN(db_kernels, id), -2 },
    };
    struct db_tasks tasks = { 0 };
    struct db_kernels kernels = { 0 };
    struct rows_by by;
    struct table_asked asked[] = { { .part = { "TASK", FIELDS(field) }, .to = &tasks },
                                   { .part = { "COMPUTE_TASK_INFO", FIELDS(kernel_field) }, .to = &kernels } };
    if (!tables_read(r, asked, 2) || !table_use(r, RANK_TASKS, &asked[0], &tasks.t.begin_ns) ||
        !rows_by_init(r, &by, kernels.id, kernels.k.n))
        return false;
    tasks.t.kernel = arena_take(r->mem, tasks.t.n, sizeof *tasks.t.kernel);
    if (!tasks.t.kernel)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < tasks.t.n; i++) /* tasks of a graph have one id for all its runs */
        tasks.t.kernel[i] = rows_by_find(&by, tasks.id[i]);
    r->rank->tasks = tasks.t;
    if (has_field(&asked[1], BLOCKS_FIELD))
        kernels.k.block_dim = kernels.blocks;
    r->rank->kernels = kernels.k;
    return true;
}

struct db_collectives {
    struct rank_collectives c;
    int64_t *id; /* opId */
};
struct db_comm_tasks {
    size_t n;
    int64_t *op, *src, *dst;
    name_id *type;
};

/* Of a send or receive: the ranks of its tasks that wait for or notify the other side, where all of them agree. */
static bool load_peers(struct table_reader *r, struct db_collectives *c)
{
    static const struct db_field field[] = {
        { "opId", VALUE_I64, IN(db_comm_tasks, op), -1 },
        { "srcRank", VALUE_I64, IN(db_comm_tasks, src), -1 },
        { "dstRank", VALUE_I64, IN(db_comm_tasks, dst), -1 },
        { "taskType", VALUE_STRING, IN(db_comm_tasks, type), 0 },
    };
    struct db_comm_tasks tasks = { 0 };
    struct rows_by by;
    struct table_asked asked = { .part = { "COMMUNICATION_TASK_INFO", FIELDS(field) }, .to = &tasks };
    if (!tables_read(r, &asked, 1) || !rows_by_init(r, &by, c->id, c->c.n))
        return false;
    const name_id record = names_addz(r->rank->names, "Notify_Record"),
                  wait = names_addz(r->rank->names, "Notify_Wait");
    for (size_t i = 0; i < tasks.n; i++) {
        const uint32_t op = rows_by_find(&by, tasks.op[i]);
        if (op == NO_ROW || (tasks.type[i] != record && tasks.type[i] != wait) || c->c.dst[op] == -2)
            continue;
        const bool is_same = c->c.dst[op] == -1 || (c->c.dst[op] == tasks.dst[i] && c->c.src[op] == tasks.src[i]);
        c->c.src[op] = is_same ? tasks.src[i] : -2;
        c->c.dst[op] = is_same ? tasks.dst[i] : -2;
    }
    for (size_t i = 0; i < c->c.n; i++)
        if (c->c.dst[i] == -2 || c->c.dst[i] < 0)
            c->c.src[i] = c->c.dst[i] = -1;
    return true;
}

static bool load_collectives(struct table_reader *r)
{
    static const struct db_field field[] = {
        { "opName", VALUE_STRING, IN(db_collectives, c.name), 0 },
        { "groupName", VALUE_STRING, IN(db_collectives, c.group), 0 },
        { "opType", VALUE_STRING, IN(db_collectives, c.type), 0 },
        { "dataType", VALUE_TYPE, IN(db_collectives, c.data_type), 0 },
        { "startNs", VALUE_TIME, IN(db_collectives, c.begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(db_collectives, c.end_ns), 0 },
        { "connectionId", VALUE_U64, IN(db_collectives, c.connection), -1 },
        { "count", VALUE_REAL, IN(db_collectives, c.count), -1 },
        { "opId", VALUE_I64, IN(db_collectives, id), -1 },
    };
    struct db_collectives c = { 0 };
    if (!numbered_read(r, "ENUM_HCCL_DATA_TYPE", "name", &r->types) ||
        !table_load(r, RANK_COLLECTIVES, &(struct db_part){ "COMMUNICATION_OP", FIELDS(field) }, &c, &c.c.begin_ns))
        return false;
    c.c.launch_ns = arena_take(r->mem, c.c.n, sizeof *c.c.launch_ns);
    c.c.src = arena_take(r->mem, c.c.n, sizeof *c.c.src);
    c.c.dst = arena_take(r->mem, c.c.n, sizeof *c.c.dst);
    if (!c.c.launch_ns || !c.c.src || !c.c.dst)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < c.c.n; i++) {
        c.c.launch_ns[i] = INT64_MIN;
        c.c.src[i] = c.c.dst[i] = -1;
    }
    const bool done = load_peers(r, &c);
    r->rank->collectives = c.c;
    return done;
}

/* The begin of the call that launched each collective, by its connection. */
static bool load_launches(struct table_reader *r)
{
    struct rank_collectives *c = &r->rank->collectives;
    const struct rank_calls *calls = &r->rank->calls;
    struct rows_by by;
    if (!rows_by_init(r, &by, (const int64_t *)calls->connection, calls->n))
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const bool is_connected = c->connection[i] != CONNECTION_NONE && c->connection[i] != UINT64_MAX;
        const uint32_t call = is_connected ? rows_by_find(&by, (int64_t)c->connection[i]) : NO_ROW;
        c->launch_ns[i] = call == NO_ROW ? INT64_MIN : calls->begin_ns[call];
    }
    return true;
}

struct db_ops {
    struct rank_ops o;
    int64_t *set; /* of connections: id in CONNECTION_IDS */
};
struct db_links {
    size_t n;
    int64_t *set;
    uint64_t *connection;
};

static bool load_ops(struct table_reader *r)
{
    static const struct db_field field[] = {
        { "name", VALUE_STRING, IN(db_ops, o.name), 0 },    { "startNs", VALUE_TIME, IN(db_ops, o.begin_ns), 0 },
        { "endNs", VALUE_TIME, IN(db_ops, o.end_ns), 0 },   { "globalTid", VALUE_U64, IN(db_ops, o.thread), 0 },
        { "connectionId", VALUE_I64, IN(db_ops, set), -1 },
    };
    static const struct db_field link_field[] = {
        { "id", VALUE_I64, IN(db_links, set), -2 },
        { "connectionId", VALUE_U64, IN(db_links, connection), -1 },
    };
    struct db_ops ops = { 0 };
    struct db_links links = { 0 };
    struct rows_by by;
    struct table_asked asked[] = { { .part = { "PYTORCH_API", FIELDS(field) }, .to = &ops },
                                   { .part = { "CONNECTION_IDS", FIELDS(link_field) }, .to = &links } };
    if (!tables_read(r, asked, 2) || !table_use(r, RANK_OPS, &asked[0], &ops.o.begin_ns) ||
        !table_sort(r, &asked[1].part, &links, (const int64_t *)links.connection) ||
        !rows_by_init(r, &by, ops.set, ops.o.n))
        return false;
    struct rank_op_links l = { .connection = links.connection, .op = arena_take(r->mem, links.n, sizeof *l.op) };
    if (!l.op)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < links.n; i++) {
        const uint32_t op = rows_by_find(&by, links.set[i]);
        if (op == NO_ROW)
            continue;
        l.connection[l.n] = links.connection[i];
        l.op[l.n++] = op;
    }
    r->rank->ops = ops.o;
    r->rank->op_links = l;
    return true;
}

static bool load_step_trace(struct table_reader *r)
{
#define TRACE_FIELD(name, column)                                                                                      \
    {                                                                                                                  \
        name, VALUE_REAL, IN(rank_step_trace, us) + (column) * sizeof(double *), 0                                     \
    }
    static const struct db_field field[] = {
        { "step", VALUE_TEXT, IN(rank_step_trace, step), 0 },
        TRACE_FIELD("computing", STEP_COLUMN_COMPUTING),
        TRACE_FIELD("communication_not_overlapped", STEP_COLUMN_EXPOSED),
        TRACE_FIELD("overlapped", STEP_COLUMN_OVERLAPPED),
        TRACE_FIELD("communication", STEP_COLUMN_COMMUNICATION),
        TRACE_FIELD("free", STEP_COLUMN_FREE),
        TRACE_FIELD("stage", STEP_COLUMN_STAGE),
        TRACE_FIELD("bubble", STEP_COLUMN_BUBBLE),
        TRACE_FIELD("communication_not_overlapped_and_exclude_receive", STEP_COLUMN_EXPOSED_NO_RECEIVE),
        TRACE_FIELD("preparing", STEP_COLUMN_PREPARING),
    };
    return table_load(r, RANK_STEP_TRACE, &(struct db_part){ "StepTraceTime", FIELDS(field) }, &r->rank->step_trace,
                      NULL);
}

enum { STEP_FIELD = 2, MATRIX_NAME_FIELD = 5 }; /* of the tables of communication */

/* Databases of msprof and MindSpore know no steps here: all of it is one, which is called "step". */
static void one_step(struct table_reader *r, const struct table_asked *asked, name_id *step, size_t n)
{
    const name_id name = has_field(asked, STEP_FIELD) ? NAME_EMPTY : names_addz(r->rank->names, "step");
    for (size_t i = 0; name != NAME_EMPTY && i < n; i++)
        step[i] = name;
}

/* The costs of collectives are computed once for all three tables. */
static bool load_comm_tables(struct table_reader *r, unsigned parts)
{
    static const struct db_field time_field[] = {
        { "hccl_op_name", VALUE_TEXT, IN(rank_comm_time, op), 0 },
        { "group_name", VALUE_TEXT, IN(rank_comm_time, group), 0 },
        { "step", VALUE_TEXT, IN(rank_comm_time, step), 0 },
        { "type", VALUE_TEXT, IN(rank_comm_time, type), 0 },
        { "start_timestamp", VALUE_REAL, IN(rank_comm_time, start_us), 0 },
        { "elapse_time", VALUE_REAL, IN(rank_comm_time, elapse_ms), 0 },
        { "transit_time", VALUE_REAL, IN(rank_comm_time, transit_ms), 0 },
        { "wait_time", VALUE_REAL, IN(rank_comm_time, wait_ms), 0 },
        { "synchronization_time", VALUE_REAL, IN(rank_comm_time, synchronization_ms), 0 },
        { "idle_time", VALUE_REAL, IN(rank_comm_time, idle_ms), 0 },
    };
    static const struct db_field band_field[] = {
        { "hccl_op_name", VALUE_TEXT, IN(rank_comm_bandwidth, op), 0 },
        { "group_name", VALUE_TEXT, IN(rank_comm_bandwidth, group), 0 },
        { "step", VALUE_TEXT, IN(rank_comm_bandwidth, step), 0 },
        { "type", VALUE_TEXT, IN(rank_comm_bandwidth, type), 0 },
        { "transport_type", VALUE_TEXT, IN(rank_comm_bandwidth, transport), 0 },
        { "transit_size", VALUE_REAL, IN(rank_comm_bandwidth, transit_mb), 0 },
        { "transit_time", VALUE_REAL, IN(rank_comm_bandwidth, transit_ms), 0 },
        { "bandwidth", VALUE_REAL, IN(rank_comm_bandwidth, gbs), 0 },
        { "large_packet_ratio", VALUE_REAL, IN(rank_comm_bandwidth, large_packet_ratio), 0 },
        { "package_size", VALUE_REAL, IN(rank_comm_bandwidth, package_mb), 0 },
        { "count", VALUE_REAL, IN(rank_comm_bandwidth, count), 0 },
        { "total_duration", VALUE_REAL, IN(rank_comm_bandwidth, total_ms), 0 },
    };
    static const struct db_field matrix_field[] = {
        { "hccl_op_name", VALUE_TEXT, IN(rank_comm_matrix, op), 0 },
        { "group_name", VALUE_TEXT, IN(rank_comm_matrix, group), 0 },
        { "step", VALUE_TEXT, IN(rank_comm_matrix, step), 0 },
        { "type", VALUE_TEXT, IN(rank_comm_matrix, type), 0 },
        { "transport_type", VALUE_TEXT, IN(rank_comm_matrix, transport), 0 },
        { "op_name", VALUE_TEXT, IN(rank_comm_matrix, op_name), 0 },
        { "src_rank", VALUE_I64, IN(rank_comm_matrix, src), -1 },
        { "dst_rank", VALUE_I64, IN(rank_comm_matrix, dst), -1 },
        { "transit_size", VALUE_REAL, IN(rank_comm_matrix, transit_mb), 0 },
        { "transit_time", VALUE_REAL, IN(rank_comm_matrix, transit_ms), 0 },
        { "bandwidth", VALUE_REAL, IN(rank_comm_matrix, gbs), 0 },
    };
    struct rank_comm_time *t = &r->rank->comm_time;
    struct rank_comm_bandwidth *b = &r->rank->comm_bandwidth;
    struct rank_comm_matrix *const m = &r->rank->comm_matrix;
    struct table_asked asked[] = { { .part = { "CommAnalyzerTime", FIELDS(time_field) }, .to = t },
                                   { .part = { "CommAnalyzerBandwidth", FIELDS(band_field) }, .to = b },
                                   { .part = { "CommAnalyzerMatrix", FIELDS(matrix_field) }, .to = m } };
    const size_t first = parts & RANK_COMM_TABLES ? 0 : 2, end = parts & RANK_COMM_MATRIX ? 3 : 2;
    if (!tables_read(r, asked + first, end - first))
        return false;
    if (asked[2].is_there) {
        r->rank->has |= RANK_COMM_MATRIX;
        one_step(r, &asked[2], m->step, m->n);
        if (!has_field(&asked[2], MATRIX_NAME_FIELD) && !links_by_kind(m, r->rank->names, r->mem))
            return error_no_memory(r->e, r->path);
    }
    if (!(parts & RANK_COMM_TABLES))
        return true;
    r->rank->has |= asked[0].is_there ? RANK_COMM_TABLES : 0;
    one_step(r, &asked[0], t->step, t->n);
    one_step(r, &asked[1], b->step, b->n);
    t->wait_ratio = arena_take(r->mem, t->n, sizeof *t->wait_ratio);
    t->synchronization_ratio = arena_take(r->mem, t->n, sizeof *t->synchronization_ratio);
    if (!t->wait_ratio || !t->synchronization_ratio)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < t->n; i++)
        t->wait_ratio[i] = t->synchronization_ratio[i] = (double)NAN;
    return true;
}

/* Who it is: small tables, of which the first rows count. */
static bool load_identity(struct table_reader *r)
{
    struct {
        size_t n;
        name_id *a, *b;
    } host = { 0 }, texts = { 0 };
    struct {
        size_t n;
        int64_t *rank, *device;
    } map = { 0 };
#define TEXTS(a_name, b_name)                                                                                          \
    (const struct db_field[])                                                                                          \
    {                                                                                                                  \
        { a_name, VALUE_TEXT, offsetof(__typeof__(texts), a), 0 },                                                     \
        {                                                                                                              \
            b_name, VALUE_TEXT, offsetof(__typeof__(texts), b), 0                                                      \
        }                                                                                                              \
    }
    const struct db_field map_field[] = { { "rankId", VALUE_I64, offsetof(__typeof__(map), rank), -1 },
                                          { "deviceId", VALUE_I64, offsetof(__typeof__(map), device), -1 } };
    struct rank_identity *id = &r->rank->identity;
    const struct names *names = r->rank->names;
    struct table_asked asked[] = { { .part = { "HOST_INFO", TEXTS("hostUid", "hostName"), 2 }, .to = &host },
                                   { .part = { "RANK_DEVICE_MAP", FIELDS(map_field) }, .to = &map },
                                   { .part = { "META_DATA", TEXTS("name", "value"), 2 }, .to = &texts } };
    if (!tables_read(r, asked, sizeof asked / sizeof *asked))
        return false;
    if (host.n > 0) {
        id->host_uid = names_text(names, host.a[0]);
        id->host_name = names_text(names, host.b[0]);
    }
    if (map.n > 0) {
        id->has_device = true;
        id->device = map.device[0];
    }
    for (size_t i = 0; i < texts.n; i++) {
        if (strcmp(names_text(names, texts.a[i]), "distributed_args") == 0)
            id->distributed_args = names_text(names, texts.b[i]);
        else if (strcmp(names_text(names, texts.a[i]), "parallel_group_info") == 0)
            id->parallel_group_info = names_text(names, texts.b[i]);
        else if (strcmp(names_text(names, texts.a[i]), "pp_info") == 0)
            id->pp_info = names_text(names, texts.b[i]);
    }
    return true;
}

/* Collectives need the calls that launched them. */
static const struct {
    unsigned parts;
    bool (*load)(struct table_reader *r);
} loads[] = {
    { RANK_STEPS, load_steps },
    { RANK_STEP_TRACE, load_step_trace }, /* MindSpore's */
    { RANK_CALLS | RANK_COLLECTIVES, load_calls },
    { RANK_TASKS, load_tasks },
    { RANK_COLLECTIVES, load_collectives },
    { RANK_COLLECTIVES, load_launches },
    { RANK_OPS, load_ops },
    { RANK_MARKS, load_marks },
    { RANK_CLOCK, load_clock },
};

static bool load_parts(struct table_reader *r, unsigned parts)
{
    const unsigned of_timeline =
        RANK_STEPS | RANK_CALLS | RANK_TASKS | RANK_COLLECTIVES | RANK_OPS | RANK_MARKS | RANK_CLOCK;
    bool is_marked = false, done = load_identity(r);
    if (done && (parts & of_timeline) && !r->source)
        done = numbered_read(r, "STRING_IDS", "value", &r->strings);
    for (size_t i = 0; done && i < sizeof loads / sizeof *loads; i++) {
        if (parts & loads[i].parts)
            done = loads[i].load(r);
        if (i == 0 && (parts & RANK_STEPS) && (r->rank->steps.n == 0 || r->rank->identity.steps_by)) {
            is_marked = true;
            parts |= RANK_TASKS | RANK_CALLS | RANK_OPS | RANK_MARKS;
        }
    }
    return done && (!is_marked || rank_steps_marked(r->rank, r->e));
}

static bool load_comm_parts(struct table_reader *r, unsigned parts)
{
    const unsigned missing = parts & ~r->rank->has;
    return (!(missing & RANK_STEP_TRACE) || load_step_trace(r)) &&
           (!(missing & (RANK_COMM_TABLES | RANK_COMM_MATRIX)) || load_comm_tables(r, missing));
}

bool rank_db_load(const struct job_rank *from, unsigned parts, struct rank *out, struct error *e)
{
    struct table_reader r = { .rank = out, .mem = out->mem, .e = e };
    out->identity.framework = from->framework;
    bool done = true;
    if (from->db) {
        done = table_reader_open(&r, from->db) && load_parts(&r, parts);
        table_reader_close(&r);
    }
    const char *comm = from->comm ? from->comm : from->db; /* msmonitor and newer ones have all in one */
    if (done && comm && (parts & (RANK_STEP_TRACE | RANK_COMM_TABLES | RANK_COMM_MATRIX))) {
        done = table_reader_open(&r, comm) && load_comm_parts(&r, parts);
        table_reader_close(&r);
    }
    return done && rank_text_metadata(from->path, out, e);
}

bool rank_tables_load(const char *path, const struct table_source *source, unsigned parts, struct rank *out,
                      struct error *e)
{
    struct table_reader r = { .rank = out, .mem = out->mem, .e = e };
    table_reader_open_source(&r, path, source);
    return load_parts(&r, parts) && load_comm_parts(&r, parts) && rank_text_metadata(path, out, e);
}
