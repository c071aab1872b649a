/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/memory/ascending.h"
#include "base/memory/sort.h"
#include "base/text/path_name.h"
#include "cluster/job/rank_readers.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/rank/summary_file.h"
#include "load/trace/db_reader.h"
#include "load/trace/trace_readers.h"

static const char OUTPUT[] = "ASCEND_PROFILER_OUTPUT", RESULTS[] = "cluster_analysis_output";
enum { MOST_LEVELS = 10, MOST_ENTRIES = 1 << 20 };

bool job_init(struct job *j, struct error *e)
{
    *j = (struct job){ .mem = arena_new(), .names = names_new(), .said = names_new() };
    return (j->mem && j->names && j->said) || error_no_memory(e, "ascope cluster");
}

void job_fini(struct job *j)
{
    names_free(j->names);
    names_free(j->said);
    arena_free(j->mem);
    *j = (struct job){ 0 };
}

bool job_note(struct job *j, bool is_loss, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0)
        return false;
    const size_t len = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1, n_said = names_count(j->said);
    names_add(j->said, text, len);
    if (names_failed(j->said))
        return false;
    if (names_count(j->said) == n_said)
        return true;
    struct job_line *line = list_add(&j->notes, j->mem);
    if (!line)
        return false;
    *line = (struct job_line){ arena_text(j->mem, text, len), is_loss };
    return line->text != NULL;
}

struct rank_losses job_losses(const struct rank_summary *s)
{
    const uint64_t n = losses_damage(&s->identity.lost);
    return (struct rank_losses){ n > 0 || s->exit_code == 3, n, s->identity.path };
}

bool job_note_losses(struct job *j, const struct job_rank *r, const struct rank_losses *lost)
{
    if (lost->n_damaged > 0)
        return job_note(j, true, "rank %lld: %llu values or records of %s could not be used", (long long)r->rank,
                        (unsigned long long)lost->n_damaged, lost->path ? lost->path : r->path);
    return !lost->is_lossy ||
           job_note(j, true, "rank %lld: its analysis ended with losses (exit status 3); its numbers are incomplete",
                    (long long)r->rank);
}

const char *const rank_source_name[] = {
    [SOURCE_NONE] = "none", [SOURCE_COLLECTION] = "collection", [SOURCE_TEXT] = "text",
    [SOURCE_DB] = "db",     [SOURCE_SUMMARY] = "summary",       [SOURCE_TRACE] = "trace"
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    const size_t n = strlen(text), m = strlen(with);
    return n >= m && strcmp(text + n - m, with) == 0;
}

/* The number between a prefix and a suffix of a name: 12 of "profiler_info_12.json". -1: there is none. */
static int64_t number_in(const char *name, const char *before, const char *behind)
{
    if (!begins(name, before) || !ends(name, behind) || strlen(name) <= strlen(before) + strlen(behind))
        return -1;
    const char *at = name + strlen(before), *end = name + strlen(name) - strlen(behind);
    int64_t number = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9' || number > INT32_MAX)
            return -1;
        number = number * 10 + (*at - '0');
    }
    return number;
}

/* The time in a name whose parts are separated by "_": part number `from_end` from the end, if it is all digits. 0: it
 * is not. */
static uint64_t stamp_in(const char *name, unsigned from_end)
{
    const char *end = name + strlen(name), *at = end;
    for (unsigned i = 0; i < from_end; i++) {
        end = at;
        while (at > name && at[-1] != '_')
            at--;
        if (i + 1 < from_end && at > name)
            at--;
    }
    uint64_t stamp = 0;
    for (; at < end && *at >= '0' && *at <= '9' && stamp < UINT64_MAX / 100; at++)
        stamp = stamp * 10 + (uint64_t)(*at - '0');
    return at == end ? stamp : 0;
}

/* The entries of a directory, by name. */
struct job_listing {
    const char *path;
    const char **name;
    size_t n;
};

static bool list_dir(struct job *j, const char *path, struct job_listing *out, struct error *e)
{
    LIST(const char *) list = { 0 };
    DIR *dir = inside_list(path);
    int why = dir ? 0 : errno;
    bool done = true;
    for (const char *name; dir && done && (name = dir_next(dir, &why));) {
        const char *copy = arena_text(j->mem, name, strlen(name));
        const char **slot = copy && list.n < MOST_ENTRIES ? list_add(&list, j->mem) : NULL;
        if (slot)
            *slot = copy;
        done = slot != NULL;
    }
    if (dir)
        closedir(dir);
    if (!done)
        return error_no_memory(e, path);
    if (why != 0)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
    if (list.n > 1)
        qsort(list.at, list.n, sizeof *list.at, compare_texts);
    *out = (struct job_listing){ path, list.at, list.n };
    return true;
}

