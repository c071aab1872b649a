/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/trace_readers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/stamp.h"
#include "load/trace/nsys_operators.h"

/* Types of rows of NVTX_EVENTS that have a time. */
enum { NVTX_MARK = 34, NVTX_PUSHED = 59, NVTX_STARTED = 60 };

/* A table of events, and the columns that become arguments with the names that torch.profiler gives them. */
enum { NSYS_ARGS = 6 };
struct nsys_table {
    const char *table, *category;
    const char *name[2];  /* columns with a text, or the id of one: the first that has one */
    const char *fallback; /* name of an event without */
    bool is_device, is_only_shown;
    struct {
        const char *column, *key;
    } arg[NSYS_ARGS];
};

#define OF_DEVICE                                                                                                      \
    { "deviceId", "device" }, { "streamId", "stream" },                                                                \
    {                                                                                                                  \
        "contextId", "context"                                                                                         \
    }
static const struct nsys_table nsys_tables[] = {
    { "CUPTI_ACTIVITY_KIND_KERNEL",
      "kernel",
      { "demangledName", "shortName" },
      "kernel",
      true,
      false,
      { OF_DEVICE, { "registersPerThread", "registers per thread" }, { "graphNodeId", "graph node id" } } },
    { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
      "kernel",
      { NULL, NULL },
      "CUDA graph",
      true,
      false,
      { OF_DEVICE, { "graphId", "graph id" } } },
    { "CUPTI_ACTIVITY_KIND_MEMCPY",
      "gpu_memcpy",
      { NULL, NULL },
      "Memcpy ",
      true,
      false,
      { OF_DEVICE, { "bytes", "bytes" } } },
    { "CUPTI_ACTIVITY_KIND_MEMSET",
      "gpu_memset",
      { NULL, NULL },
      "Memset (Device)",
      true,
      false,
      { OF_DEVICE, { "bytes", "bytes" } } },
    { "CUPTI_ACTIVITY_KIND_RUNTIME", "cuda_runtime", { "nameId", NULL }, "call", false, false, { { 0 } } },
    { "NVTX_EVENTS", "user_annotation", { "text", "textId" }, "range", false, false, { { "domainId", "domain" } } },
    { "OSRT_API", "os_runtime", { "nameId", NULL }, "call", false, true, { { 0 } } },
};
enum { NSYS_TABLES = sizeof nsys_tables / sizeof *nsys_tables };

/* Where the columns of a table are. */
struct nsys_columns {
    int begin, end, global, name[2], device, stream, correlation, arg[NSYS_ARGS], type, copy, from, to, grid[3],
        block[3];
};

struct nsys {
    struct db_trace *t;
    int64_t epoch_ns; /* when the session began, to which times refer */
    struct nsys_operators operators;
    struct db_texts gpus; /* their names */
    uint64_t row;         /* of the table that is read, from 1 */
};

bool nsys_is(struct db_reader *r)
{
    static const char *const table[] = { "META_DATA_EXPORT", "TARGET_INFO_SESSION_START_TIME",
                                         "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS" };
    bool is_there = false;
    if (!untrusted_db_look(&r->u, "StringIds", &is_there) || !is_there)
        return false;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (untrusted_db_look(&r->u, table[i], &is_there) && is_there)
            return true;
    return false;
}

/* ---- whether it can be read -------------------------------------------------------------------------------------- */

static void version_find(struct db_reader *r, char out[32])
{
    static const char table[] = "META_DATA_EXPORT";
    sqlite3_stmt *s = db_reader_rows(r, table);
    const int name = s ? db_column(s, "name") : -1, value = s ? db_column(s, "value") : -1;
    snprintf(out, 32, "unknown");
    while (name >= 0 && value >= 0 && db_reader_next(r, s, table)) {
        const char *key = (const char *)sqlite3_column_text(s, name),
                   *text = (const char *)sqlite3_column_text(s, value);
        if (key && text && strcmp(key, "EXPORT_SCHEMA_VERSION") == 0)
            snprintf(out, 32, "%.30s", text);
    }
    sqlite3_finalize(s);
}

bool nsys_is_name(const char *path)
{
    static const char ending[] = ".sqlite";
    const size_t n = strlen(path), of = sizeof ending - 1;
    return n > of && strcmp(path + n - of, ending) == 0;
}

bool nsys_look(const char *path, struct error *e)
{
    struct db_reader r;
    if (!db_reader_open(&r, path, e))
        return false;
    const bool is_known = nsys_check(&r, e);
    db_reader_close(&r);
    return is_known;
}

