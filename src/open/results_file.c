/* SPDX-License-Identifier: Apache-2.0 */
#include "open/recording_open.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/files/file.h"
#include "base/files/inside.h"

/* The first pattern with a match is shown. Of several matches, the last one by name: the newest, if names contain
 * times. */
static const char *const shown[] = { "ascend_pytorch_profiler*.db",
                                     "ascend_mindspore_profiler*.db",
                                     "msprof_*.db",
                                     "cluster_analysis.db",
                                     "trace_view.json",
                                     "msprof_*.json" };
enum { KINDS = sizeof shown / sizeof *shown };

static bool is_raw(const char *name)
{
    static const char *const raw[] = { "PROF_*", "FRAMEWORK", "host", "device_*", "*_ascend_pt", "*_ascend_ms" };
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        if (fnmatch(raw[i], name, 0) == 0)
            return true;
    return false;
}

static bool ends_with_folder(const char *dir, const char *name)
{
    const size_t n = strlen(name);
    size_t end = strlen(dir);
    while (end > 1 && dir[end - 1] == '/')
        end--;
    return end >= n && !memcmp(dir + end - n, name, n) && (end == n || dir[end - n - 1] == '/');
}

/* Folders whose text results are tables, where nothing in them is a timeline. */
static bool has_tables(const char *dir)
{
    return ends_with_folder(dir, "cluster_analysis_output") || ends_with_folder(dir, "ASCEND_PROFILER_OUTPUT");
}

/* The last match of each pattern in a directory, by name. */
struct results_file_listed {
    char best[KINDS][256];
    bool has_raw, has_output, has_table;
};

static void list(struct results_file_listed *l, const char *dir)
{
    const char *name;
    int why;
    DIR *d = inside_list(dir);
    *l = (struct results_file_listed){ 0 };
    while (d && (name = dir_next(d, &why))) {
        l->has_raw |= is_raw(name);
        l->has_table |= fnmatch("*.csv", name, 0) == 0 || fnmatch("*.json", name, 0) == 0;
        l->has_output |= !strcmp(name, "ASCEND_PROFILER_OUTPUT");
        for (size_t i = 0; i < KINDS; i++)
            if (fnmatch(shown[i], name, 0) == 0 && strlen(name) < sizeof l->best[i] && strcmp(name, l->best[i]) > 0)
                memcpy(l->best[i], name, strlen(name) + 1);
    }
    if (d)
        closedir(d);
}

static const char *results_file_find(const char *dir, bool is_outer, struct arena *mem)
{
    struct results_file_listed l;
    list(&l, dir);
    for (size_t i = 0; i < KINDS && !l.has_raw; i++)
        if (l.best[i][0])
            return arena_printf(mem, "%s/%s", dir, l.best[i]);
    if (l.has_table && has_tables(dir))
        return dir;
    const char *output =
        l.has_output && is_outer && !l.has_raw ? arena_printf(mem, "%s/ASCEND_PROFILER_OUTPUT", dir) : NULL;
    return output ? results_file_find(output, false, mem) : NULL;
}

bool results_have_raw(const char *dir)
{
    struct results_file_listed l;
    list(&l, dir);
    return l.has_raw;
}

const char *results_file(const char *dir, struct arena *mem)
{
    return results_file_find(dir, true, mem);
}

/* ---- of one rank ------------------------------------------------------------------------------------------------- */

/* The first pattern with a match is read. Of those that are named by rank, every match: copies of several ranks may be
 * in one directory; of the others the last one by name. */
static const struct {
    const char *pattern;
    bool is_of_rank;
} of_rank[] = {
    { "ascend_pytorch_profiler_*.db", true },
    { "ascend_pytorch_profiler.db", false },
    { "ascend_mindspore_profiler_*.db", true },
    { "ascend_mindspore_profiler.db", false },
    { "msprof_*.db", false },
    { "trace_view.json", false },
    { "trace_view.json.gz", false },
    { "msprof_*.json", false },
    { "msprof_*.json.gz", false },
};

