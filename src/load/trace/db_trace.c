/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/trace_readers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/large_memory.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"

/* An event with a connection id: its time and track. */
struct db_end {
    uint64_t connection;
    int64_t ns;
    uint32_t process, track;
    bool is_device;
};

/* ---- which columns are texts
 * --------------------------------------------------------------------------------------- */

/* Columns with ids of texts in STRING_IDS. blockDim is the id of a text in files that have gridDim; in older ones it is
 * a number. */
static const char *const string_columns[] = {
    "name",          "opName",   "taskType",        "opType",       "inputFormats", "inputDataTypes", "inputShapes",
    "outputFormats", "attrInfo", "outputDataTypes", "outputShapes", "opState",      "hf32Eligible",   "gridDim",
    "groupName",     "algType",  "message",         "domainId",     "inputDtypes",  "component",      "operatorName",
    "eventName",     "mode",     "metric",          "coreType",
};

enum {
    OF_API,
    OF_OVERLAP,
    OF_MARK,
    OF_DATA,
    OF_LINK,
    OF_TRANSPORT,
    OF_RDMA,
    ENUMS,
    OF_STRINGS = ENUMS,
    NO_TEXTS,
    EACH_ALONE
};
static const struct {
    const char *table, *column;
} enums[ENUMS] = {
    [OF_API] = { "ENUM_API_TYPE", NULL },
    [OF_OVERLAP] = { "ENUM_OVERLAP_ANALYSIS_TYPE", NULL },
    [OF_MARK] = { "ENUM_MSTX_EVENT_TYPE", "eventType" },
    [OF_DATA] = { "ENUM_HCCL_DATA_TYPE", "dataType" },
    [OF_LINK] = { "ENUM_HCCL_LINK_TYPE", "linkType" },
    [OF_TRANSPORT] = { "ENUM_HCCL_TRANSPORT_TYPE", "transportType" },
    [OF_RDMA] = { "ENUM_HCCL_RDMA_TYPE", "rdmaType" },
};

/* The table of texts to which the ids of a column refer; `of_type` is that of columns named "type". */
static int texts_by_name(sqlite3_stmt *s, const char *name, int of_type)
{
    if (!name)
        return NO_TEXTS;
    if (!strcmp(name, "type"))
        return of_type;
    for (int i = 0; i < ENUMS; i++)
        if (enums[i].column && !strcmp(name, enums[i].column))
            return i;
    for (size_t i = 0; i < sizeof string_columns / sizeof *string_columns; i++)
        if (!strcmp(name, string_columns[i]))
            return OF_STRINGS;
    return !strcmp(name, "blockDim") && db_column(s, "gridDim") >= 0 ? OF_STRINGS : NO_TEXTS;
}

/* The same by the number of a column. Names are compared once per statement, not once per row. */
static int texts_of(struct db_trace *t, sqlite3_stmt *s, int column, int of_type)
{
    enum { STATEMENTS = sizeof t->texts_of / sizeof *t->texts_of, COLUMNS = sizeof t->texts_of->of };
    size_t i = 0;
    if (sqlite3_column_type(s, column) != SQLITE_INTEGER)
        return NO_TEXTS;
    while (i < STATEMENTS && t->texts_of[i].statement && t->texts_of[i].statement != s)
        i++;
    if (i == STATEMENTS || column >= COLUMNS)
        return texts_by_name(s, sqlite3_column_name(s, column), of_type);
    if (!t->texts_of[i].statement) {
        t->texts_of[i].statement = s;
        for (int k = 0; k < COLUMNS && k < sqlite3_column_count(s); k++)
            t->texts_of[i].of[k] = (uint8_t)texts_by_name(s, sqlite3_column_name(s, k), of_type);
    }
    return t->texts_of[i].of[column];
}

/* The text of a cell: the one with the id in the cell, or the text in the cell. False: it has none. */
static bool cell_text(struct db_trace *t, sqlite3_stmt *s, int column, int of_type, const char **text, size_t *n)
{
    const int of = column < 0 ? NO_TEXTS : texts_of(t, s, column, of_type);
    bool is_there = false;
    if (column < 0)
        return false;
    if (of != NO_TEXTS) {
        const struct db_texts *texts = of == OF_STRINGS ? &t->r->strings : &t->enums[of];
        const name_id name = db_text(texts, sqlite3_column_int64(s, column), &is_there);
        *text = names_text(t->r->names, name);
        *n = names_len(t->r->names, name);
        return is_there;
    }
    if (sqlite3_column_type(s, column) != SQLITE_TEXT)
        return false;
    *text = (const char *)sqlite3_column_text(s, column);
    *n = (size_t)sqlite3_column_bytes(s, column);
    return *text != NULL;
}