bool nsys_check(struct db_reader *r, struct error *e)
{
    static const char *const wanted[] = { "start", "end" }, *const of_device[] = { "deviceId", "streamId" };
    char version[32];
    if (!nsys_is(r))
        return error_set(e, FAULT_FORMAT, "%s: no export of Nsight Systems (nsys export --type sqlite)", r->path);
    version_find(r, version);
    if ((version[0] != '2' && version[0] != '3') || version[1] != '.')
        return error_set(e, FAULT_FORMAT,
                         "%s: an export of Nsight Systems with schema version %s; wanted 2 or 3: export the report "
                         "again with nsys of 2022 to 2026",
                         r->path, version);
    for (size_t i = 0; i < NSYS_TABLES; i++) {
        sqlite3_stmt *s = db_reader_rows(r, nsys_tables[i].table);
        const char *missing = NULL;
        for (size_t k = 0; s && k < 2; k++) {
            missing = db_column(s, wanted[k]) < 0 ? wanted[k] : missing;
            missing = nsys_tables[i].is_device && db_column(s, of_device[k]) < 0 ? of_device[k] : missing;
        }
        sqlite3_finalize(s);
        if (missing)
            return error_set(e, FAULT_FORMAT,
                             "%s: an export of Nsight Systems, schema version %s, whose table %s has no %s", r->path,
                             version, nsys_tables[i].table, missing);
    }
    return true;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static bool nsys_number(sqlite3_stmt *s, int column, int64_t *v)
{
    *v = 0;
    if (column < 0 || sqlite3_column_type(s, column) != SQLITE_INTEGER)
        return false;
    *v = sqlite3_column_int64(s, column);
    return true;
}

static void nsys_text(struct out *o, const char *text, size_t n)
{
    enum { MOST = 4096 };
    if (n > MOST)
        for (n = MOST; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80;)
            n--; /* not in the middle of a character */
    out_json_inner(o, text, n);
}

static void nsys_put(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

static void nsys_put_number(struct out *o, const char *before, int64_t v)
{
    nsys_put(o, before);
    out_i64(o, v);
}

/* "HtoD (Pinned -> Device)", as torch.profiler has it: from there the direction is known. */
static void copy_text(struct out *o, sqlite3_stmt *s, const struct nsys_columns *c)
{
    static const char *const kinds[] = { "",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                         "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD" };
    static const char *const places[] = { "Pageable", "Pinned", "Device", "Array", "Managed", "Device", "Managed" };
    int64_t kind, from, to;
    if (!nsys_number(s, c->copy, &kind) || kind < 0 || kind >= (int64_t)(sizeof kinds / sizeof *kinds))
        kind = 0;
    nsys_put(o, kinds[kind]);
    const int64_t n = sizeof places / sizeof *places;
    if (nsys_number(s, c->from, &from) && nsys_number(s, c->to, &to) && from >= 0 && to >= 0 && from < n && to < n) {
        nsys_put(o, " (");
        nsys_put(o, places[from]);
        nsys_put(o, " -> ");
        nsys_put(o, places[to]);
        out_char(o, ')');
    }
}

/* Calls of CUDA are named with the version of their interface: cudaLaunchKernel_v7000. */
static size_t without_version(const char *text, size_t len)
{
    size_t n = len;
    while (n > 0 && text[n - 1] >= '0' && text[n - 1] <= '9')
        n--;
    return n < len && n > 2 && text[n - 1] == 'v' && text[n - 2] == '_' ? n - 2 : len;
}

static void member_begin(struct out *o, const char *key, bool *is_first)
{
    nsys_put(o, *is_first ? "\"" : ",\"");
    nsys_put(o, key);
    nsys_put(o, "\":");
    *is_first = false;
}

/* `number`: of the operator, 0: none. */
static void args_put(const struct nsys *n, const struct nsys_table *of, sqlite3_stmt *s, const struct nsys_columns *c,
                     int64_t global, uint64_t number)
{
    static const char *const size[] = { "grid", "block" };
    struct out *o = n->t->o;
    int64_t v;
    bool is_first = true;
    nsys_put(o, ",\"args\":{");
    for (size_t i = 0; i < NSYS_ARGS && of->arg[i].column; i++)
        if (nsys_number(s, c->arg[i], &v)) {
            member_begin(o, of->arg[i].key, &is_first);
            out_i64(o, v);
        }
    if (nsys_number(s, c->correlation, &v)) {
        number = nsys_operator_of(&n->operators, global, v);
        member_begin(o, "correlation", &is_first);
        out_u64(o, nsys_launch(global, v));
    }
    if (number > 0) {
        member_begin(o, "External id", &is_first);
        out_u64(o, number);
    }
    for (size_t i = 0; i < 2; i++) {
        const int *column = i == 0 ? c->grid : c->block;
        if (column[0] < 0 || column[1] < 0 || column[2] < 0)
            continue;
        member_begin(o, size[i], &is_first);
        for (size_t k = 0; k < 3; k++) {
            nsys_number(s, column[k], &v);
            nsys_put_number(o, k > 0 ? "," : "[", v);
        }
        out_char(o, ']');
    }
    nsys_put(o, "}},\n");
}

static void metadata_put(struct out *o, const char *what, int64_t pid, int64_t tid, const char *key, const char *text,
                         int64_t number)
{
    nsys_put(o, "{\"ph\":\"M\",\"name\":\"");
    nsys_put(o, what);
    nsys_put_number(o, "\",\"pid\":", pid);
    nsys_put_number(o, ",\"tid\":", tid);
    nsys_put(o, ",\"args\":{\"");
    nsys_put(o, key);
    nsys_put(o, "\":\"");
    nsys_text(o, text, strlen(text));
    if (number >= 0)
        nsys_put_number(o, "", number);
    nsys_put(o, "\"}},\n");
}

/* A process of the host, or a device, is written when it is met first. Devices have numbers that no process has. */
static int64_t pid_of(struct nsys *n, bool is_device, int64_t number)
{
    struct db_trace *t = n->t;
    const int64_t pid = is_device ? (INT64_C(1) << 24) + (number & 0xffff) : number & 0xffffff;
    const size_t known = t->tracks.key.n;
    const uint32_t at = keys_add(&t->tracks, (uint64_t)pid, t->r->mem);
    bool is_named = false;
    t->failed |= at == KEYS_NO_MEMORY;
    if (t->failed || at != known)
        return pid;
    const name_id gpu = db_text(&n->gpus, number, &is_named);
    char title[200];
    snprintf(title, sizeof title,
             is_device && is_named ? "GPU %" PRId64 ", %.120s"
             : is_device           ? "GPU %" PRId64
                                   : "process %" PRId64,
             number, is_named ? names_text(t->r->names, gpu) : "");
    metadata_put(t->o, "process_name", pid, 0, "name", title, -1);
    metadata_put(t->o, "process_labels", pid, 0, "labels", is_device ? "GPU " : "CPU", is_device ? number : -1);
    return pid;
}

/* The begin of a row. False: it is no event, has no time, or the text has become too long. */
static bool nsys_row_begin(struct nsys *n, sqlite3_stmt *s, const struct nsys_columns *c, int64_t *begin)
{
    struct db_trace *t = n->t;
    const uint64_t most = (UINT64_C(64) << 20) + 40 * t->r->u.file_bytes; /* long texts may be repeated */
    int64_t type;
    n->row++;
    if (nsys_number(s, c->type, &type) && type != NVTX_MARK && type != NVTX_PUSHED && type != NVTX_STARTED)
        return false; /* names of categories and domains */
    const bool has_time = nsys_number(s, c->begin, begin);
    t->n_timeless += !has_time;
    t->is_cut = t->is_cut || t->o->written + t->o->n > most;
    return has_time && !t->is_cut;
}

static void nsys_row(struct nsys *n, const struct nsys_table *of, sqlite3_stmt *s, const struct nsys_columns *c)
{
    struct db_trace *t = n->t;
    struct out *o = t->o;
    int64_t begin, end, type, global, device, tid;
    size_t len;
    bool is_operator = false;
    if (!nsys_row_begin(n, s, c, &begin))
        return;
    nsys_number(s, c->type, &type);
    nsys_number(s, c->global, &global);
    nsys_number(s, c->device, &device);
    nsys_number(s, c->stream, &tid);
    const bool is_range = nsys_number(s, c->end, &end) && end >= begin && type != NVTX_MARK;
    const int64_t pid = pid_of(n, of->is_device, of->is_device ? device : global >> 24 & 0xffffff);
    tid = of->is_device ? tid : global & 0xffffff;
    const char *name = nsys_cell(t->r, s, c->name[0], &len);
    name = name && len > 0 ? name : nsys_cell(t->r, s, c->name[1], &len);
    if (c->type >= 0 && name)
        len = nsys_mark_len(name, len, &is_operator);
    nsys_put(o, is_range ? "{\"ph\":\"X\",\"cat\":\"" : "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"");
    nsys_put(o, is_operator ? "cpu_op" : of->category);
    nsys_put_number(o, "\",\"pid\":", pid);
    /* Ranges that are not a stack have a track of their own. */
    nsys_put_number(o, type == NVTX_STARTED ? ",\"tid\":\"ranges " : ",\"tid\":", tid);
    nsys_put(o, type == NVTX_STARTED ? "\",\"name\":\"" : ",\"name\":\"");
    if (name)
        nsys_text(o, name, of->name[0][0] == 'n' ? without_version(name, len) : len);
    else
        nsys_put(o, of->fallback);
    if (c->copy >= 0)
        copy_text(o, s, c);
    nsys_put(o, "\",\"ts\":");
    out_us(o, stamp_held(wrap_add(n->epoch_ns, begin)));
    if (is_range) {
        nsys_put(o, ",\"dur\":");
        out_us(o, stamp_held(wrap_sub(end, begin)));
        t->n_slices++;
    }
    args_put(n, of, s, c, global, is_operator ? n->row : 0);
    t->n_events++;
}

static void nsys_table_put(struct nsys *n, const struct nsys_table *of)
{
    static const char *const grid[] = { "gridX", "gridY", "gridZ" }, *const block[] = { "blockX", "blockY", "blockZ" };
    struct db_trace *t = n->t;
    sqlite3_stmt *s = db_reader_rows(t->r, of->table);
    if (!s)
        return;
    const int thread = db_column(s, "globalTid");
    struct nsys_columns c = { .begin = db_column(s, "start"),
                              .end = db_column(s, "end"),
                              .global = thread >= 0 ? thread : db_column(s, "globalPid"),
                              .name = { db_column(s, of->name[0]), db_column(s, of->name[1]) },
                              .device = db_column(s, "deviceId"),
                              .stream = db_column(s, "streamId"),
                              .correlation = db_column(s, "correlationId"),
                              .type = db_column(s, "eventType"),
                              .copy = db_column(s, "copyKind"),
                              .from = db_column(s, "srcKind"),
                              .to = db_column(s, "dstKind") };
    for (size_t i = 0; i < NSYS_ARGS; i++)
        c.arg[i] = db_column(s, of->arg[i].column);
    for (size_t i = 0; i < 3; i++) {
        c.grid[i] = db_column(s, grid[i]);
        c.block[i] = db_column(s, block[i]);
    }
    n->row = 0;
    while (!t->failed && !t->is_cut && db_reader_next(t->r, s, of->table))
        nsys_row(n, of, s, &c);
    sqlite3_finalize(s);
}

/* The first number of a column; 0: there is none. */
static int64_t nsys_epoch(struct db_reader *r)
{
    static const char table[] = "TARGET_INFO_SESSION_START_TIME";
    int64_t ns = 0;
    sqlite3_stmt *s = db_reader_rows(r, table);
    if (s && db_reader_next(r, s, table))
        nsys_number(s, db_column(s, "utcEpochNs"), &ns);
    sqlite3_finalize(s);
    return ns;
}

static void threads_put(struct nsys *n)
{
    static const char table[] = "ThreadNames";
    struct db_trace *t = n->t;
    sqlite3_stmt *s = db_reader_rows(t->r, table);
    const int name = s ? db_column(s, "nameId") : -1, thread = s ? db_column(s, "globalTid") : -1;
    while (name >= 0 && !t->failed && db_reader_next(t->r, s, table)) {
        int64_t global;
        size_t len;
        const char *text = nsys_cell(t->r, s, name, &len);
        if (text && nsys_number(s, thread, &global))
            metadata_put(t->o, "thread_name", pid_of(n, false, global >> 24 & 0xffffff), global & 0xffffff, "name",
                         text, -1);
    }
    sqlite3_finalize(s);
}

bool nsys_trace_write(struct db_trace *t, struct db_reader *r, struct out *o, bool is_measured)
{
    *t = (struct db_trace){ .r = r, .o = o, .is_gpu = true, .is_measured = is_measured };
    struct nsys n = { .t = t, .epoch_ns = nsys_epoch(r) };
    t->failed = !db_texts_load(r, &r->strings, "StringIds", "value") ||
                !db_texts_load(r, &n.gpus, "TARGET_INFO_GPU", "name") || !nsys_operators_find(&n.operators, r);
    nsys_put(o, "{\"traceEvents\":[\n");
    for (size_t i = 0; i < NSYS_TABLES && !t->failed; i++)
        if (!is_measured || !nsys_tables[i].is_only_shown)
            nsys_table_put(&n, &nsys_tables[i]);
    if (!t->failed)
        threads_put(&n);
    nsys_put(o, "{\"ph\":\"M\",\"name\":\"end\",\"pid\":0}]}\n");
    return !t->failed;
}