static const char *first_with(const struct job_listing *l, const char *before, const char *behind)
{
    for (size_t i = 0; i < l->n; i++)
        if (begins(l->name[i], before) && ends(l->name[i], behind))
            return l->name[i];
    return NULL;
}

static bool has_name(const struct job_listing *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->name[i], name) == 0)
            return true;
    return false;
}

static const char *joined(struct job *j, const char *dir, const char *name)
{
    return name ? arena_printf(j->mem, "%s/%s", dir, name) : NULL;
}

static uint64_t bytes_of(const char *path)
{
    struct stat st;
    return path && inside_stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Of a trace when it is read: compressed ones are a twelfth of that. */
static uint64_t bytes_of_trace(const char *path)
{
    return path ? bytes_of(path) * (ends(path, ".gz") ? 12 : 1) : 0;
}

static bool is_dir(const char *path)
{
    struct stat st;
    return path && inside_stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* How the profilers of the frameworks name their databases. */
static const struct {
    enum framework_id framework;
    const char *before; /* the name before "_<rank>.db" or ".db" */
} database_names[] = {
    { FRAMEWORK_PYTORCH, "ascend_pytorch_profiler" },
    { FRAMEWORK_MINDSPORE, "ascend_mindspore_profiler" },
};

static void find_databases(struct job *j, const struct job_listing *l, struct job_rank *r)
{
    for (size_t k = 0; k < sizeof database_names / sizeof *database_names && !r->db; k++) {
        const char *before = database_names[k].before, *name = first_with(l, before, ".db");
        char with_rank[64];
        snprintf(with_rank, sizeof with_rank, "%s_", before);
        if (!name)
            continue;
        const int64_t rank = number_in(name, with_rank, ".db");
        r->rank = rank >= 0 ? rank : r->rank;
        r->db = joined(j, l->path, name);
        r->framework = database_names[k].framework;
    }
    r->comm = has_name(l, "analysis.db")                 ? joined(j, l->path, "analysis.db")
              : has_name(l, "communication_analyzer.db") ? joined(j, l->path, "communication_analyzer.db")
                                                         : NULL;
}

uint64_t job_stamp(const char *path)
{
    const char *name = path_name(path);
    return stamp_in(name, begins(name, "PROF_") ? 2 : 3);
}

static bool add_rank(struct job *j, struct job_rank r, struct error *e)
{
    struct job_rank *slot = r.path ? list_add(&j->ranks, j->mem) : NULL;
    if (!slot)
        return error_no_memory(e, "ascope cluster");
    *slot = r;
    return true;
}

static enum framework_id framework_of(const char *name)
{
    for (size_t i = 0; i < FRAMEWORKS; i++)
        if (ends(name, framework_names[i].suffix))
            return (enum framework_id)i;
    return FRAMEWORK_PYTORCH;
}

/* Context of take_summary(), which adds the ranks of a file of summaries. */
struct job_taking {
    struct job *job;
    struct job_rank like; /* what is known of these ranks from their directory */
    size_t n;
    struct error *e;
};

static bool take_summary(void *context, const struct summary_header *h, uint64_t offset)
{
    struct job_taking *t = context;
    struct job_rank r = t->like;
    r.source = SOURCE_SUMMARY;
    r.rank = h->rank >= 0 && h->rank <= INT32_MAX ? h->rank : r.rank;
    r.stamp = h->stamp;
    r.bytes = h->bytes;
    r.offset = offset;
    t->n++;
    return add_rank(t->job, r, t->e);
}

/* Adds the ranks of a file of summaries, *n of them. A record that cannot be read ends the file with a note; those
 * before it are added. False: no memory. */
static bool add_summaries(struct job *j, const char *path, const struct job_rank *like, size_t *n, struct error *e)
{
    struct error unread = { 0 };
    struct job_taking t = { .job = j, .like = *like, .e = e };
    t.like.summary = path;
    if (!like->path)
        t.like.path = path;
    const bool done = summary_walk(path, take_summary, &t, &unread);
    *n = t.n;
    if (unread.fault == FAULT_LIMIT)
        *e = unread;
    if (!done && e->fault == FAULT_NONE && !job_note(j, true, "%s", unread.text))
        return error_no_memory(e, path);
    return e->fault == FAULT_NONE;
}

/* ASCEND_PROFILER_OUTPUT, whatever it is called now. */
static bool is_output(const struct job_listing *l)
{
    return has_name(l, "step_trace_time.csv") || has_name(l, "communication.json") || has_name(l, "trace_view.json");
}

static const char *parent_of(struct job *j, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash > path ? arena_text(j->mem, path, (size_t)(slash - path)) : "/";
}

/* A collection of a framework, or its results alone: results, of whatever kind, or its raw data. */
static bool add_collection(struct job *j, const struct job_listing *l, struct error *e)
{
    const bool is_alone = is_output(l) && !has_name(l, OUTPUT);
    const char *name = path_name(l->path);
    struct job_rank r = { .rank = -1,
                          .path = l->path,
                          .framework = framework_of(name),
                          .stamp = stamp_in(name, 3),
                          .output = has_name(l, OUTPUT) ? joined(j, l->path, OUTPUT)
                                    : is_alone          ? l->path
                                                        : NULL };
    const char *const info = is_alone ? parent_of(j, l->path) : l->path;
    if (!info)
        return error_no_memory(e, l->path);
    r.rank = rank_in_info(info);
    struct job_listing results = { 0 };
    if (r.output && !is_dir(r.output))
        r.output = NULL;
    if (r.output && !list_dir(j, r.output, &results, e))
        return false;
    find_databases(j, &results, &r);
    const char *summary = first_with(l, "ascope_rank", ".summary");
    const bool has_text = has_name(&results, "step_trace_time.csv") || has_name(&results, "communication.json");
    r.trace = has_name(&results, "trace_view.json")      ? joined(j, r.output, "trace_view.json")
              : has_name(&results, "trace_view.json.gz") ? joined(j, r.output, "trace_view.json.gz")
                                                         : NULL;
    size_t n_summaries = 0;
    if (summary && !add_summaries(j, joined(j, l->path, summary), &r, &n_summaries, e))
        return false;
    if (n_summaries > 0)
        return true;
    r.bytes = bytes_of(r.db) + bytes_of(r.comm);
    if (r.db || (r.comm && r.rank >= 0)) {
        r.source = SOURCE_DB;
    } else if (has_text) {
        r.source = SOURCE_TEXT;
        r.bytes = bytes_of(joined(j, r.output, "communication.json")) +
                  bytes_of(joined(j, r.output, "communication_matrix.json")) + bytes_of_trace(r.trace);
        r.has_raw = first_with(l, "PROF_", "") != NULL;
    } else if (first_with(l, "PROF_", "") || has_name(l, "FRAMEWORK")) {
        r.source = SOURCE_COLLECTION;
    } else if (r.trace) {
        r.source = SOURCE_TRACE;
        r.bytes = bytes_of_trace(r.trace);
    }
    if (r.source == SOURCE_NONE)
        return job_note(j, true, "%s: neither results nor raw data; it is left out", l->path) ||
               error_no_memory(e, l->path);
    return add_rank(j, r, e);
}

/* rank_id in device_N/info.json.N; -1: none. */
static int64_t rank_of_prof(struct job *j, const struct job_listing *l, struct error *e)
{
    int64_t rank = -1;
    for (size_t i = 0; i < l->n && rank < 0; i++) {
        struct job_listing device;
        const int64_t number = number_in(l->name[i], "device_", "");
        const char *path = number >= 0 ? joined(j, l->path, l->name[i]) : NULL;
        if (!path || !is_dir(path) || !list_dir(j, path, &device, e))
            continue;
        const char *info = first_with(&device, "info.json.", "");
        json_t *json = info ? rank_text_json(joined(j, path, info)) : NULL;
        const json_t *id = json_object_get(json, "rank_id");
        if (json_is_integer(id) && json_integer_value(id) >= 0 && json_integer_value(id) <= INT32_MAX)
            rank = json_integer_value(id);
        json_decref(json);
    }
    return rank;
}

static bool add_prof(struct job *j, const struct job_listing *l, struct error *e)
{
    struct job_rank r = { .rank = rank_of_prof(j, l, e),
                          .path = l->path,
                          .framework = FRAMEWORK_PYTORCH,
                          .stamp = stamp_in(path_name(l->path), 2) };
    if (e->fault != FAULT_NONE)
        return false;
    for (size_t i = 0; i < l->n; i++) /* the last one is the newest, because they are sorted */
        if (begins(l->name[i], "msprof_") && ends(l->name[i], ".db"))
            r.db = joined(j, l->path, l->name[i]);
    const char *summary = first_with(l, "ascope_rank", ".summary");
    const char *comm = joined(j, l->path, "analyze/communication_analyzer.db");
    r.comm = comm && bytes_of(comm) > 0 ? comm : NULL;
    size_t n_summaries = 0;
    if (summary && !add_summaries(j, joined(j, l->path, summary), &r, &n_summaries, e))
        return false;
    if (n_summaries == 0 && !first_with(l, "device_", ""))
        return job_note(j, false, "%s: only the host was recorded; it is not a rank", l->path) ||
               error_no_memory(e, l->path);
    r.source = r.db ? SOURCE_DB : SOURCE_COLLECTION;
    r.bytes = bytes_of(r.db) + bytes_of(r.comm);
    return n_summaries > 0 || add_rank(j, r, e);
}

/* msmonitor_<pid>_<17 digits>_<rank or -1>.db */
static bool add_monitored(struct job *j, const char *path, struct error *e)
{
    const char *name = path_name(path), *last = strrchr(name, '_');
    struct job_rank r = {
        .path = path, .db = path, .source = SOURCE_DB, .bytes = bytes_of(path), .stamp = stamp_in(name, 2)
    };
    r.rank = number_in(last ? last : "", "_", ".db");
    return add_rank(j, r, e);
}

/* A trace of torch.profiler: of one rank. */
static bool add_trace(struct job *j, const char *path, struct error *e)
{
    return add_rank(j,
                    (struct job_rank){ .rank = rank_trace_number(path),
                                       .path = path,
                                       .trace = path,
                                       .source = SOURCE_TRACE,
                                       .bytes = bytes_of_trace(path) },
                    e);
}

/* A database of a rank that is not where its profiler has written it. */
static bool add_database(struct job *j, const char *path, struct error *e)
{
    const char *name = path_name(path);
    if (begins(name, "msmonitor_"))
        return add_monitored(j, path, e);
    return add_rank(
        j,
        (struct job_rank){ .rank = rank_in_name(name),
                           .path = path,
                           .db = path,
                           .source = SOURCE_DB,
                           .framework = begins(name, "ascend_mindspore") ? FRAMEWORK_MINDSPORE : FRAMEWORK_PYTORCH,
                           .bytes = bytes_of(path) },
        e);
}

static bool loose_add(struct job *j, const char *path)
{
    const char **slot = list_add(&j->loose, j->mem);
    if (slot)
        *slot = path;
    return slot != NULL;
}

/* A file between the directories of ranks: of a rank, or something else. */
static bool add_file_inside(struct job *j, const char *path, struct error *e)
{
    const char *name = path_name(path);
    const bool is_database =
        ends(name, ".db") && (begins(name, "msmonitor_") || begins(name, database_names[0].before) ||
                              begins(name, database_names[1].before));
    return ends(name, ".summary")  ? add_summaries(j, path, &(struct job_rank){ .rank = -1 }, &(size_t){ 0 }, e)
           : is_database           ? add_database(j, path, e)
           : !chrome_is_name(name) ? true
           : strstr(name, ".pt.trace.json") ? add_trace(j, path, e)
                                            : loose_add(j, path) || error_no_memory(e, path);
}

/* Adds the files from `first` on that are traces. False: no memory. */
static bool add_loose(struct job *j, size_t first, struct error *e)
{
    bool done = true;
    for (size_t i = first; done && i < j->loose.n; i++) {
        struct error unused = { 0 };
        done = !chrome_look(j->loose.at[i], &unused) || add_trace(j, j->loose.at[i], e);
    }
    return done;
}

static bool is_collection(const char *path, const struct job_listing *l)
{
    const char *name = path_name(path);
    return framework_ends_name(name, strlen(name)) || has_name(l, OUTPUT) || has_name(l, "FRAMEWORK") || is_output(l);
}

static bool find_in(struct job *j, const char *path, unsigned level, struct error *e)
{
    struct job_listing l;
    if (!list_dir(j, path, &l, e))
        return false;
    if (is_collection(path, &l))
        return add_collection(j, &l, e);
    if (begins(path_name(path), "PROF_") && (has_name(&l, "host") || first_with(&l, "device_", "")))
        return add_prof(j, &l, e);
    for (size_t i = 0; i < l.n; i++) {
        const char *inside = joined(j, path, l.name[i]);
        struct stat st;
        if (!inside)
            return error_no_memory(e, path);
        if (l.name[i][0] == '.' || strcmp(l.name[i], RESULTS) == 0 || inside_stat(inside, &st) != 0)
            continue;
        bool done = true;
        struct error below = { 0 };
        if (S_ISDIR(st.st_mode) && level < MOST_LEVELS)
            done = find_in(j, inside, level + 1, &below);
        else if (S_ISREG(st.st_mode))
            done = add_file_inside(j, inside, &below);
        if (!done && below.fault == FAULT_LIMIT) {
            *e = below;
            return false;
        }
        if (!done && !job_note(j, true, "%s", below.text))
            return error_no_memory(e, path);
    }
    return true;
}

bool job_find(struct job *j, const char *path, struct error *e)
{
    char *real = realpath(path, NULL);
    const char *copy = real ? arena_text(j->mem, real, strlen(real)) : NULL;
    const int why = errno;
    if (copy)
        inside_enter(copy); /* a file cannot be entered: it is opened as it is */
    free(real);
    const bool is_absent = why == ENOENT || why == ENOTDIR || why == ENAMETOOLONG || why == ELOOP;
    if (!real && why != ENOMEM)
        return error_set(e, is_absent ? FAULT_ASKED : FAULT_IO, "%s: %s", path, read_trouble(why));
    if (!copy)
        return error_no_memory(e, path);
    if (!is_dir(copy))
        return chrome_is_name(copy)   ? add_trace(j, copy, e)
               : db_is_database(copy) ? add_database(j, copy, e)
                                      : add_summaries(j, copy, &(struct job_rank){ .rank = -1 }, &(size_t){ 0 }, e);
    const size_t n_before = j->ranks.n, n_loose = j->loose.n;
    return find_in(j, copy, 0, e) && (j->ranks.n > n_before || add_loose(j, n_loose, e));
}

static int by_rank(const void *a, const void *b)
{
    const struct job_rank *l = a, *r = b;
    if (l->rank != r->rank)
        return l->rank < r->rank ? -1 : 1;
    if (l->stamp != r->stamp)
        return l->stamp > r->stamp ? -1 : 1;
    return -strcmp(l->path, r->path);
}

/* Gives the lowest free numbers to ranks without a number, in the order of their paths. */
static bool number_unknown(struct job *j)
{
    const size_t n = j->ranks.n;
    size_t n_unknown = 0;
    while (n_unknown < n && j->ranks.at[n_unknown].rank < 0)
        n_unknown++;
    int64_t next = 0;
    size_t taken = n_unknown;
    for (size_t i = n_unknown; i-- > 0; next++) { /* by_rank() has sorted their paths in descending order */
        for (; taken < n && j->ranks.at[taken].rank <= next; taken++)
            if (j->ranks.at[taken].rank == next)
                next++;
        j->ranks.at[i].rank = next;
        if ((n > 1 || next > 0) && !job_note(j, false, "%s: no rank is recorded; it is counted as rank %lld",
                                             j->ranks.at[i].path, (long long)next))
            return false;
    }
    if (n > 0)
        qsort(j->ranks.at, n, sizeof *j->ranks.at, by_rank);
    return true;
}

/* Whether two summaries are of the same collection. */
static bool is_same(const struct job_rank *a, const struct job_rank *b)
{
    return a->source == SOURCE_SUMMARY && b->source == SOURCE_SUMMARY && a->stamp == b->stamp && a->bytes == b->bytes;
}

void ranks_twice_add(struct ranks_twice *t, int64_t rank, const char *used, const char *unused, bool is_newer)
{
    if (t->n++ == 0)
        *t = (struct ranks_twice){ 1, rank, used, unused, is_newer };
}

bool ranks_twice_line(char out[RANKS_TWICE_LINE], const struct ranks_twice *t)
{
    char more[60] = "";
    if (t->n == 0)
        return false;
    if (t->n > 1)
        snprintf(more, sizeof more, "; likewise for %llu more %s", (unsigned long long)t->n - 1,
                 t->n > 2 ? "directories" : "directory");
    snprintf(out, RANKS_TWICE_LINE, "rank %lld: in %s and in %s; the first is %sused%s", (long long)t->rank, t->used,
             t->unused, t->is_newer ? "newer and is " : "", more);
    return true;
}

static bool drop_older(struct job *j)
{
    struct ranks_twice twice = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < j->ranks.n; i++) {
        const struct job_rank *r = &j->ranks.at[i];
        if (n > 0 && j->ranks.at[n - 1].rank == r->rank && is_same(&j->ranks.at[n - 1], r))
            continue; /* the same summary twice: a shard, and what it was made of */
        if (n == 0 || j->ranks.at[n - 1].rank != r->rank)
            j->ranks.at[n++] = *r;
        else
            ranks_twice_add(&twice, r->rank, j->ranks.at[n - 1].path, r->path, j->ranks.at[n - 1].stamp > r->stamp);
    }
    j->ranks.n = n;
    char line[RANKS_TWICE_LINE];
    return !ranks_twice_line(line, &twice) || job_note(j, false, "%s", line);
}

/* Takes the next number or range of "0,3-5". False at the end of the list; if **at is not 0 then, the list is
 * invalid. */
static bool range_next(const char **at, int64_t *first, int64_t *last)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *first = *last = strtoll(*at, &end, 10);
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        *last = strtoll(end + 1, &end, 10);
    if (errno != 0 || *last < *first || *last > INT32_MAX || (*end != ',' && *end != 0) || (*end == ',' && end[1] == 0))
        return false;
    *at = end + (*end == ',');
    return true;
}

