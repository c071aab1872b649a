/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/mcp_tools.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "mcp/mcp_pages.h"

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static const struct mcp_argument max_chars = { "max_chars", MCP_NUMBER, false,
                                               "most characters of the answer, 500 to 60000; default: 6000" };

/* A copy: arguments are released before the commands run. */
static const char *text_of(const json_t *arguments, const char *name, struct arena *mem)
{
    const char *text = json_string_value(json_object_get(arguments, name));
    return text ? arena_text(mem, text, strlen(text)) : NULL;
}

/* A number, also one that is written as a text: the decimal text, or NULL. */
static const char *number_of(const json_t *arguments, const char *name, struct arena *mem)
{
    const json_t *v = json_object_get(arguments, name);
    if (json_is_integer(v))
        return arena_printf(mem, "%lld", (long long)json_integer_value(v));
    return json_is_real(v) ? arena_printf(mem, "%.3f", json_real_value(v)) : text_of(arguments, name, mem);
}

static bool is_inside(const char *path, const char *root)
{
    const size_t n = strlen(root);
    return strncmp(path, root, n) == 0 && (!path[n] || path[n] == '/' || (n > 0 && root[n - 1] == '/'));
}

/* The resolved path, which is inside one of the roots. NULL: e says why. */
static const char *path_of(struct mcp_plan *p, const char *given, struct error *e)
{
    for (size_t i = 0; i <= p->roots->n; i++) {
        const char *from =
            i == 0 || *given == '/' ? given : arena_printf(p->mem, "%s/%s", p->roots->path[i - 1], given);
        char *real = from ? realpath(from, NULL) : NULL;
        const char *kept = real ? arena_text(p->mem, real, strlen(real)) : NULL;
        free(real);
        for (size_t k = 0; kept && k < p->roots->n; k++)
            if (is_inside(kept, p->roots->path[k]))
                return kept;
    }
    error_set(e, FAULT_ASKED, "path %.200s: not in what this server was given, or it does not exist; given: ", given);
    for (size_t i = 0; i < p->roots->n; i++) {
        const size_t used = strlen(e->text);
        snprintf(e->text + used, sizeof e->text - used, "%s%s", i ? ", " : "", p->roots->path[i]);
    }
    return NULL;
}

static struct mcp_command *command_add(struct mcp_plan *p, const char *title, const char *name)
{
    struct mcp_command *c = list_add(&p->commands, p->mem);
    const char **word = c ? list_add(&c->word, p->mem) : NULL;
    if (!word)
        return NULL;
    c->title = title;
    *word = name;
    return c;
}

static void word_add(struct mcp_plan *p, struct mcp_command *c, const char *word)
{
    const char **new = word ? list_add(&c->word, p->mem) : NULL;
    if (new)
        *new = word;
}

/* An option and its value; nothing if there is no value. */
static void option_add(struct mcp_plan *p, struct mcp_command *c, const char *option, const char *value)
{
    if (!value)
        return;
    word_add(p, c, option);
    word_add(p, c, value);
}

