/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "base/text/path_name.h"
#include "cli/options/command.h"
#include "export/trace_split.h"
#include "raw/chip.h"
#include "raw/device_records.h"
#include "raw/family.h"
#include "report/host_table.h"
#include "report/loss_report.h"
#include "report/range_table.h"
#include "report/recording_report.h"
#include "report/step_table.h"

enum { TOP_TABLES = 8, NAME_COLUMNS = 44 };
enum { JSON_SCHEMA = 1 }; /* incremented when a member changes its meaning or is removed */

/* ---- counting ------------------------------------------------------------------------------------------------- */

enum fact { FACT_CALLS, FACT_OPERATORS, FACT_TASKS, FACT_COLLECTIVES, FACT_STEPS, FACT_MARKS, FACTS };
static const struct {
    const char *key, *one, *many;
} fact_word[FACTS] = {
    [FACT_CALLS] = { "calls", "host call", "host calls" },
    [FACT_OPERATORS] = { "operators", "operator", "operators" },
    [FACT_TASKS] = { "tasks", "device task", "device tasks" },
    [FACT_COLLECTIVES] = { "collectives", "collective", "collectives" },
    [FACT_STEPS] = { "steps", "iteration", "iterations" },
    [FACT_MARKS] = { "marks", "mark", "marks" },
};

static void count_facts(const struct profile *p, uint64_t n[FACTS])
{
    memset(n, 0, FACTS * sizeof *n);
    n[FACT_CALLS] = p->host.calls.n;
    n[FACT_OPERATORS] = p->host.ops.n;
    n[FACT_MARKS] = p->host.records.marks.n;
    for (size_t i = 0; i < p->n_devices; i++) {
        n[FACT_TASKS] += p->device[i].tasks.n;
        n[FACT_COLLECTIVES] += p->device[i].comm.ops.n;
        n[FACT_STEPS] += p->device[i].steps.iterations.n;
    }
}

/* Equal times are ordered by text: ids of names depend on the order of loading. */
static bool is_above(const struct names *names, const struct top *a, const struct top *b)
{
    return a->dur_ns != b->dur_ns ? a->dur_ns > b->dur_ns : names_compare(names, a->name, b->name) < 0;
}

static int summary_by_time(const void *a, const void *b, void *names)
{
    const struct top *x = a, *y = b;
    return is_above(names, x, y) ? -1 : is_above(names, y, x) ? 1 : 0;
}

size_t top_take(const struct names *names, struct top *sum, size_t n, size_t most)
{
    size_t n_runs = 0;
    for (size_t i = 0; i < n; i++)
        if (sum[i].n > 0)
            sum[n_runs++] = sum[i];
    if (n_runs > 0)
        qsort_r(sum, n_runs, sizeof *sum, summary_by_time, (void *)(uintptr_t)names);
    return n_runs < most ? n_runs : most;
}

/* Device time by operator type, or by name if no type was recorded; *all: the sum. Owner: the caller, free(). NULL:
 * no memory. */
static struct top *top_operators(const struct profile *p, size_t most, size_t *n, double *all)
{
    const size_t n_names = names_count(p->names);
    struct top *sum = calloc(n_names, sizeof *sum);
    *all = 0;
    *n = 0;
    if (!sum)
        return NULL;
    const struct ops *ops = &p->host.ops;
    for (size_t d = 0; d < p->n_devices; d++) {
        const struct tasks *t = &p->device[d].tasks;
        for (size_t i = 0; i < t->n; i++) {
            if (t->op[i] == NO_ROW || t->is_hidden[i])
                continue;
            const name_id type = ops->op_type[t->op[i]];
            const name_id name = type == NAME_NA || type == NAME_EMPTY ? ops->name[t->op[i]] : type;
            sum[name].name = name;
            sum[name].n++;
            sum[name].dur_ns += t->dur_ns[i];
            *all += t->dur_ns[i];
        }
    }
    *n = top_take(p->names, sum, n_names, most);
    return sum;
}