/* ---- events
 * -------------------------------------------------------------------------------------------------------- */

enum { CELL_BYTES = 4096, NAME_BYTES = 65536, MOST_ROWS = 200 /* of one id */ };

static void db_trace_put_text(struct db_trace *t, const char *text, size_t n, size_t most)
{
    while (n > most && most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--; /* not in the middle of a character */
    out_json(t->o, text, n > most ? most : n);
}

static void put_int(struct out *o, const char *key, int64_t v)
{
    out_bytes(o, key, strlen(key));
    out_i64(o, v);
}

/* Writes the begin of an event on a track, up to its name. False: the text is too long already. */
static bool event_begin(struct db_trace *t, char phase, uint32_t process, uint32_t track)
{
    /* An event needs a few times the bytes of its row, but long texts may be repeated any number of times: hence the
     * limit. */
    const uint64_t most = (UINT64_C(64) << 20) + 40 * t->r->u.file_bytes;
    if (t->is_cut || t->o->written + t->o->n > most) {
        t->is_cut = true;
        return false;
    }
    out_lit(t->o, "{\"ph\":\"");
    out_char(t->o, phase);
    put_int(t->o, "\",\"pid\":", process);
    put_int(t->o, ",\"tid\":", track);
    out_lit(t->o, ",\"name\":");
    return true;
}

static void event_end(struct db_trace *t)
{
    out_lit(t->o, "},\n");
    t->n_events++;
}

static void name_row(struct db_trace *t, const char *kind, uint32_t process, uint32_t track, const char *text,
                     int64_t place)
{
    char what[64];
    if (!event_begin(t, 'M', process, track))
        return;
    snprintf(what, sizeof what, "\"%s_name\",\"args\":{\"name\":", kind);
    out_bytes(t->o, what, strlen(what));
    out_json(t->o, text, strlen(text));
    out_char(t->o, '}');
    event_end(t);
    if (!event_begin(t, 'M', process, track))
        return;
    snprintf(what, sizeof what, "\"%s_sort_index\",\"args\":{\"sort_index\":", kind);
    out_bytes(t->o, what, strlen(what));
    out_i64(t->o, place);
    out_char(t->o, '}');
    event_end(t);
}

enum db_process { STEPS, PYTHON, MARKS, CANN, OS_CALLS, NPU, COMMUNICATION, OVERLAP, NPU_COUNTERS, HOST_COUNTERS };
static const struct {
    const char *title, *gpu_title; /* NULL: the same */
    bool has_number;
} process_titles[] = {
    { "Steps", NULL, false },
    { "Python, process ", NULL, true },
    { "Marks, process ", NULL, true },
    { "CANN, process ", "CUDA, process ", true },
    { "System calls, process ", NULL, true },
    { "NPU ", "GPU ", true },
    { "Communication, NPU ", "Communication, GPU ", true },
    { "Overlap analysis, NPU ", "Overlap analysis, GPU ", true },
    { "Counters, NPU ", "Counters, GPU ", true },
    { "Counters of the host", NULL, false },
};

static uint32_t process_of(struct db_trace *t, enum db_process kind, int64_t number)
{
    const size_t n = t->processes.key.n;
    const uint64_t key = (uint64_t)kind << 56 | ((uint64_t)number & 0xffffffffffffff);
    const uint32_t at = keys_add(&t->processes, key, t->r->mem);
    char title[96];
    t->failed |= at == KEYS_NO_MEMORY;
    if (at != n || t->failed)
        return at;
    const char *const of_gpu = t->is_gpu ? process_titles[kind].gpu_title : NULL;
    const int n_title = snprintf(title, sizeof title, "%s", of_gpu ? of_gpu : process_titles[kind].title);
    if (process_titles[kind].has_number)
        snprintf(title + n_title, sizeof title - (size_t)n_title, "%" PRId64, number);
    name_row(t, "process", at, 0, title, ((int64_t)kind << 32) + (number & 0xffff));
    return at;
}

/* The track of a process with an identifying number; a new track is written with its title and position. */
static uint32_t db_trace_track_of(struct db_trace *t, uint32_t process, uint64_t number, const char *title,
                                  int64_t place)
{
    const size_t n = t->tracks.key.n;
    const uint32_t at = keys_add(&t->tracks, (uint64_t)process << 48 ^ number, t->r->mem);
    t->failed |= at == KEYS_NO_MEMORY;
    if (at == n && !t->failed)
        name_row(t, "thread", process, at, title, place);
    return at;
}

static bool number_is(sqlite3_stmt *s, int column, int64_t *v)
{
    const int type = column < 0 ? SQLITE_NULL : sqlite3_column_type(s, column);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT && type != SQLITE_TEXT)
        return false;
    *v = sqlite3_column_int64(s, column);
    return type != SQLITE_TEXT || *v != 0;
}

