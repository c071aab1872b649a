/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/view_sql.h"

#include <math.h>
#include <string.h>

#include "view/rows/slices_table.h"

#define US(ns) "round(" ns " / 1e3, 3) AS "
#define SPREAD                                                                                                         \
    US("avg(dur_ns)")                                                                                                  \
    "mean_us, " US("percentile(dur_ns, 50)") "median_us, " US("percentile(dur_ns, 99)") "p99_us, " US(                 \
        "max(dur_ns)") "longest_us, histogram(dur_ns) AS durations, id AS slice "
#define FIGURES     "count(*) AS count, " US("sum(dur_ns)") "total_us, " SPREAD
#define PERCENT(ns) "round(100.0 * sum(" ns ") / sum(sum(" ns ")) OVER (), 2) AS " /* of all rows; NULL if that is 0 */
#define PROCESS     "iif(run = '', process, run || ': ' || process) AS process"
#define BY_NAME(where)                                                                                                 \
    "SELECT name, " PROCESS ", " FIGURES "FROM slices WHERE " where " GROUP BY name, run, slices.process"
#define SINGLE                                                                                                         \
    "SELECT name, " PROCESS ", thread, " US("begin_ns") "begin_us, " US("dur_ns") "dur_us, id AS slice FROM slices "

/* Other topics than those of operator_times.h by what the writers of traces call them. */
const struct view_table view_tables[] = {
    { "by name", "name", "total_us DESC", BY_NAME("1") },
    { "operators", "name", "self_us DESC",
      "SELECT name, " PROCESS
      ", count(*) AS count, " US("sum(self_ns)") "self_us, " PERCENT("self_ns") "self_percent, " US("sum(dur_ns)") "total_us, " US(
          "sum(device_self_ns)") "device_self_us, " PERCENT("device_self_ns") "device_self_percent, " US("sum(device_ns)") "device_us, " SPREAD
                                                                                                                           "FROM slices WHERE topic = 'operator' GROUP BY name, run, slices.process" },
    { "kernels", "name", "total_us DESC",
      "SELECT name, " PROCESS ", count(*) AS count, " US("sum(dur_ns)") "total_us, " PERCENT(
          "dur_ns") "percent, " SPREAD "FROM slices WHERE topic = 'kernel' GROUP BY name, run, slices.process" },
    { "kernel counters", "name || ' ' || metric", "total_us DESC, name, task_type, run, metric",
      "SELECT name, task_type, run, metric, count, round(total_us, 3) AS total_us, round(mean, 4) AS mean, most FROM kernel_counters" },
    { "kernel work", "name || ' ' || input_shapes", "total_us DESC, name, input_shapes, input_formats, run",
      "SELECT name, input_shapes, input_types, input_formats, run, count, round(total_us, 3) AS total_us, operations, bytes, round(intensity, 3) AS intensity, "
      "round(operations_per_s / 1e12, 4) AS tera_operations_per_s, round(bytes_per_s / 1e9, 3) AS gb_per_s, round(roof_share * 100, 2) AS roof_percent, "
      "operations_by, bytes_by FROM kernel_work" },
    { "API calls", "name", "total_us DESC",
      BY_NAME("category IN ('cuda_runtime', 'cuda_driver') OR process IN ('CANN', 'CUDA') OR process LIKE 'CANN,%' OR "
              "process LIKE 'CUDA,%' OR "
              "process = 'OS Runtime API' OR process LIKE 'System calls,%'") },
    { "collectives", "name", "dur_us DESC",
      SINGLE "WHERE category = 'COMMUNICATION_OP' OR (process IN ('HCCL', 'NCCL', 'Communication') AND thread NOT LIKE "
             "'Plane%') OR (category = 'kernel' AND name LIKE 'nccl%')" },
    { "marks", "name", "begin_us",
      SINGLE "WHERE category IN ('user_annotation', 'gpu_user_annotation', 'MSTX_EVENTS') OR args LIKE "
             "'%\"event_type\":%' OR thread LIKE 'Stream % marks' UNION ALL SELECT name, " PROCESS
             ", thread, " US("at_ns") "begin_us, NULL, id FROM instants" },
    { "memory", "name", "bytes DESC",
      "SELECT name, allocator, count(*) AS count, sum(bytes) AS bytes, max(bytes) AS largest, "
      "sum(end_ns IS NULL) AS not_released, histogram(bytes) AS sizes, histogram(end_ns - begin_ns) AS durations "
      "FROM blocks GROUP BY name, allocator" },
    { "losses", "what", "n DESC", "SELECT what, n, is_damage, file, at FROM losses" },
    { "by row", "process || ' ' || thread", "total_us DESC",
      "SELECT " PROCESS ", thread, " FIGURES "FROM slices GROUP BY run, slices.process, thread" },
    { "by category", "category", "total_us DESC",
      "SELECT category, " PROCESS ", " FIGURES "FROM slices GROUP BY category, run, slices.process" },
    { "longest slices", "name", "dur_us DESC", SINGLE "ORDER BY dur_ns DESC LIMIT 5000" },
    { "counters", "name", "process, name, series",
      "SELECT " PROCESS
      ", name, series, count(*) AS count, min(value) AS least, avg(value) AS mean, max(value) AS most "
      "FROM counters GROUP BY run, counters.process, name, series" },
};
const size_t n_view_tables = sizeof view_tables / sizeof *view_tables;