struct stream_size {
    uint64_t bytes, records; /* of all slices; records is 0 if their length varies */
    bool has_records;
};

/* The size of a record; 0: records of various sizes, or text. */
static uint16_t record_size(const struct chip *c, const struct family *f)
{
    if (c->task_log == TASK_LOG_SHORT && strcmp(f->name, "stars_soc.data") == 0)
        return stars_short_layout.size;
    if (c->tracks_tasks && strcmp(f->name, "ts_track.data") == 0)
        return 0;
    return f->size;
}

static struct stream_size stream_measure(const struct chip *c, const struct stream *s)
{
    struct stream_size m = { 0 };
    for (size_t i = 0; i < s->n_slices; i++)
        m.bytes += s->slice[i].size;
    const struct family *family = family_find(s->family);
    const uint16_t size = family ? record_size(c, family) : 0;
    m.has_records = size > 0;
    m.records = m.has_records ? m.bytes / size : 0;
    return m;
}

/* ---- for people ----------------------------------------------------------------------------------------------- */

void summary_gpu(const struct term *t, const struct profile *p)
{
    const char *name = p->n_devices > 0 ? p->device[0].source.gpu.name : NULL;
    if (!name || !*name)
        return;
    fputs(" (", t->to);
    term_text(t, name, 60);
    fputc(')', t->to);
}

void summary_extent(const struct term *t, const struct source *s, const struct source *host)
{
    const int64_t end_ns = source_end_ns(s, host);
    char number[READABLE_MOST], time[READABLE_MOST];
    if (end_ns > 0)
        fprintf(t->to, "%s ", readable_duration(number, (double)(end_ns - s->begin_ns)));
    fprintf(t->to, "from %s%s\n", readable_time(time, s->begin_ns),
            s->has_end   ? ""
            : end_ns > 0 ? " (interrupted: until the last record)"
                         : " (interrupted: the end is unknown)");
}

static void put_found(const struct term *t, const struct profile *p)
{
    const struct source *s = profile_main_source(p);
    char number[READABLE_MOST];
    if (p->n_devices > 0) {
        fprintf(t->to, "  %s%s, device%s", profile_is_simulated(p) ? "simulated " : "", p->chip->name,
                p->n_devices > 1 ? "s" : "");
        for (size_t i = 0; i < p->n_devices; i++)
            fprintf(t->to, "%s%u", i > 0 ? "," : " ", p->device[i].source.device);
        summary_gpu(t, p);
    } else {
        fprintf(t->to, "  %shost only", profile_is_simulated(p) ? "simulated, " : "");
    }
    if (*s->settings.hostname) {
        fputs(", host ", t->to);
        term_text(t, s->settings.hostname, 40);
    }
    fputs("; ", t->to);
    summary_extent(t, s, s);

    uint64_t n[FACTS];
    count_facts(p, n);
    const char *before = "  ";
    for (int i = 0; i < FACTS; i++)
        if (n[i] > 0) {
            fprintf(t->to, "%s%s %s", before, readable_count(number, n[i]),
                    n[i] == 1 ? fact_word[i].one : fact_word[i].many);
            before = ", ";
        }
    if (before[0] == ',')
        fputc('\n', t->to);
}

static bool summary_ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* Tables are listed after timelines and databases, which users open first. */
static bool is_table(const struct written *f)
{
    return !summary_ends_with(f->path, ".db") && !f->is_timeline;
}

static void put_padded(const struct term *t, const char *text, int columns)
{
    term_text(t, text, columns);
    const int width = term_width(text);
    fprintf(t->to, "%*s", width < columns ? columns - width : 0, "");
}

static void put_file(const struct term *t, const struct written *f, int columns)
{
    char rows[READABLE_MOST], bytes[READABLE_MOST];
    fputs("    ", t->to);
    put_padded(t, path_name(f->path), columns);
    static const char *const unit[2][2] = { { "rows", "row" }, { "events", "event" } };
    fprintf(t->to, " %11s %-6s %7s  %s", readable_count(rows, f->n_rows), unit[f->is_timeline][f->n_rows == 1],
            readable_bytes(bytes, f->n_bytes), term_ink(t, INK_DIM));
    const int left = t->columns - columns - 34;
    term_text(t, f->about ? f->about : "", t->columns == 0 ? 0 : left > 0 ? left : 1);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
}