/* Begin and end of a row of a table. False: it has no time, and is counted. */
static bool times_of(struct db_trace *t, sqlite3_stmt *s, int begin, int end, int64_t *begin_ns, int64_t *end_ns)
{
    if (!number_is(s, begin, begin_ns) || *begin_ns <= 0) {
        t->n_timeless++;
        return false;
    }
    *begin_ns = stamp_held(*begin_ns);
    *end_ns = *begin_ns;
    if (number_is(s, end, end_ns))
        *end_ns = stamp_held(*end_ns);
    if (*end_ns < *begin_ns)
        *end_ns = *begin_ns;
    return true;
}

/* Writes a cell as a member of an object; cells without a value are left out. */
static void put_member(struct db_trace *t, sqlite3_stmt *s, int column, int of_type, bool *is_first)
{
    const char *name = sqlite3_column_name(s, column), *text = NULL;
    const int type = sqlite3_column_type(s, column);
    size_t n = 0;
    const bool is_text = cell_text(t, s, column, of_type, &text, &n);
    if (!name || type == SQLITE_NULL || type == SQLITE_BLOB ||
        (type == SQLITE_FLOAT && !isfinite(sqlite3_column_double(s, column))))
        return;
    if (!*is_first)
        out_char(t->o, ',');
    *is_first = false;
    db_trace_put_text(t, name, strlen(name), CELL_BYTES);
    out_char(t->o, ':');
    if (is_text)
        db_trace_put_text(t, text, n, CELL_BYTES);
    else if (type == SQLITE_FLOAT)
        out_real(t->o, sqlite3_column_double(s, column));
    else
        out_i64(t->o, sqlite3_column_int64(s, column));
}

static void put_members(struct db_trace *t, sqlite3_stmt *s, int of_type, const int *but, size_t n_but, bool *is_first)
{
    for (int i = 0; i < sqlite3_column_count(s); i++) {
        bool is_left_out = false;
        for (size_t k = 0; k < n_but; k++)
            is_left_out |= but[k] == i;
        if (!is_left_out)
            put_member(t, s, i, of_type, is_first);
    }
}

/* ---- slices
 * -------------------------------------------------------------------------------------------------------- */

enum db_trace_row_kind { BY_THREAD, BY_STREAM, BY_GROUP, BY_TYPE, BY_DOMAIN, ONE_ROW };

struct slices_table {
    const char *table;
    enum db_process process;
    enum db_trace_row_kind row;
    int of_type;             /* what the numbers of its column "type" are */
    const char *name_column; /* NULL, or without a text: `name` */
    const char *name;
};

static const struct slices_table slices_tables[] = {
    { "STEP_TIME", STEPS, ONE_ROW, NO_TEXTS, NULL, "Step" },
    { "PYTORCH_API", PYTHON, BY_THREAD, OF_API, "name", "call" },
    { "GC_RECORD", PYTHON, BY_THREAD, NO_TEXTS, NULL, "GC" },
    { "MSTX_EVENTS", MARKS, BY_DOMAIN, NO_TEXTS, "message", "mark" },
    { "CANN_API", CANN, BY_THREAD, OF_API, "name", "call" },
    { "OSRT_API", OS_CALLS, BY_THREAD, NO_TEXTS, "name", "call" },
    { "TASK", NPU, BY_STREAM, NO_TEXTS, "taskType", "task" },
    { "COMMUNICATION_OP", COMMUNICATION, BY_GROUP, NO_TEXTS, "opName", "collective" },
    { "OVERLAP_ANALYSIS", OVERLAP, BY_TYPE, OF_OVERLAP, "type", "range" },
    { "CCU", NPU, ONE_ROW, NO_TEXTS, "name", "CCU" },
};