/* The paths of a call, or the only root. */
static bool paths_add(struct mcp_plan *p, struct mcp_command *c, const json_t *arguments, const char *name,
                      struct error *e)
{
    const json_t *given = json_object_get(arguments, name);
    if (!given && p->roots->n == 1) {
        word_add(p, c, p->roots->path[0]);
        return true;
    }
    if (!given)
        return error_set(e, FAULT_ASKED, "%s: missing; one of the %zu recordings that were given", name, p->roots->n);
    for (size_t i = 0; i < (json_is_array(given) ? json_array_size(given) : 1); i++) {
        const json_t *one = json_is_array(given) ? json_array_get(given, i) : given;
        const char *path = path_of(p, json_string_value(one), e);
        if (!path)
            return false;
        word_add(p, c, path);
    }
    return true;
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

static bool plan_simple(struct mcp_plan *p, const json_t *arguments, const char *command, struct error *e)
{
    struct mcp_command *c = command_add(p, NULL, command);
    return c && paths_add(p, c, arguments, "path", e);
}

/* Statements about one recording, as a table each. */
static bool plan_statement(struct mcp_plan *p, const json_t *arguments, const char *title, const char *sql,
                           struct error *e)
{
    struct mcp_command *c = command_add(p, title, "sql");
    if (!c || !sql || !paths_add(p, c, arguments, "path", e))
        return false;
    word_add(p, c, "--csv");
    c->input = sql;
    return true;
}

static bool plan_overview(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    struct mcp_command *c = command_add(p, "What is slow, and where a usual step goes:", "why");
    if (!c || !paths_add(p, c, arguments, "path", e))
        return false;
    option_add(p, c, "--top", "2");
    return plan_statement(p, arguments, "Ranks, the first 16:",
                          "SELECT run, rank, device, kind, n_steps, round(median_step_ns / 1e6, 3) AS median_step_ms, "
                          "n_kernels, is_simulated FROM ranks ORDER BY run, rank LIMIT 16;",
                          e) &&
           plan_statement(p, arguments, "Kernels with the most device time, all ranks:",
                          "SELECT type, count(*) AS n, round(sum(dur_ns) / 1e6, 3) AS total_ms, round(100.0 * "
                          "sum(dur_ns) / sum(sum(dur_ns)) OVER (), 1) AS percent FROM kernels GROUP BY 1 ORDER BY "
                          "sum(dur_ns) DESC LIMIT 8;",
                          e);
}

static bool plan_why(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    if (!plan_simple(p, arguments, "why", e))
        return false;
    struct mcp_command *c = &p->commands.at[0];
    option_add(p, c, "--step", number_of(arguments, "step", p->mem));
    option_add(p, c, "--rank", number_of(arguments, "rank", p->mem));
    option_add(p, c, "--top", number_of(arguments, "top", p->mem));
    return true;
}

static bool plan_advise(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    return plan_simple(p, arguments, "advise", e);
}

static bool plan_hang(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    return plan_simple(p, arguments, "hang", e);
}

static bool plan_compare(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    struct mcp_command *c = command_add(p, NULL, "compare");
    if (!c)
        return false;
    option_add(p, c, "--top", number_of(arguments, "top", p->mem));
    return paths_add(p, c, arguments, "base", e) && paths_add(p, c, arguments, "new", e);
}

static bool plan_cluster(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    if (!plan_simple(p, arguments, "cluster", e))
        return false;
    struct mcp_command *c = &p->commands.at[0];
    c->needs_folder = true;
    option_add(p, c, "--mode", "verdicts");
    option_add(p, c, "--ranks", number_of(arguments, "ranks", p->mem));
    return true;
}

/* A snapshot of PyTorch's allocator: "m.pickle", "m.pkl". */
static bool is_snapshot(const char *name)
{
    const size_t n = strlen(name);
    return (n > 7 && strcmp(name + n - 7, ".pickle") == 0) || (n > 4 && strcmp(name + n - 4, ".pkl") == 0);
}

static bool has_snapshots(const char *path)
{
    struct dir_names names;
    int why;
    if (is_snapshot(path))
        return true;
    if (!dir_names_read(&names, path, is_snapshot, &why))
        return false;
    const bool has = names.n > 0;
    dir_names_free(&names);
    return has;
}

static bool plan_memory(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    struct mcp_plan look = { .roots = p->roots, .mem = p->mem };
    if (!plan_simple(&look, arguments, "memory", e))
        return false;
    if (has_snapshots(look.commands.at[0].word.at[1])) {
        p->commands = look.commands;
        return true;
    }
    return plan_statement(
               p, arguments, "Blocks by allocator:",
               "SELECT rank, allocator, count(*) AS blocks, max(bytes) AS largest_bytes, sum(end_ns IS NULL) AS not_released, "
               "sum(iif(end_ns IS NULL, bytes, 0)) AS not_released_bytes FROM memory GROUP BY 1, 2;",
               e) &&
           plan_statement(
               p, arguments, "Peak of each allocator, and when (begin_ns as in sql and timeline):",
               "WITH e AS (SELECT rank, allocator, begin_ns AS at, bytes FROM memory UNION ALL SELECT rank, allocator, end_ns, -bytes "
               "FROM memory WHERE end_ns IS NOT NULL), h AS (SELECT rank, allocator, at, sum(bytes) OVER (PARTITION BY rank, allocator "
               "ORDER BY at, bytes ROWS UNBOUNDED PRECEDING) AS held FROM e) "
               "SELECT rank, allocator, max(held) AS peak_bytes, at AS at_ns FROM h GROUP BY 1, 2;",
               e) &&
           plan_statement(
               p, arguments, "Operators that allocated the most bytes, over the whole recording:",
               "SELECT rank, name AS operator, allocator, count(*) AS blocks, sum(bytes) AS bytes FROM memory GROUP BY 1, 2, 3 "
               "ORDER BY bytes DESC LIMIT 12;",
               e);
}

/* "1717270823921861.040" as nanoseconds, exactly. False: it is no moment. */
static bool moment_of(const char *us, int64_t *ns)
{
    char *end;
    enum { MOST_US = INT32_MAX };
    const long long whole = strtoll(us, &end, 10);
    int64_t more = 0, unit = 100;
    if (end == us || whole < 0 || whole > INT64_MAX / 1000 - 1)
        return false;
    for (end += *end == '.'; *end >= '0' && *end <= '9'; end++, unit /= 10)
        more += unit * (*end - '0');
    *ns = whole * 1000 + more;
    return !*end;
}

static bool plan_timeline(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    const char *at = number_of(arguments, "at_us", p->mem), *slice = number_of(arguments, "slice", p->mem),
               *window = number_of(arguments, "window_us", p->mem), *rank = number_of(arguments, "rank", p->mem);
    int64_t at_ns = 0, window_ns = 0, id = -1, number = -1;
    if (!at == !slice)
        return error_set(e, FAULT_ASKED, "at_us or slice: give one of them");
    if (at && !moment_of(at, &at_ns))
        return error_set(e, FAULT_ASKED, "at_us %.60s: wanted microseconds, as why prints them", at);
    if ((window && !moment_of(window, &window_ns)) || (slice && (!moment_of(slice, &id) || (id /= 1000) < 0)) ||
        (rank && (!moment_of(rank, &number) || (number /= 1000) < 0)))
        return error_set(e, FAULT_ASKED, "window_us, slice, rank: wanted numbers that are not negative");
    const char *of_rank = number < 0 ? "" : arena_printf(p->mem, " AND s.rank = %lld", (long long)number);
    const char *middle =
        slice ? arena_printf(p->mem, "SELECT begin_ns AS a, begin_ns + dur_ns AS b, rank FROM slices WHERE id = %lld",
                             (long long)id)
              : arena_printf(p->mem, "SELECT %lld AS a, %lld AS b, NULL AS rank", (long long)at_ns, (long long)at_ns);
    /* Without a window: half of the slice on both sides, at least 100 us. */
    const char *margin = window ? arena_printf(p->mem, "%lld", (long long)(window_ns / 2)) : "max((b - a) / 2, 100000)";
    const char *with = arena_printf(
        p->mem,
        "WITH m AS (%s), w AS (SELECT a - %s AS a, b + %s AS b, a AS zero, rank FROM m), e AS (SELECT s.id, s.run, s.rank, s.process, s.thread, s.depth, "
        "s.name, s.begin_ns, s.dur_ns, w.zero FROM slices s, w WHERE s.begin_ns < w.b AND s.begin_ns + s.dur_ns > w.a AND "
        "(w.rank IS NULL OR s.rank = w.rank)%s) ",
        middle, margin, margin, of_rank ? of_rank : "");
    if (!with)
        return false;
    return plan_statement(
               p, arguments, "Tracks in the window, with the number of their events:",
               arena_printf(
                   p->mem,
                   "%sSELECT rank, process, thread, count(*) AS n FROM e GROUP BY 1, 2, 3 ORDER BY n DESC LIMIT 24;",
                   with),
               e) &&
           plan_statement(
               p, arguments,
               "The 60 longest of them in the order of time; begin_us counts from the moment asked for, or from the begin of the slice:",
               arena_printf(
                   p->mem,
                   "%sSELECT id AS slice, rank, process, thread, depth, substr(name, 1, 80) AS name, round((begin_ns - zero) / 1e3, 3) AS begin_us, "
                   "round(dur_ns / 1e3, 3) AS dur_us FROM (SELECT * FROM e ORDER BY dur_ns DESC LIMIT 60) ORDER BY begin_ns, depth;",
                   with),
               e);
}

static bool plan_sql(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    const char *sql = text_of(arguments, "statement", p->mem);
    if (!sql)
        return error_set(e, FAULT_ASKED, "statement: wanted a text");
    if (sql[strspn(sql, " \t\r\n")] == '.')
        return error_set(e, FAULT_ASKED, "statement: wanted SQL; the resource ascope://schema has the tables");
    return plan_statement(p, arguments, NULL, sql, e);
}

static bool plan_explain(struct mcp_plan *p, const json_t *arguments, struct error *e)
{
    const char *term = number_of(arguments, "term", p->mem);
    p->text = term ? mcp_pages_explain(term, p->mem) : NULL;
    return p->text ||
           error_set(e, FAULT_ASKED, "%.60s: not in the glossary, the pages or the schema", term ? term : "");
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define PATH                                                                                                           \
    {                                                                                                                  \
        "path", MCP_PATHS, false,                                                                                      \
            "recording: a collection, results, a trace, a database, or a directory with those of all ranks of a job; " \
            "several are one database in sql. Default: the only one that the server was given"                         \
    }
#define RANK(what)                                                                                                     \
    {                                                                                                                  \
        "rank", MCP_NUMBER, false, what                                                                                \
    }

const struct mcp_tool mcp_tools[] = {
    { "overview",
      "What a recording is, and where its time goes",
      "First tool to call. Says what is slow (sentences with numbers), where a usual step goes, the ranks, and the "
      "kernels with the most device time. Handles for other tools: rank, step, moments (at_us).",
      { PATH },
      plan_overview,
      "why (causes of a slow step or rank, with evidence), advise (what to change, with gain)" },
    { "why",
      "Why a step or a rank is slow",
      "Divides the difference between slow and usual steps (or ranks) by cause: more or longer runs, waiting for other "
      "ranks, data, memory, garbage collection, the host. Causes add up. Each has its place: at_us, process, thread.",
      { PATH,
        { "step", MCP_TEXT, false, "step to explain; default: what costs most" },
        RANK("rank to explain it on; default: the one that the others wait for"),
        { "top", MCP_NUMBER, false, "causes and steps to list; default: 5" } },
      plan_why,
      "timeline (at_us of a cause and its rank), advise, sql" },
    { "advise",
      "What to change, with evidence and gain",
      "Runs the checks of a list (data loading, launches, synchronisation, Python, copies, clock, kernels, "
      "communication) and reports what would make a step shorter: gain, evidence, place, what to change.",
      { PATH },
      plan_advise,
      "timeline (at_us of the evidence and its rank), explain" },
    { "compare",
      "What changed between two runs",
      "Compares two recordings: which parts of a step, kernels, operators and collectives got slower or faster, by how "
      "much, and what is noise.",
      { { "base", MCP_PATH, true, "the recording to compare with" },
        { "new", MCP_PATH, true, "the recording in question" },
        { "top", MCP_NUMBER, false, "changes to list; default: 5" } },
      plan_compare,
      "why and advise of the new run, sql over both (path: [base, new])" },
    { "cluster",
      "What is wrong with a job of several ranks",
      "Verdicts about ranks, steps and links of a job, and the critical path through all ranks: which part would make "
      "the step shorter by how much.",
      { PATH, { "ranks", MCP_TEXT, false, "only these ranks: 0,3-5; default: all" } },
      plan_cluster,
      "why with rank" },
    { "memory",
      "What memory was held, and by whom",
      "Of memory snapshots of PyTorch: why memory ran out, what grows, fragments, what is in use at the peak. Of "
      "collections with profile_memory: peak and moment of each allocator, blocks that were not released, operators "
      "that allocated most.",
      { PATH },
      plan_memory,
      "sql over the table memory, timeline (at_us = at_ns / 1000)" },
    { "hang",
      "Why a job hangs",
      "Reads dumps of PyTorch's flight recorder (NCCL, HCCL): which rank did not come to which collective and where it "
      "is instead, who waits for whom.",
      { { "path", MCP_PATHS, false, "directory of dumps, or the dumps" } },
      plan_hang,
      NULL },
    { "timeline",
      "Events around a moment or a slice",
      "An excerpt of the timeline: what each track did in a window around at_us (as printed by why and advise) or around "
      "a slice (id of sql's table slices).",
      { PATH,
        { "at_us", MCP_TEXT, false, "moment in microseconds, as why prints it; a text keeps all digits" },
        { "slice", MCP_NUMBER, false, "id of a slice, instead of at_us" },
        { "window_us", MCP_NUMBER, false, "length of the window; default: twice the slice, at least 200" },
        RANK("only this rank") },
      plan_timeline,
      "timeline again with a slice or a smaller window_us, sql with SELECT args FROM slices WHERE id = …" },
    { "sql",
      "Any question, in SQL",
      "One statement over the tables of the recordings (resource ascope://schema): ranks, steps, kernels, collectives, "
      "copies, calls, operators, ranges, python, memory; slices, instants, counters, flows, losses, … Read-only; the "
      "answer is CSV. Times are ns. Aggregate and LIMIT: long answers are cut.",
      { PATH, { "statement", MCP_TEXT, true, "SELECT …" } },
      plan_sql,
      NULL },
    { "explain",
      "What a term means",
      "Looks a word of the answers up: glossary, pages, tables and columns of the schema.",
      { { "term", MCP_TEXT, true, "exposed, self time, free_ns, …" } },
      plan_explain,
      NULL },
};
const size_t n_mcp_tools = sizeof mcp_tools / sizeof *mcp_tools;

const struct mcp_tool *mcp_tool_find(const char *name)
{
    for (size_t i = 0; i < n_mcp_tools; i++)
        if (strcmp(mcp_tools[i].name, name) == 0)
            return &mcp_tools[i];
    return NULL;
}

static json_t *argument_json(const struct mcp_argument *a)
{
    switch (a->type) {
    case MCP_NUMBER: return json_pack("{s:s, s:s}", "type", "number", "description", a->meaning);
    case MCP_PATHS:
        return json_pack("{s:[{s:s}, {s:s, s:{s:s}}], s:s}", "anyOf", "type", "string", "type", "array", "items",
                         "type", "string", "description", a->meaning);
    default: return json_pack("{s:s, s:s}", "type", "string", "description", a->meaning);
    }
}

json_t *mcp_tool_json(const struct mcp_tool *t)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < MCP_ARGUMENTS && t->argument[i].name; i++) {
        const struct mcp_argument *a = &t->argument[i];
        json_object_set_new(properties, a->name, argument_json(a));
        if (a->is_required)
            json_array_append_new(required, json_string(a->name));
    }
    json_object_set_new(properties, max_chars.name, argument_json(&max_chars));
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:o, s:o, s:b}, s:{s:b, s:b}}", "name", t->name, "title", t->title,
                     "description", t->description, "inputSchema", "type", "object", "properties", properties,
                     "required", required, "additionalProperties", 0, "annotations", "readOnlyHint", 1, "openWorldHint",
                     0);
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