/* Prints the directory of a file, relative to the collection if it is inside. */
static void put_dir(const struct term *t, const char *collection, const char *path)
{
    const size_t len = strlen(collection), dir_len = (size_t)(path_name(path) - path);
    const bool inside = strncmp(path, collection, len) == 0 && path[len] == '/';
    char dir[5000]; /* longer than any path */
    snprintf(dir, sizeof dir, "%.*s", (int)dir_len, path);
    fprintf(t->to, "\n  written to %s%s", term_ink(t, INK_DIM), inside ? "." : "");
    term_text(t, dir + (inside ? len : 0), 0);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
}

/* Timelines and databases in their order, then tables, the largest first. */
static int by_size(const void *a, const void *b)
{
    const struct written *x = *(const struct written *const *)a, *y = *(const struct written *const *)b;
    if (is_table(x) != is_table(y))
        return is_table(x) - is_table(y);
    if (is_table(x) && x->n_bytes != y->n_bytes)
        return x->n_bytes < y->n_bytes ? 1 : -1;
    return (x > y) - (x < y);
}

static bool same_dir(const char *a, const char *b)
{
    const ptrdiff_t len = path_name(a) - a;
    return path_name(b) - b == len && strncmp(a, b, (size_t)len) == 0;
}

static void put_rest(const struct term *t, const struct written *const *file, size_t n, int columns)
{
    uint64_t rows = 0, bytes = 0;
    for (size_t i = 0; i < n; i++) {
        rows += file[i]->n_rows;
        bytes += file[i]->n_bytes;
    }
    char what[48], row_text[READABLE_MOST], byte_text[READABLE_MOST];
    snprintf(what, sizeof what, "and %zu smaller tables", n);
    fprintf(t->to, "    %-*s %11s rows   %7s  %s-v lists them%s\n", columns, what, readable_count(row_text, rows),
            readable_bytes(byte_text, bytes), term_ink(t, INK_DIM), term_ink(t, INK_END));
}

/* Why a viewer cannot open a file; NULL: nothing is known. The uncompressed size of a .gz file is unknown here. */
static const char *viewer_advice(const struct written *f)
{
    if (summary_ends_with(f->path, ".gz"))
        return NULL;
    if (f->is_timeline)
        return trace_size_advice(f->n_bytes);
    return summary_ends_with(f->path, ".db") && f->n_bytes > INSIGHT_MOST
               ? "MindStudio Insight opens files of at most 20 GiB"
               : NULL;
}

/* Warns about files that are too large for viewers. */
static void put_too_large(const struct term *t, const struct account *a)
{
    for (size_t i = 0; i < a->files.n; i++) {
        const struct written *f = &a->files.at[i];
        const char *advice = viewer_advice(f);
        char bytes[READABLE_MOST];
        if (!advice)
            continue;
        fprintf(t->to, "\n  %s", term_ink(t, INK_WARN));
        term_text(t, path_name(f->path), 0);
        fprintf(t->to, " has %s%s: %s%s\n", readable_bytes(bytes, f->n_bytes), term_ink(t, INK_END), advice,
                f->is_timeline ? "; ascope export-trace --max-size 400M splits it into parts" : "");
    }
}