/* Where the columns of a table are. */
struct columns {
    int begin, end, name, thread, device, stream, group, domain, type, connection, task, chain, id;
};

static struct columns columns_of(sqlite3_stmt *s, const struct slices_table *of)
{
    return (struct columns){ .begin = db_column(s, "startNs"),
                             .end = db_column(s, "endNs"),
                             .name = db_column(s, of->name_column),
                             .thread = db_column(s, "globalTid"),
                             .device = db_column(s, "deviceId"),
                             .stream = db_column(s, "streamId"),
                             .group = db_column(s, "groupName"),
                             .domain = db_column(s, "domainId"),
                             .type = db_column(s, "type"),
                             .connection = db_column(s, "connectionId"),
                             .task = db_column(s, "globalTaskId"),
                             .chain = db_column(s, "callchainId"),
                             .id = db_column(s, "id") };
}

static int64_t number_or(sqlite3_stmt *s, int column, int64_t otherwise)
{
    int64_t v;
    return number_is(s, column, &v) ? v : otherwise;
}

/* A track whose title contains a text of the file. */
static uint32_t named_track(struct db_trace *t, uint32_t process, sqlite3_stmt *s, int column, int of_type,
                            const char *before, int64_t plane)
{
    const char *text = "";
    size_t n = 0;
    char title[200];
    (void)cell_text(t, s, column, of_type, &text, &n);
    const int kept = n < 120 ? (int)n : 120;
    if (plane >= 0)
        snprintf(title, sizeof title, "%s%.*s, plane %" PRId64, before, kept, text, plane);
    else
        snprintf(title, sizeof title, "%s%.*s", before, kept, text);
    const uint64_t number = (uint64_t)number_or(s, column, 0) & 0xffffffff;
    return db_trace_track_of(t, process, number << 12 | ((uint64_t)(plane + 1) & 0xfff), title,
                             (int64_t)(number << 12) + plane + 1);
}

static uint32_t db_trace_row_of(struct db_trace *t, const struct slices_table *of, sqlite3_stmt *s,
                                const struct columns *c, uint32_t *process)
{
    const int64_t thread = number_or(s, c->thread, 0), device = number_or(s, c->device, 0);
    const bool is_host = of->process >= PYTHON && of->process <= OS_CALLS;
    const int64_t tid = thread & 0xffffffff, stream = number_or(s, c->stream, 0);
    char title[64];
    *process = process_of(t, of->process, of->process == STEPS ? 0 : is_host ? thread >> 32 & 0xffffffff : device);
    switch (of->row) {
    case BY_THREAD:
        snprintf(title, sizeof title, "Thread %" PRId64, tid);
        return db_trace_track_of(t, *process, (uint64_t)tid, title, tid);
    case BY_STREAM:
        snprintf(title, sizeof title, "Stream %" PRId64, stream);
        return db_trace_track_of(t, *process, (uint64_t)stream & 0xffffffff, title, stream);
    case BY_GROUP: return named_track(t, *process, s, c->group, NO_TEXTS, "Group ", -1);
    case BY_DOMAIN: return named_track(t, *process, s, c->domain, NO_TEXTS, "Domain ", -1);
    case BY_TYPE: return named_track(t, *process, s, c->type, of->of_type, "", -1);
    case ONE_ROW: break;
    }
    return db_trace_track_of(t, *process, UINT64_C(1) << 40, of->name, 0);
}

static void end_add(struct db_trace *t, int64_t connection, int64_t ns, uint32_t process, uint32_t track,
                    bool is_device)
{
    if (connection < 0 || connection == UINT32_MAX || t->failed)
        return;
    struct db_end *new = list_add(&t->ends, t->r->mem);
    if (new)
        *new = (struct db_end){ (uint64_t)connection, ns, process, track, is_device };
    t->failed |= !new;
}

/* The row with further data of a task. Tasks of a collective are shown on the track of their group and plane. */
static sqlite3_stmt *task_info(struct db_trace *t, sqlite3_stmt *s, const struct columns *c, enum db_task_info *kind)
{
    const int64_t task = number_or(s, c->task, -1);
    for (*kind = 0; *kind < DB_TASK_INFOS; ++*kind) {
        sqlite3_stmt *info = db_lookup(&t->task_info[*kind], task, 0);
        if (info)
            return info;
    }
    return NULL;
}

