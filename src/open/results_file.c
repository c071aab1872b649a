/* SPDX-License-Identifier: Apache-2.0 */
#include "open/results_file.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/inside.h"

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

static const char *find(const char *dir, bool is_outer, struct arena *mem)
{
    char best[KINDS][256] = { "" };
    const char *name;
    bool has_raw = false, has_output = false, has_table = false;
    int why;
    DIR *d = inside_list(dir);
    while (d && (name = dir_next(d, &why))) {
        has_raw |= is_raw(name);
        has_table |= fnmatch("*.csv", name, 0) == 0 || fnmatch("*.json", name, 0) == 0;
        has_output |= !strcmp(name, "ASCEND_PROFILER_OUTPUT");
        for (size_t i = 0; i < KINDS; i++)
            if (fnmatch(shown[i], name, 0) == 0 && strlen(name) < sizeof best[i] && strcmp(name, best[i]) > 0)
                memcpy(best[i], name, strlen(name) + 1);
    }
    if (d)
        closedir(d);
    for (size_t i = 0; i < KINDS && !has_raw; i++)
        if (best[i][0])
            return arena_printf(mem, "%s/%s", dir, best[i]);
    if (has_table && has_tables(dir))
        return dir;
    const char *output =
        has_output && is_outer && !has_raw ? arena_printf(mem, "%s/ASCEND_PROFILER_OUTPUT", dir) : NULL;
    return output ? find(output, false, mem) : NULL;
}

bool results_have_raw(const char *dir)
{
    const char *name;
    bool has_raw = false;
    int why;
    DIR *d = inside_list(dir);
    while (d && !has_raw && (name = dir_next(d, &why)))
        has_raw = is_raw(name);
    if (d)
        closedir(d);
    return has_raw;
}

const char *results_file(const char *dir, struct arena *mem)
{
    return find(dir, true, mem);
}
