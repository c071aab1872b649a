/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/simplify.h"

#include <ctype.h>
#include <dirent.h>
#include <string.h>

#include "base/files/file.h"
#include "base/files/file_tree.h"
#include "base/files/inside.h"

/* msprof_analysis_20240101000000.log */
static bool is_export_log(const char *name)
{
    static const char begin[] = "msprof_analysis_";
    if (strncmp(name, begin, sizeof begin - 1) != 0)
        return false;
    const char *p = name + sizeof begin - 1;
    while (isdigit((unsigned char)*p))
        p++;
    return strcmp(p, ".log") == 0;
}

static bool simplify_is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static void remove_from(const char *path, const char *const *names, bool logs_too, struct account *a)
{
    DIR *dir = inside_list(path);
    int why;
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        if (!simplify_is_one_of(name, names) && !(logs_too && is_export_log(name)))
            continue;
        const int here = tree_remove(dirfd(dir), name);
        if (here != 0)
            account_problem(a, arena_printf(a->mem, "%s/%s: cannot be removed: %s", path, name, write_trouble(here)));
    }
    if (dir)
        closedir(dir);
}

void prof_simplify(const struct profile *p, bool simplifies, struct account *a)
{
    static const char *const intermediate[] = { "sqlite", NULL };
    static const char *const folder_results[] = { "sqlite", "summary", "timeline", NULL };
    static const char *const results[] = { "analyze", "mindstudio_profiler_log", "mindstudio_profiler_output", NULL };
    const char *const *of_folder = simplifies ? folder_results : intermediate;
    if (profile_has_host(p))
        remove_from(p->host.source.path, of_folder, false, a);
    for (size_t i = 0; i < p->n_devices; i++)
        remove_from(p->device[i].source.path, of_folder, false, a);
    if (simplifies)
        remove_from(p->path, results, true, a);
}