/* The frames of a stack are consecutive rows, the innermost first. */
static void put_stack(struct db_trace *t, int64_t chain)
{
    sqlite3_stmt *s = db_lookup(&t->chains, chain, 0);
    if (!s)
        return;
    out_lit(t->o, ",\"Call stack\":\"");
    for (int64_t depth = 0; depth < MOST_ROWS && (s = db_lookup(&t->chains, chain, depth)); depth++) {
        bool is_there;
        const name_id frame = db_text(&t->r->strings, number_or(s, db_column(s, "stack"), -1), &is_there);
        const size_t n = names_len(t->r->names, frame);
        if (depth > 0)
            out_lit(t->o, ";\\n");
        out_json_inner(t->o, names_text(t->r->names, frame), n < 1024 ? n : 1024);
    }
    out_char(t->o, '"');
}

/* Adds the connections of an event. The id of an operator refers to a list of connection ids. */
static void connect(struct db_trace *t, const struct slices_table *of, int64_t connection, int64_t ns, uint32_t process,
                    uint32_t track)
{
    sqlite3_stmt *s;
    if (of->process != PYTHON || !t->connections.one)
        return end_add(t, connection, ns, process, track, of->process >= NPU);
    for (int64_t i = 0; i < MOST_ROWS && (s = db_lookup(&t->connections, connection, i)); i++)
        end_add(t, number_or(s, db_column(s, "connectionId"), -1), ns, process, track, false);
}

static void put_category(struct db_trace *t, const struct slices_table *of, sqlite3_stmt *s, const struct columns *c)
{
    const char *text = of->table;
    size_t n = strlen(text);
    if (of->of_type == OF_API)
        (void)cell_text(t, s, c->type, OF_API, &text, &n);
    out_lit(t->o, ",\"cat\":");
    db_trace_put_text(t, text, n, CELL_BYTES);
}

static void put_slice_name(struct db_trace *t, const struct slices_table *of, sqlite3_stmt *s, const struct columns *c,
                           sqlite3_stmt *info, bool is_comm_task)
{
    const char *text = of->name;
    size_t n = strlen(text);
    char step[64];
    const int column = info ? db_column(info, is_comm_task ? "taskType" : "name") : -1;
    if (of->process == STEPS && c->id >= 0) {
        snprintf(step, sizeof step, t->is_measured ? "ProfilerStep#%" PRId64 : "Step %" PRId64, number_or(s, c->id, 0));
        text = step;
        n = strlen(step);
    } else if (!info || !cell_text(t, info, column, NO_TEXTS, &text, &n)) {
        (void)cell_text(t, s, c->name, of->of_type, &text, &n);
    }
    db_trace_put_text(t, text, n, NAME_BYTES);
}

static void put_slice(struct db_trace *t, const struct slices_table *of, sqlite3_stmt *s, const struct columns *c)
{
    int64_t begin_ns, end_ns;
    uint32_t process, track;
    enum db_task_info kind = DB_TASK_INFOS;
    bool is_first = true;
    if (!times_of(t, s, c->begin, c->end, &begin_ns, &end_ns))
        return;
    sqlite3_stmt *info = of->row == BY_STREAM ? task_info(t, s, c, &kind) : NULL;
    const bool is_comm_task = info && kind == DB_COMMUNICATION_TASK;
    const int64_t device = number_or(s, c->device, 0);
    if (is_comm_task) {
        process = process_of(t, COMMUNICATION, device);
        track = named_track(t, process, info, db_column(info, "groupName"), NO_TEXTS, "Group ",
                            number_or(info, db_column(info, "planeId"), 0) & 0xff);
    } else {
        track = db_trace_row_of(t, of, s, c, &process);
    }
    const bool is_instant = of->row == BY_DOMAIN && begin_ns == end_ns;
    if (t->failed || !event_begin(t, is_instant ? 'i' : 'X', process, track))
        return;
    put_slice_name(t, of, s, c, info, is_comm_task);
    put_category(t, of, s, c);
    out_lit(t->o, ",\"ts\":");
    out_us(t->o, begin_ns);
    if (is_instant) {
        out_lit(t->o, ",\"s\":\"t\"");
    } else {
        out_lit(t->o, ",\"dur\":");
        out_us(t->o, wrap_sub(end_ns, begin_ns));
    }
    out_lit(t->o, ",\"args\":{");
    const int named =
        info && db_column(info, "taskType") < 0 ? -1 : c->name; /* which is its type, unless `info` has it */
    put_members(t, s, of->of_type, (int[]){ c->begin, c->end, named, c->chain }, 4, &is_first);
    if (info)
        put_members(t, info, NO_TEXTS, (int[]){ db_column(info, "globalTaskId") }, 1, &is_first);
    if (c->chain >= 0 && !is_first && !t->is_measured)
        put_stack(t, number_or(s, c->chain, -1));
    out_char(t->o, '}');
    event_end(t);
    t->n_slices += !is_instant;
    connect(t, of, number_or(s, c->connection, -1), begin_ns, process, track);
}