const char *const view_sql_examples[] = {
    "SELECT name, count(*), sum(dur_ns) / 1e6 AS ms FROM slices GROUP BY name ORDER BY ms DESC LIMIT 20",
    "SELECT a.name AS operator, b.name AS kernel, count(*) FROM flows JOIN slices a ON a.id = from_id JOIN slices b ON b.id = to_id "
    "GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20",
    "SELECT name, json_extract(args, '$.\"Input Dims\"') AS shapes, count(*) FROM slices WHERE args IS NOT NULL GROUP BY 1, 2 LIMIT 50",
    NULL,
};

const struct view_table *view_table_find(const char *name)
{
    for (size_t i = 0; i < n_view_tables; i++)
        if (strcmp(view_tables[i].name, name) == 0)
            return &view_tables[i];
    return NULL;
}

static bool is_slice(sqlite3_stmt *s, int column)
{
    return strcmp(sqlite3_column_name(s, column), "slice") == 0;
}

/* Numbers of JavaScript are doubles: a larger integer, such as a time in ns, would lose its last digits, so that it is
 * written as a text. */
static bool is_exact_in_pages(int64_t v)
{
    static const int64_t most = INT64_C(1) << 53;
    return v >= -most && v <= most;
}

static void put_cell(struct out *o, sqlite3_stmt *s, int column, bool is_csv)
{
    const char *text;
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER: {
        const int64_t v = sqlite3_column_int64(s, column);
        const bool is_quoted = !is_csv && !is_exact_in_pages(v);
        if (is_quoted)
            out_char(o, '"');
        out_i64(o, v);
        if (is_quoted)
            out_char(o, '"');
        break;
    }
    case SQLITE_FLOAT:
        if (isfinite(sqlite3_column_double(s, column)))
            out_real(o, sqlite3_column_double(s, column));
        else if (!is_csv)
            out_lit(o, "null");
        break;
    case SQLITE_NULL:
        if (!is_csv)
            out_lit(o, "null");
        break;
    default:
        text = (const char *)sqlite3_column_text(s, column);
        (is_csv ? out_csv_safe : out_json)(o, text ? text : "", (size_t)sqlite3_column_bytes(s, column));
        break;
    }
}