size_t job_place(const struct job *j, int64_t rank)
{
    const size_t at = SEARCH_FIRST_NOT(i, 0, j->ranks.n, j->ranks.at[i].rank < rank);
    return at < j->ranks.n && j->ranks.at[at].rank == rank ? at : j->ranks.n;
}

int64_t job_gaps(const struct job *j, int64_t first, int64_t last, char out[JOB_GAPS])
{
    enum { MOST_GAPS = 8 };
    size_t used = 0, n_gaps = 0;
    int64_t next = first, n_missing = 0;
    out[0] = 0;
    for (size_t i = 0; i <= j->ranks.n && next <= last; i++) {
        const int64_t rank = i < j->ranks.n ? j->ranks.at[i].rank : INT64_MAX;
        if (rank < next)
            continue;
        const int64_t end = rank <= last ? rank - 1 : last; /* of the gap */
        if (end >= next && n_gaps++ < MOST_GAPS) {
            used += (size_t)snprintf(out + used, JOB_GAPS - used, "%s%lld", n_gaps > 1 ? ", " : "", (long long)next);
            if (end > next)
                used += (size_t)snprintf(out + used, JOB_GAPS - used, "-%lld", (long long)end);
        }
        n_missing += end - next + 1;
        next = end + 2;
    }
    if (n_gaps > MOST_GAPS)
        snprintf(out + used, JOB_GAPS - used, " ...");
    return n_missing;
}