static void put_slices(struct db_trace *t, const struct slices_table *of)
{
    sqlite3_stmt *s = db_reader_rows(t->r, of->table);
    if (!s)
        return;
    const struct columns c = columns_of(s, of);
    memset(t->texts_of, 0, sizeof t->texts_of); /* a new statement may be where an old one was */
    while (!t->failed && !t->is_cut && db_reader_next(t->r, s, of->table))
        put_slice(t, of, s, &c);
    sqlite3_finalize(s);
}

/* ---- counters
 * ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *table, *title;
    int of_type;
} counters_tables[] = {
    { "MEMORY_RECORD", "Memory", NO_TEXTS },
    { "NPU_MEM", "NPU memory", OF_STRINGS },
    { "NPU_MODULE_MEM", "Memory of module", NO_TEXTS },
    { "AICORE_FREQ", "AI Core frequency", NO_TEXTS },
    { "HBM", "HBM", OF_STRINGS },
    { "DDR", "DDR", NO_TEXTS },
    { "LLC", "LLC", NO_TEXTS },
    { "HCCS", "HCCS", NO_TEXTS },
    { "PCIE", "PCIe", NO_TEXTS },
    { "NIC", "NIC", NO_TEXTS },
    { "ROCE", "RoCE", NO_TEXTS },
    { "NETDEV_STATS", "Network device", NO_TEXTS },
    { "ACC_PMU", "Accelerator", NO_TEXTS },
    { "SOC_BANDWIDTH_LEVEL", "SoC bandwidth", NO_TEXTS },
    { "QOS", "QoS", NO_TEXTS },
    { "SIO", "SIO", NO_TEXTS },
    { "UB", "UB", NO_TEXTS },
    { "SAMPLE_PMU_TIMELINE", "AI Core", NO_TEXTS },
    { "GPU_COUNTERS", "GPU", EACH_ALONE },
    { "CPU_USAGE", "CPU", NO_TEXTS },
    { "HOST_MEM_USAGE", "Host memory", NO_TEXTS },
    { "HOST_DISK_USAGE", "Host disk", NO_TEXTS },
    { "HOST_NETWORK_USAGE", "Host network", NO_TEXTS },
};

/* Whether a column names what is counted: it becomes part of the counter's name. */
static bool is_label(const char *name)
{
    static const char *const labels[] = { "hbmId", "llcId",  "cpuId",     "moduleId",  "accId",
                                          "dieId", "funcId", "portId",    "coreId",    "type",
                                          "mode",  "name",   "eventName", "component", "coreType" };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (!strcmp(labels[i], name))
            return true;
    return false;
}

/* Writes a counter for each column, because their units differ. */
static void put_counters_alone(struct db_trace *t, const char *title, sqlite3_stmt *s, int time, int device)
{
    int64_t ns, end_ns;
    if (!times_of(t, s, time, -1, &ns, &end_ns))
        return;
    const uint32_t process = process_of(t, NPU_COUNTERS, number_or(s, device, 0));
    for (int i = 0; i < sqlite3_column_count(s) && !t->failed; i++) {
        const char *const name = sqlite3_column_name(s, i);
        bool is_first = true;
        if (i == time || i == device || !name || sqlite3_column_type(s, i) != SQLITE_INTEGER)
            continue;
        if (!event_begin(t, 'C', process, 0))
            return;
        out_char(t->o, '"');
        out_json_inner(t->o, title, strlen(title));
        out_char(t->o, ' ');
        out_json_inner(t->o, name, strlen(name));
        out_lit(t->o, "\",\"ts\":");
        out_us(t->o, ns);
        out_lit(t->o, ",\"args\":{");
        put_member(t, s, i, NO_TEXTS, &is_first);
        out_char(t->o, '}');
        event_end(t);
    }
}