static const struct mcp_argument *argument_find(const struct mcp_tool *t, const char *name)
{
    for (size_t i = 0; i < MCP_ARGUMENTS && t->argument[i].name; i++)
        if (strcmp(t->argument[i].name, name) == 0)
            return &t->argument[i];
    return strcmp(name, max_chars.name) == 0 ? &max_chars : NULL;
}

/* Models write numbers as texts now and then: both are taken. */
static bool has_type(enum mcp_type type, const json_t *v)
{
    if (type == MCP_PATHS && json_is_array(v)) {
        for (size_t i = 0; i < json_array_size(v); i++)
            if (!json_is_string(json_array_get(v, i)))
                return false;
        return json_array_size(v) > 0;
    }
    return json_is_string(v) || (json_is_number(v) && (type == MCP_NUMBER || type == MCP_TEXT));
}

bool mcp_plan_make(struct mcp_plan *p, const struct mcp_tool *t, const json_t *arguments, struct error *e)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)arguments, name, value)
    {
        const struct mcp_argument *a = argument_find(t, name);
        if (!a)
            return error_set(e, FAULT_ASKED, "%.60s: no argument of %s", name, t->name);
        if (!has_type(a->type, value))
            return error_set(e, FAULT_ASKED, "%s: wanted %s", name, a->meaning);
    }
    for (size_t i = 0; i < MCP_ARGUMENTS && t->argument[i].name; i++)
        if (t->argument[i].is_required && !json_object_get(arguments, t->argument[i].name))
            return error_set(e, FAULT_ASKED, "%s: missing; wanted %s", t->argument[i].name, t->argument[i].meaning);
    return (t->plan(p, arguments, e) && !arena_failed(p->mem)) ||
           (e->fault == FAULT_NONE && error_no_memory(e, t->name));
}

size_t mcp_budget(const json_t *arguments)
{
    const json_t *v = json_object_get(arguments, max_chars.name);
    const double wanted = json_is_string(v) ? strtod(json_string_value(v), NULL) : json_number_value(v);
    if (!(wanted > 0))
        return MCP_USUAL_CHARS;
    return wanted < MCP_LEAST_CHARS ? MCP_LEAST_CHARS : wanted > MCP_MOST_CHARS ? MCP_MOST_CHARS : (size_t)wanted;
}