static bool keep_wanted(struct job *j, const char *wanted, struct error *e)
{
    const char *at = wanted;
    bool *keeps = arena_take(j->mem, j->ranks.n + 1, sizeof *keeps);
    for (int64_t first, last; keeps && range_next(&at, &first, &last);) {
        char gaps[JOB_GAPS];
        for (size_t i = 0; i < j->ranks.n; i++)
            keeps[i] = keeps[i] || (j->ranks.at[i].rank >= first && j->ranks.at[i].rank <= last);
        if (job_gaps(j, first, last, gaps) > 0 && !job_note(j, true, "--ranks: ranks are missing: %s", gaps))
            return error_no_memory(e, "--ranks");
    }
    if (!keeps)
        return error_no_memory(e, "--ranks");
    if (*at)
        return error_set(e, FAULT_ASKED, "--ranks %s: not a list of ranks; write 0,3-5 or all", wanted);
    size_t n = 0;
    for (size_t i = 0; i < j->ranks.n; i++)
        if (keeps[i])
            j->ranks.at[n++] = j->ranks.at[i];
    j->ranks.n = n;
    return true;
}

static void find_text(struct job *j)
{
    j->is_text = j->ranks.n > 0;
    for (size_t i = 0; i < j->ranks.n; i++)
        j->is_text = j->is_text && j->ranks.at[i].source == SOURCE_TEXT;
}