static void put_counter(struct db_trace *t, size_t table, sqlite3_stmt *s, int time, int device)
{
    const int n = sqlite3_column_count(s), of_type = counters_tables[table].of_type;
    int64_t ns, end_ns;
    bool is_first = true;
    if (!times_of(t, s, time, -1, &ns, &end_ns))
        return;
    const uint32_t process = process_of(t, device < 0 ? HOST_COUNTERS : NPU_COUNTERS, number_or(s, device, 0));
    if (t->failed || !event_begin(t, 'C', process, 0))
        return;
    out_char(t->o, '"');
    out_json_inner(t->o, counters_tables[table].title, strlen(counters_tables[table].title));
    for (int i = 0; i < n; i++) {
        const char *text, *name = sqlite3_column_name(s, i);
        size_t length;
        if (!name || !is_label(name) || sqlite3_column_type(s, i) == SQLITE_NULL)
            continue;
        const bool is_text = cell_text(t, s, i, of_type, &text, &length);
        if (!is_text && sqlite3_column_int64(s, i) < 0) /* not the number of one */
            continue;
        out_char(t->o, ' ');
        if (is_text)
            out_json_inner(t->o, text, length < 200 ? length : 200);
        else
            out_i64(t->o, sqlite3_column_int64(s, i));
    }
    out_lit(t->o, "\",\"ts\":");
    out_us(t->o, ns);
    out_lit(t->o, ",\"args\":{");
    for (int i = 0; i < n; i++) {
        const char *name = sqlite3_column_name(s, i);
        const int type = sqlite3_column_type(s, i);
        if (i != time && i != device && name && !is_label(name) && strcmp(name, "streamPtr") &&
            (type == SQLITE_INTEGER || type == SQLITE_FLOAT))
            put_member(t, s, i, of_type, &is_first);
    }
    out_char(t->o, '}');
    event_end(t);
}

static void put_counters(struct db_trace *t, size_t table)
{
    const char *name = counters_tables[table].table;
    sqlite3_stmt *s = db_reader_rows(t->r, name);
    if (!s)
        return;
    const int ns = db_column(s, "timestampNs"), time = ns >= 0 ? ns : db_column(s, "timestamp"),
              device = db_column(s, "deviceId");
    memset(t->texts_of, 0, sizeof t->texts_of);
    while (!t->failed && !t->is_cut && db_reader_next(t->r, s, name))
        if (counters_tables[table].of_type == EACH_ALONE)
            put_counters_alone(t, counters_tables[table].title, s, time, device);
        else
            put_counter(t, table, s, time, device);
    sqlite3_finalize(s);
}

/* ---- flow events
 * --------------------------------------------------------------------------------------------------- */

static void put_flow(struct db_trace *t, char phase, const struct db_end *end, uint64_t id)
{
    if (!event_begin(t, phase, end->process, end->track))
        return;
    out_lit(t->o, "\"connection\",\"cat\":\"connection\",\"bp\":\"e\",\"ts\":");
    out_us(t->o, end->ns);
    out_lit(t->o, ",\"id\":");
    out_u64(t->o, id);
    event_end(t);
}

/* Writes the flows of equal connection ids: from call to call in the order of time, and from the last call to each
 * task. */
static void put_flows(struct db_trace *t)
{
    enum { MOST_ENDS = 64 }; /* an id that more events share does not connect them */
    const size_t n = t->ends.n;
    uint64_t n_flows = 0;
    uint32_t *order = arena_take(t->r->mem, n, sizeof *order);
    uint64_t *key = arena_take(t->r->mem, n, sizeof *key);
    if (n == 0 || t->failed)
        return;
    if (!order || !key || n >= UINT32_MAX) {
        t->failed = true;
        return;
    }
    order_fill(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)t->ends.at[i].ns;
    bool sorts = order_by_u64(order, n, key);
    for (size_t i = 0; i < n; i++)
        key[i] = t->ends.at[i].connection;
    sorts = sorts && order_by_u64(order, n, key);
    t->failed |= !sorts;
    for (size_t first = 0, end; first < n && sorts; first = end) {
        for (end = first + 1; end < n && key[order[end]] == key[order[first]];)
            end++;
        const struct db_end *call = NULL;
        for (size_t i = first; i < end && end - first <= MOST_ENDS; i++) {
            const struct db_end *to = &t->ends.at[order[i]];
            if (call) {
                put_flow(t, 's', call, ++n_flows);
                put_flow(t, 'f', to, n_flows);
            }
            call = to->is_device ? call : to;
        }
    }
}