/* What an answer needs besides its rows, which are written at once. */
enum { MOST_COLUMNS = 256 };
struct view_sql_one_answer {
    struct out *o, slices;
    bool is_csv;
    bool is_number[MOST_COLUMNS]; /* by the type of the last value that is not NULL */
    size_t n;
};

static bool put_row(void *of, sqlite3_stmt *s)
{
    struct view_sql_one_answer *a = of;
    struct out *o = a->o;
    const bool is_csv = a->is_csv;
    const int n = sqlite3_column_count(s);
    bool is_first = true;
    if (!is_csv)
        out_bytes(o, a->n > 0 ? ",[" : "[", a->n > 0 ? 2 : 1);
    for (int i = 0; i < n; i++) {
        if (is_slice(s, i)) {
            if (a->slices.n > 0)
                out_char(&a->slices, ',');
            put_cell(&a->slices, s, i, false);
            continue;
        }
        if (!is_first)
            out_char(o, ',');
        is_first = false;
        put_cell(o, s, i, is_csv);
        if (i < MOST_COLUMNS && sqlite3_column_type(s, i) != SQLITE_NULL)
            a->is_number[i] = sqlite3_column_type(s, i) == SQLITE_INTEGER || sqlite3_column_type(s, i) == SQLITE_FLOAT;
    }
    out_bytes(o, is_csv ? "\n" : "]", 1);
    a->n++;
    return o->n <= SQL_ANSWER_BYTES;
}

static void put_columns(struct out *o, const struct view_sql_one_answer *a, sqlite3_stmt *s, bool is_csv)
{
    bool is_first = true;
    for (int i = 0; i < sqlite3_column_count(s); i++) {
        const char *name = sqlite3_column_name(s, i);
        if (is_slice(s, i))
            continue;
        if (!is_first)
            out_char(o, ',');
        is_first = false;
        if (is_csv) {
            out_csv_safe(o, name, strlen(name));
            continue;
        }
        out_lit(o, "{\"name\":");
        out_json(o, name, strlen(name));
        out_lit(o, ",\"is_number\":");
        out_bytes(o, i < MOST_COLUMNS && a->is_number[i] ? "true}" : "false}",
                  i < MOST_COLUMNS && a->is_number[i] ? 5 : 6);
    }
}

static void put_begin(void *of, sqlite3_stmt *s)
{
    struct view_sql_one_answer *a = of;
    if (!a->is_csv) {
        out_lit(a->o, "{\"rows\":[");
        return;
    }
    put_columns(a->o, a, s, true);
    out_char(a->o, '\n');
}

static void put_end(void *of, sqlite3_stmt *s)
{
    struct view_sql_one_answer *a = of;
    if (a->is_csv)
        return;
    out_lit(a->o, "],\"columns\":[");
    put_columns(a->o, a, s, false);
    out_lit(a->o, "],\"n\":");
    out_u64(a->o, a->n);
    out_lit(a->o, ",\"slices\":[");
    out_bytes(a->o, a->slices.buf, a->slices.n);
    out_lit(a->o, "]}");
}

bool view_sql_answer(struct out *o, const struct view_input *in, const struct view_sql *q, struct error *error)
{
    struct sql_source source[SLICES_TABLES];
    const struct slices_of of = { .in = &in, .n = 1 };
    const struct sql_database db = { source, SLICES_TABLES, in->db_path, in->db_has_log, in->db_image, in->db_bytes };
    struct sql_question question = { .sql = q->sql, .most_rows = SQL_ROWS };
    struct view_sql_one_answer a = { .o = o, .is_csv = q->is_csv };
    const struct sql_taker taker = { put_begin, put_row, put_end, &a };
    struct sql_answer answer;
    if (!out_open_memory(&a.slices, error))
        return false;
    memcpy(question.parameter, q->parameter, sizeof question.parameter);
    slices_table_sources(source, &of);
    const bool is_good = sql_run(&db, &question, &taker, &answer, error);
    out_discard(&a.slices);
    return is_good;
}