bool job_complete(struct job *j, const char *wanted, struct error *e)
{
    if (j->ranks.n > 0)
        qsort(j->ranks.at, j->ranks.n, sizeof *j->ranks.at, by_rank);
    if (!number_unknown(j) || !drop_older(j))
        return error_no_memory(e, "ascope cluster");
    if (wanted && strcmp(wanted, "all") != 0 && !keep_wanted(j, wanted, e))
        return false;
    j->is_filtered = wanted && strcmp(wanted, "all") != 0;
    find_text(j);
    return true;
}

void job_use_raw(struct job *j, unsigned parts)
{
    for (size_t i = 0; i < j->ranks.n && parts & ~(unsigned)RANK_OF_TEXT; i++) {
        struct job_rank *const r = &j->ranks.at[i];
        if (r->source != SOURCE_TEXT || !r->has_raw)
            continue;
        r->source = SOURCE_COLLECTION;
        r->bytes = 0;
    }
    find_text(j);
}

bool job_load(const struct job *j, size_t i, unsigned parts, struct arena *mem, struct rank *out, int *exit_code,
              struct error *e)
{
    const struct job_rank *r = &j->ranks.at[i];
    *out = (struct rank){ .names = j->names, .mem = mem, .identity = { .path = r->path, .steps_by = j->steps_by } };
    *exit_code = 0;
    bool done = true;
    if (r->source == SOURCE_COLLECTION || (r->source == SOURCE_SUMMARY && !r->db && !r->comm && r->path != r->summary))
        done = j->load ? j->load(r->path, parts, out, exit_code, e)
                       : error_set(e, FAULT_ASKED, "%s: not analysed yet; use ascope analyse", r->path);
    else if (r->db || r->comm)
        done = rank_db_load(r, parts, out, e);
    else if (r->source == SOURCE_TRACE)
        done = rank_trace_load(r->trace, parts, out, e);
    else if (r->source == SOURCE_SUMMARY)
        done = error_set(e, FAULT_ASKED, "%s: only the summary of the rank is here, without its single tasks", r->path);
    const unsigned missing = parts & ~out->has;
    if (done && r->source != SOURCE_COLLECTION && r->output && missing)
        done = rank_text_load(r, missing, out, e);
    if (done && r->source == SOURCE_TEXT && r->trace && parts & ~out->has)
        done = rank_trace_load(r->trace, parts & ~out->has, out, e) &&
               (rank_trace_groups(out) || error_no_memory(e, r->path));
    out->identity.rank = r->rank;
    out->identity.has_rank = true;
    out->identity.path = r->path;
    if (out->steps.n == 0)
        out->identity.steps_by = NULL; /* there are only tables of them */
    if (done && names_failed(j->names))
        done = error_no_memory(e, r->path);
    return done;
}

bool job_summary(const struct job *j, size_t i, unsigned parts, struct arena *mem, struct rank_summary *out,
                 struct rank *whole, struct error *e)
{
    const struct job_rank *r = &j->ranks.at[i];
    struct rank rank;
    int code;
    if (whole)
        *whole = (struct rank){ 0 };
    if (r->source == SOURCE_SUMMARY && !j->steps_by) {
        if (!summary_load(r->summary, r->offset, r->bytes, j->names, mem, out, e))
            return false;
        out->identity.rank = r->rank;
        out->identity.has_rank = true;
        return true;
    }
    if (!job_load(j, i, parts, mem, &rank, &code, e))
        return false;
    /* If the rank has no table of its steps, the times are computed from tasks, which are read then. */
    const unsigned instead = RANK_TASKS | RANK_COLLECTIVES | RANK_STEPS;
    if (parts & RANK_STEP_TRACE && !(rank.has & RANK_STEP_TRACE) && r->source != SOURCE_TEXT && instead & ~parts &&
        !job_load(j, i, parts | instead, mem, &rank, &code, e))
        return false;
    if (whole)
        *whole = rank;
    return rank_summarise(&rank, code, out, e);
}