bool summary_files(const struct term *t, const char *path, const struct account *a, bool all)
{
    const size_t n = a->files.n;
    const struct written **file = calloc(n, sizeof *file);
    size_t n_tables = 0;
    int columns = 0;
    if (!file)
        return false;
    for (size_t i = 0; i < n; i++) {
        file[i] = &a->files.at[i];
        n_tables += is_table(file[i]);
    }
    const size_t n_shown = all || n_tables <= TOP_TABLES + 1 ? n : n - n_tables + TOP_TABLES;
    if (n_shown < n)
        qsort(file, n, sizeof *file, by_size);
    for (size_t i = 0; i < n_shown; i++) {
        const int width = term_width(path_name(file[i]->path));
        columns = width > columns ? width : columns;
    }
    columns = columns < NAME_COLUMNS ? columns : NAME_COLUMNS;
    for (size_t i = 0; i < n_shown; i++) {
        if (i == 0 || !same_dir(file[i]->path, file[i - 1]->path))
            put_dir(t, path, file[i]->path);
        put_file(t, file[i], columns);
    }
    if (n_shown < n)
        put_rest(t, file + n_shown, n - n_shown, columns);
    put_too_large(t, a);
    free(file);
    return true;
}

/* "torch/optim/adam.py(319): step" is cut from the left, directory by directory: its end says more. */
static const char *without_directories(const char *name, int columns)
{
    const char *const file = strstr(name, ".py(");
    for (const char *slash; file && term_width(name) > columns && (slash = strchr(name, '/')) && slash < file;)
        name = slash + 1;
    return name;
}

void top_print(const struct term *t, const struct names *names, const char *heading, const struct top *top, size_t n,
               double all_ns)
{
    fprintf(t->to, "\n  %-*s %11s  share       runs\n", NAME_COLUMNS - 8, heading, "time");
    for (size_t i = 0; i < n; i++) {
        char dur[READABLE_MOST], runs[READABLE_MOST];
        fputs("    ", t->to);
        put_padded(t, without_directories(names_text(names, top[i].name), NAME_COLUMNS - 10), NAME_COLUMNS - 10);
        fprintf(t->to, " %11s %4.0f %% %10s\n", readable_duration(dur, top[i].dur_ns),
                all_ns > 0 ? 100 * top[i].dur_ns / all_ns : 0, readable_count(runs, top[i].n));
    }
}

static bool put_top(const struct term *t, const struct profile *p, size_t most)
{
    double all;
    size_t n;
    struct top *top = top_operators(p, most, &n, &all);
    if (n > 0)
        top_print(t, p->names, "where the device time goes", top, n, all);
    const bool done = top != NULL;
    free(top);
    return done;
}

void complain_problems(FILE *to, const char *path, const struct account *a)
{
    enum { SHOWN = 3 }; /* a full disk causes the same problem for forty files */
    const size_t n = a->problems.n, n_shown = n > SHOWN + 1 ? SHOWN : n, n_more = n - n_shown + a->n_omitted;
    for (size_t i = 0; i < n_shown; i++)
        if (a->problems.at[i])
            complain_to(to, "%s", a->problems.at[i]);
        else
            complain_to(to, "%s: %s", path, no_memory_text());
    if (n_shown > 0 && n_more > 0)
        complain_to(to, "and %zu more problem%s; --json lists them", n_more, n_more == 1 ? "" : "s");
    else if (n_more > 0)
        complain_to(to, "%s: %s", path, no_memory_text());
}

void complain_failed(FILE *to, const struct error *e, const struct losses *l)
{
    complain_to(to, "%s%s", e->text,
                losses_damage(l) > 0 ? "; some records of the collection could not be used; see ascope info" : "");
}

bool stream_is_read(const struct source *s, const struct stream *stream)
{
    const bool samples_cores = s->settings.samples_cores;
    return s->is_counted ? stream->is_opened : family_is_read(stream->family, s->chip, samples_cores);
}

void summary_streams(const struct term *t, const struct source *s)
{
    for (size_t i = 0; i < s->n_streams; i++) {
        const struct stream *stream = &s->stream[i];
        const struct stream_size m = stream_measure(s->chip, stream);
        const struct family *family = family_find(stream->family);
        char bytes[READABLE_MOST], n[READABLE_MOST], name[160];
        snprintf(name, sizeof name, "%s%s", stream->is_unaging ? "unaging." : "", stream->family);
        fputs("    ", t->to);
        put_padded(t, name, NAME_COLUMNS - 6);
        fprintf(t->to, " %7s %11s %-8s", readable_bytes(bytes, m.bytes),
                m.has_records ? readable_count(n, m.records) : "",
                !m.has_records   ? ""
                : m.records == 1 ? "record"
                                 : "records");
        fputs(term_ink(t, INK_DIM), t->to);
        if (stream->n_slices > 1)
            fprintf(t->to, " %zu slices;", stream->n_slices);
        fprintf(t->to, " %s%s%s\n", family ? family->holds : "unknown",
                stream_is_read(s, stream) ? "" : "; not read by this version", term_ink(t, INK_END));
    }
}