static bool is_file(const char *path)
{
    struct stat st;
    return path && inside_stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Adds the files of a directory that match a row of the table. */
static void take_of_rank(struct results_files *out, const char *dir, const struct dir_names *names, size_t row,
                         struct arena *mem)
{
    const size_t n_before = out->list.n;
    for (size_t i = 0; i < names->n; i++) {
        if (fnmatch(of_rank[row].pattern, names->at[i], 0) != 0)
            continue;
        const char *path = arena_printf(mem, "%s/%s", dir, names->at[i]);
        const char **new = !is_file(path)                                       ? NULL
                           : out->list.n > n_before && !of_rank[row].is_of_rank ? &out->list.at[n_before]
                                                                                : list_add(&out->list, mem);
        if (new)
            *new = path;
    }
}

bool results_of_ranks(struct results_files *out, const char *dir, struct arena *mem)
{
    static const char *const inside[] = { "", "/ASCEND_PROFILER_OUTPUT", "/mindstudio_profiler_output" };
    enum { PLACES = sizeof inside / sizeof *inside };
    struct dir_names names[PLACES];
    const char *place[PLACES];
    *out = (struct results_files){ 0 };
    for (size_t k = 0; k < PLACES; k++) {
        int unused;
        place[k] = arena_printf(mem, "%s%s", dir, inside[k]);
        dir_names_read(&names[k], place[k] ? place[k] : "", name_is_visible, &unused);
    }
    for (size_t row = 0; row < sizeof of_rank / sizeof *of_rank && out->list.n == 0; row++)
        for (size_t k = 0; k < PLACES && out->list.n == 0; k++)
            take_of_rank(out, place[k], &names[k], row, mem);
    for (size_t k = 0; k < PLACES; k++)
        dir_names_free(&names[k]);
    return !arena_failed(mem);
}

/* ---- what cannot be opened ---------------------------------------------------------------------------------------- */

/* The first row counts of which a directory has a file. */
static const struct {
    const char *pattern, *is;
    bool is_of_ranks; /* ascope cluster reads it */
} instead[] = {
    { "*.summary", "summaries of ranks, which have no single events; ascope cluster reads them", true },
    { "cluster_analysis.db", "results of a whole job; ascope view shows them", false },
    { "*_trace_rank_[0-9]*", "dumps of PyTorch's flight recorder; ascope hang reads them", false },
    { "step_trace_time.csv",
      "tables without a timeline or a database; ascope cluster compares the ranks by their tables, and "
      "ascope view shows ASCEND_PROFILER_OUTPUT",
      true },
    { "communication*.json",
      "tables without a timeline or a database; ascope cluster compares the ranks by their tables, and "
      "ascope view shows ASCEND_PROFILER_OUTPUT",
      true },
    { "kernel_details.csv", "tables without a timeline or a database; ascope view shows ASCEND_PROFILER_OUTPUT",
      false },
    { "op_statistic*.csv", "tables without a timeline or a database; ascope view shows ASCEND_PROFILER_OUTPUT", false },
};
enum { INSTEAD = sizeof instead / sizeof *instead };

static size_t instead_in(const char *dir, unsigned depth, struct arena *mem)
{
    enum { DEEPEST = 4, MOST = 64 }; /* entries that are looked into */
    struct dir_names names;
    int unused;
    size_t best = INSTEAD;
    dir_names_read(&names, dir, name_is_visible, &unused);
    for (size_t i = 0; i < names.n; i++)
        for (size_t k = 0; k < best; k++)
            best = fnmatch(instead[k].pattern, names.at[i], 0) == 0 ? k : best;
    for (size_t i = 0; i < names.n && i < MOST && depth < DEEPEST && best > 0; i++) {
        const char *below = arena_printf(mem, "%s/%s", dir, names.at[i]);
        struct stat st;
        const size_t found =
            below && inside_stat(below, &st) == 0 && S_ISDIR(st.st_mode) ? instead_in(below, depth + 1, mem) : INSTEAD;
        best = found < best ? found : best;
    }
    dir_names_free(&names);
    return best;
}

static size_t instead_row(const char *name)
{
    size_t row = 0;
    while (row < INSTEAD && fnmatch(instead[row].pattern, name, 0) != 0)
        row++;
    return row;
}

/* The row of a directory or a file. */
static size_t instead_of(const char *path)
{
    struct arena *mem = arena_new();
    struct stat st;
    const char *slash = strrchr(path, '/');
    const bool is_dir = inside_stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    const size_t row = !is_dir ? instead_row(slash ? slash + 1 : path) : mem ? instead_in(path, 0, mem) : INSTEAD;
    arena_free(mem);
    return row;
}

const char *results_instead(const char *path)
{
    const size_t row = instead_of(path);
    return row < INSTEAD ? instead[row].is : NULL;
}

const char *results_instead_of_ranks(const char *path)
{
    const size_t row = instead_of(path);
    return row < INSTEAD && !instead[row].is_of_ranks ? instead[row].is : NULL;
}