static bool has_gpus(struct db_reader *r)
{
    bool is_gpu = false;
    sqlite3_stmt *s = db_reader_rows(r, "NPU_INFO");
    const int name = s ? db_column(s, "name") : -1;
    while (name >= 0 && !is_gpu && db_reader_next(r, s, "NPU_INFO")) {
        const char *const text = (const char *)sqlite3_column_text(s, name);
        is_gpu = text && strcmp(text, "CUDA") == 0;
    }
    sqlite3_finalize(s);
    return is_gpu;
}

/* Whether steps are operators, too. */
static bool has_step_ops(struct db_reader *r)
{
    static const char step[] = "ProfilerStep#";
    bool has_ops = false;
    if (!untrusted_db_look(&r->u, "PYTORCH_API", &has_ops) || !has_ops)
        return false;
    for (size_t i = 0; i < r->strings.name.n; i++)
        if (strncmp(names_text(r->names, r->strings.name.at[i]), step, sizeof step - 1) == 0)
            return true;
    return false;
}

bool db_trace_write(struct db_trace *t, struct db_reader *r, struct out *o, bool is_measured)
{
    static const char *const infos[DB_TASK_INFOS] = {
        [DB_COMPUTE_TASK] = "COMPUTE_TASK_INFO",
        [DB_COMMUNICATION_TASK] = "COMMUNICATION_TASK_INFO",
        [DB_SCHEDULE_TASK] = "COMMUNICATION_SCHEDULE_TASK_INFO",
    };
    if (nsys_is(r))
        return nsys_trace_write(t, r, o, is_measured);
    *t = (struct db_trace){
        .r = r, .o = o, .is_gpu = has_gpus(r), .is_measured = is_measured, .has_step_ops = has_step_ops(r)
    };
    t->enums = arena_take(r->mem, ENUMS, sizeof *t->enums);
    t->failed = !t->enums;
    for (size_t i = 0; i < ENUMS && !t->failed; i++)
        t->failed = !db_texts_load(r, &t->enums[i], enums[i].table, "name");
    for (size_t i = 0; i < DB_TASK_INFOS && !t->failed; i++)
        t->failed = !db_lookup_open(r, &t->task_info[i], infos[i], "globalTaskId");
    t->failed = t->failed || !db_lookup_open(r, &t->connections, "CONNECTION_IDS", "id") ||
                !db_lookup_open(r, &t->chains, "PYTORCH_CALLCHAINS", "id");
    out_lit(o, "{\"traceEvents\":[\n");
    for (size_t i = 0; i < sizeof slices_tables / sizeof *slices_tables && !t->failed; i++)
        if (!is_measured || !t->has_step_ops || slices_tables[i].process != STEPS) /* each step once */
            put_slices(t, &slices_tables[i]);
    for (size_t i = 0; i < sizeof counters_tables / sizeof *counters_tables && !t->failed && !is_measured; i++)
        put_counters(t, i);
    if (!t->failed)
        put_flows(t);
    out_lit(o, "{\"ph\":\"M\",\"name\":\"end\",\"pid\":0}]}\n");
    for (size_t i = 0; i < DB_TASK_INFOS; i++)
        db_lookup_close(&t->task_info[i]);
    db_lookup_close(&t->connections);
    db_lookup_close(&t->chains);
    return !t->failed;
}

int db_trace_unnamed(struct db_trace *t, struct db_reader *r, bool is_measured, struct error *e)
{
    struct out o;
    const int fd = memory_file_near(NULL);
    bool done = (fd >= 0 || error_set(e, FAULT_IO, "%s: no space for its timeline", r->path)) &&
                (!nsys_is(r) || nsys_check(r, e));
    if (done && out_open_descriptor(&o, fd, r->path, e)) {
        done = db_trace_write(t, r, &o, is_measured);
        if (!done) {
            out_discard(&o);
            error_no_memory(e, r->path);
        }
        done = done && out_close(&o, e);
    } else {
        done = false;
    }
    if (!done && fd >= 0)
        close(fd);
    return done ? fd : -1;
}