static void put_sources(const struct term *t, const struct profile *p)
{
    if (profile_has_host(p)) {
        fputs("\n  read from host\n", t->to);
        summary_streams(t, &p->host.source);
    }
    for (size_t i = 0; i < p->n_devices; i++) {
        fprintf(t->to, "\n  read from %s\n", p->device[i].source.name);
        summary_streams(t, &p->device[i].source);
    }
}

void summary_times(const struct term *t, const struct account *a)
{
    fprintf(t->to, "\n  %.2f s: %.2f reading, %.2f analysing", a->load_s + a->analyse_s + a->write_s, a->load_s,
            a->analyse_s);
    if (a->files.n > 0)
        fprintf(t->to, ", %.2f writing", a->write_s);
    fputc('\n', t->to);
}

/* The iterations chosen by --model-id and --iteration-id; NULL: all. */
static const struct step_choice *choice_of(const struct arguments *a, struct step_choice *c)
{
    const struct output_options *o = &a->options;
    *c = (struct step_choice){ o->model, o->iteration, o->iteration + o->iteration_count - 1 };
    return arguments_have(a, OPT_MODEL) ? c : NULL;
}

bool summary_print(const struct term *t, const struct arguments *a, const struct result *r)
{
    if (a->quiet || a->json)
        return true;
    const struct profile *p = &r->profile;
    fputs(term_ink(t, INK_BOLD), t->to);
    term_text(t, p->path, 0);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
    put_found(t, p);
    if (a->verbose > 0)
        put_sources(t, p);
    struct step_choice choice;
    const struct step_table steps = { .profile = p, .choice = choice_of(a, &choice), .file = "step_trace_*.csv" };
    const bool has_steps = step_table_print(t, &steps, a->top), has_top = put_top(t, p, a->top),
               has_ranges = range_table_print(t, p, NULL, a->top), has_host = host_table_print(t, p, a->top),
               has_files = summary_files(t, p->path, &r->account, a->verbose > 0);
    recording_cost_print(t, &p->collector, a->verbose > 0);
    losses_print(t, &p->lost);
    summary_times(t, &r->account);
    fflush(t->to);
    return has_files && has_steps && has_top && has_ranges && has_host;
}

/* ---- for machines --------------------------------------------------------------------------------------------- */

json_t *summary_streams_json(const struct source *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_streams; i++) {
        const struct stream_size m = stream_measure(s->chip, &s->stream[i]);
        json_array_append_new(list,
                              json_pack("{s:o, s:b, s:b, s:I, s:I, s:o}", "family", text_json(s->stream[i].family),
                                        "unaging", s->stream[i].is_unaging, "read", stream_is_read(s, &s->stream[i]),
                                        "slices", (json_int_t)s->stream[i].n_slices, "bytes", (json_int_t)m.bytes,
                                        "records", m.has_records ? json_integer((json_int_t)m.records) : json_null()));
    }
    return list;
}

json_t *files_json(const struct account *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->files.n; i++) {
        const struct written *f = &a->files.at[i];
        json_array_append_new(list, json_pack("{s:o, s:I, s:I}", "path", text_json(f->path), "rows",
                                              (json_int_t)f->n_rows, "bytes", (json_int_t)f->n_bytes));
    }
    return list;
}

json_t *top_list_json(const struct names *names, const struct top *top, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:o, s:I, s:f}", "name", text_json(names_text(names, top[i].name)),
                                              "count", (json_int_t)top[i].n, "total_us", top[i].dur_ns / 1000));
    return list;
}

static json_t *top_json(const struct profile *p, size_t most)
{
    double all;
    size_t n;
    struct top *top = top_operators(p, most, &n, &all);
    json_t *list = top ? top_list_json(p->names, top, n) : NULL;
    free(top);
    return list;
}

json_t *problems_json(const struct account *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->problems.n; i++)
        json_array_append_new(list, text_json(a->problems.at[i] ? a->problems.at[i] : ""));
    return list;
}

json_t *seconds_json(const struct account *a)
{
    return json_pack("{s:f, s:f, s:f}", "read", a->load_s, "analyse", a->analyse_s, "write", a->write_s);
}

json_t *summary_json(const struct arguments *a, const struct result *r)
{
    const struct profile *p = &r->profile;
    const struct source *s = profile_main_source(p);
    uint64_t n[FACTS];
    count_facts(p, n);
    json_t *counts = json_object(), *devices = json_array();
    for (int i = 0; i < FACTS; i++)
        json_object_set_new(counts, fact_word[i].key, json_integer((json_int_t)n[i]));
    for (size_t i = 0; i < p->n_devices; i++)
        json_array_append_new(devices, json_integer(p->device[i].source.device));
    json_t *report =
        json_pack("{s:o, s:o, s:i, s:o, s:b, s:o, s:I, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
                  text_json(p->path), "chip", p->n_devices > 0 ? json_string(p->chip->name) : json_null(), "platform",
                  p->platform, "hostname", text_json(s->settings.hostname), "simulated", profile_is_simulated(p),
                  "devices", devices, "begin_ns", (json_int_t)s->begin_ns, "end_ns", (json_int_t)source_end_ns(s, s),
                  "has_end", s->has_end, "counts", counts, "files", files_json(&r->account), "top_operators",
                  top_json(p, a->top), "losses", losses_json(&p->lost), "recording", recording_json(&p->collector),
                  "problems", problems_json(&r->account), "seconds", seconds_json(&r->account));
    struct step_choice choice;
    const struct step_table steps = { .profile = p, .choice = choice_of(a, &choice) };
    json_object_set_new(report, "ranges", range_table_json(p, NULL, a->top));
    json_object_set_new(report, "host", host_table_json(p, a->top));
    if (report && step_table_json(&steps, a->top, report))
        return report;
    json_decref(report);
    return NULL;
}

enum exit_status json_report(const struct arguments *a, const char *key, json_t *list, enum exit_status status)
{
    return json_report_more(a, key, list, NULL, status);
}

void json_list_add(json_t **list, json_t *one)
{
    if (json_array_append_new(*list, one) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

/* Prints a JSON report. False: no memory, which was reported. */
static bool report_print(const json_t *report)
{
    char *text = report && !json_memory_failed() ? json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
    const bool is_whole = text && !json_memory_failed();
    if (is_whole)
        puts(text);
    else
        complain_no_memory("the report");
    free(text);
    return is_whole;
}

static bool is_reported;

enum exit_status json_report_more(const struct arguments *a, const char *key, json_t *list, json_t *more,
                                  enum exit_status status)
{
    json_t *report = json_pack("{s:s, s:i, s:s, s:o, s:i}", "ascope", ASCOPE_VERSION, "schema", JSON_SCHEMA, "command",
                               a->command->name, key, list, "exit_code", exit_code(a->face, status));
    json_object_update(report, more);
    json_decref(more);
    if (!report_print(report))
        status = status == STATUS_DONE ? STATUS_LOSSES : status;
    json_decref(report);
    is_reported = true;
    return status;
}

void json_report_relayed(void)
{
    is_reported = true;
}

void json_report_failure(const struct arguments *a, int code)
{
    if (is_reported)
        return;
    json_t *report = json_pack("{s:s, s:i, s:s, s:i}", "ascope", ASCOPE_VERSION, "schema", JSON_SCHEMA, "command",
                               a->command->name, "exit_code", code);
    report_print(report);
    json_decref(report);
}
