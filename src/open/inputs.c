/* SPDX-License-Identifier: Apache-2.0 */
#include "open/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/text/framework_names.h"
#include "load/prof/prof.h"
#include "load/trace/db_reader.h"
#include "load/trace/trace_readers.h"
#include "open/recording_open.h"

static bool input_add(struct inputs *t, const struct input *new)
{
    const char *copy = new->path ? arena_text(t->mem, new->path, strlen(new->path)) : NULL;
    struct input *slot = copy ? list_add(&t->list, t->mem) : NULL;
    if (slot)
        *slot = (struct input){
            .path = copy, .kind = new->kind, .steps_by = t->steps_by, .file = new->file == new->path ? copy : new->file
        };
    return slot != NULL;
}

static bool cannot_read(const char *path, int why, struct error *e)
{
    return error_set(e, why == ENOMEM ? FAULT_LIMIT : FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
}

static bool is_torch_trace(const char *name)
{
    return name[0] != '.' && strstr(name, ".pt.trace.json") && chrome_is_name(name);
}

static bool is_json(const char *name)
{
    return name[0] != '.' && chrome_is_name(name) && !pftrace_is_name(name);
}

static bool is_pftrace(const char *name)
{
    return name[0] != '.' && pftrace_is_name(name);
}

/* Adds the traces in a directory whose names are wanted: those of torch.profiler, and others that are traces. */
static void find_traces(struct inputs *t, const char *path, bool (*is_wanted)(const char *name), struct error *e)
{
    struct dir_names entry;
    int unused;
    dir_names_read(&entry, path, is_wanted, &unused);
    for (size_t i = 0; i < entry.n; i++) {
        const char *file = arena_printf(t->mem, "%s/%s", path, entry.at[i]);
        struct error why = { 0 };
        if (!file || ((is_wanted == is_torch_trace || chrome_look(file, &why)) &&
                      !input_add(t, &(struct input){ .path = file, .file = file })))
            error_no_memory(e, path);
    }
    dir_names_free(&entry);
}

/* Adds the results in a directory without recorded data. */
static void find_results(struct inputs *t, const char *path, struct error *e)
{
    struct results_files files;
    bool done = results_of_ranks(&files, path, t->mem);
    for (size_t i = 0; done && i < files.list.n; i++)
        done = input_add(
            t, &(struct input){ .path = files.list.n > 1 ? files.list.at[i] : path, .file = files.list.at[i] });
    if (!done)
        error_no_memory(e, path);
}

/* Adds the collections in a directory, sorted by name, and traces of torch.profiler beside them. Unreadable directories
 * are reported if they are named like collections. */
static bool find_inside(struct inputs *t, const char *path, unsigned also, struct error *e)
{
    struct dir_names entry;
    int why;
    if (!dir_names_read(&entry, path, name_is_visible, &why))
        return cannot_read(path, why, e);
    for (size_t i = 0; i < entry.n; i++) {
        const char *inside = arena_printf(t->mem, "%s/%s", path, entry.at[i]);
        struct stat st;
        why = !inside ? ENOMEM : inside_stat(inside, &st) != 0 ? errno : 0;
        const struct framework_kind *kind = why == 0 && S_ISDIR(st.st_mode) ? framework_kind_of(inside, &why) : NULL;
        if (kind && !input_add(t, &(struct input){ .path = inside, .kind = kind }))
            why = ENOMEM;
        if (why == ENOMEM || (why != 0 && framework_is_in_name(entry.at[i])))
            cannot_read(inside ? inside : path, why, e);
        else if (!kind && (also & INPUT_RESULTS) && framework_is_in_name(entry.at[i]))
            find_results(t, inside, e);
    }
    dir_names_free(&entry);
    if (also & INPUT_RESULTS)
        find_traces(t, path, is_torch_trace, e);
    return e->fault == FAULT_NONE;
}

static bool can_be_listed(const char *path)
{
    DIR *dir = inside_list(path);
    if (dir)
        closedir(dir);
    return dir != NULL;
}

static void inputs_find(struct inputs *t, const char *path, unsigned also, unsigned depth, struct error *e);

/* Searches subdirectories, such as one per machine. Unreadable ones that are not named like collections are ignored. */
static void find_below(struct inputs *t, const char *path, unsigned also, unsigned depth, struct error *e)
{
    struct dir_names entry;
    int unused;
    dir_names_read(&entry, path, name_is_visible, &unused);
    for (size_t i = 0; i < entry.n; i++) {
        struct stat st;
        struct error here = { 0 };
        const char *below = arena_printf(t->mem, "%s/%s", path, entry.at[i]);
        if (!below)
            error_no_memory(e, path);
        else if (inside_stat(below, &st) == 0 && S_ISDIR(st.st_mode) && can_be_listed(below))
            inputs_find(t, below, also, depth, &here);
        if (here.fault != FAULT_NONE && here.fault != FAULT_FORMAT && e->fault == FAULT_NONE)
            *e = here;
    }
    dir_names_free(&entry);
}

/* Adds the directory itself, or the collections in it, or the PROF directories in it, or else results or traces, or
 * else searches its subdirectories. */
static void inputs_find(struct inputs *t, const char *path, unsigned also, unsigned depth, struct error *e)
{
    enum {
        DEEPEST = 3
    }; /* a job, a day, a machine; the limit keeps the search short if a home directory is given by mistake */
    struct prof_dirs prof = { 0 };
    struct error nothing = { 0 };
    const size_t n_before = t->list.n;
    int why;
    bool done = true;
    const struct framework_kind *kind = framework_kind_of(path, &why);
    if (kind)
        done = input_add(t, &(struct input){ .path = path, .kind = kind });
    else if (why != 0)
        cannot_read(path, why, e);
    else if (find_inside(t, path, also, e) && t->list.n == n_before && prof_find(path, &prof, &nothing))
        for (size_t i = 0; i < prof.n; i++)
            done = input_add(t, &(struct input){ .path = prof.path[i] }) && done;
    const bool is_open = nothing.fault == FAULT_FORMAT;
    if (is_open && (also & INPUT_RESULTS))
        find_results(t, path, e);
    if (is_open && (also & INPUT_RESULTS) && t->list.n == n_before)
        find_traces(t, path, is_json, e);
    if (is_open && (also & INPUT_RESULTS) && t->list.n == n_before)
        find_traces(t, path, is_pftrace, e);
    if (is_open && depth < DEEPEST && t->list.n == n_before)
        find_below(t, path, also, depth + 1, e);
    if (nothing.fault != FAULT_NONE && t->list.n == n_before && e->fault == FAULT_NONE)
        *e = nothing;
    if (!done)
        error_no_memory(e, path);
    prof_dirs_free(&prof);
}

const char *inputs_wanted(char out[INPUTS_WANTED])
{
    char names[FRAMEWORK_PATTERNS];
    snprintf(out, INPUTS_WANTED, "give a %s or PROF_XXX directory, or a directory that contains some",
             framework_patterns(names));
    return out;
}

/* Whether a directory contains a folder of a PROF directory, usable or not. */
static bool is_ruin(const char *path)
{
    DIR *dir = inside_list(path);
    bool found = false;
    int why;
    for (const char *name; dir && !found && (name = dir_next(dir, &why));)
        found = strcmp(name, "host") == 0 || strncmp(name, "device_", 7) == 0;
    if (dir)
        closedir(dir);
    return found;
}

/* Results are named after the last part of the path, so that "PROF_1/" and "." must get one. */
static char *path_trimmed(const char *path)
{
    char *copy = strdup(path);
    for (size_t len = copy ? strlen(copy) : 0; len > 1 && copy[len - 1] == '/'; len--)
        copy[len - 1] = 0;
    const char *slash = copy ? strrchr(copy, '/') : NULL, *name = slash ? slash + 1 : copy;
    if (!copy || (strcmp(name, ".") != 0 && strcmp(name, "..") != 0))
        return copy;
    char *real = realpath(copy, NULL);
    if (!real)
        return copy;
    free(copy);
    return real;
}

char *path_with_name(const char *path)
{
    char *named = path_trimmed(path);
    if (named)
        inside_enter(named); /* of a directory that cannot be opened, reading reports it */
    return named;
}

/* Adds a file: a trace or a database, if they are accepted. */
static bool add_file(struct inputs *t, const char *given, unsigned also, struct error *e)
{
    char wanted[INPUTS_WANTED];
    const char *is = results_instead(given);
    const bool is_known = !is && (chrome_is_name(given) || db_is_database(given));
    if (is_known && (also & INPUT_RESULTS))
        return input_add(t, &(struct input){ .path = given, .file = given }) || error_no_memory(e, given);
    if (is)
        return error_set(e, FAULT_ASKED, "%s: only %s", given, is);
    return error_set(e, FAULT_ASKED, "%s: %s; %s%s", given,
                     chrome_is_name(given) ? "a trace"
                     : is_known            ? "a database"
                                           : "not a directory",
                     inputs_wanted(wanted),
                     also & INPUT_RESULTS ? ", a *.json or *.json.gz file of torch.profiler, or a database of results"
                     : is_known
                         ? "; traces and databases are read by ascope view, why, advise, compare, cluster and info"
                         : "");
}

static const char readers[] = "ascope view, why, advise, compare, cluster and info read that";

bool inputs_are_results(const char *given, struct error *e)
{
    struct inputs t = { .mem = arena_new() };
    struct error unused = { 0 };
    struct stat st;
    const char *is = NULL;
    bool are = false;
    if (t.mem && stat(given, &st) == 0 && S_ISDIR(st.st_mode)) {
        inputs_find(&t, given, INPUT_RESULTS, 0, &unused);
        are = t.list.n > 0 && t.list.at[0].file;
        is = are ? NULL : results_instead(given);
    } else if (t.mem) {
        is = results_instead(given);
        are = !is && (chrome_is_name(given) || db_is_database(given));
    }
    if (are && t.list.n > 0)
        error_set(e, FAULT_FORMAT, "%s: has %s, but no recorded data; %s", given,
                  t.list.at[0].path == t.list.at[0].file ? "traces" : "results", readers);
    else if (are)
        error_set(e, FAULT_ASKED, "%s: a %s without recorded data; %s", given,
                  chrome_is_name(given) ? "trace" : "database", readers);
    else if (is)
        error_set(e, FAULT_FORMAT, "%s: only %s", given, is);
    arena_free(t.mem);
    return are || is;
}

/* Nothing was found: says what there is instead. */
static void explain_nothing(const char *path, const char *given, unsigned also, struct error *e)
{
    const char *is = results_instead(path);
    *e = (struct error){ 0 };
    if (!(also & INPUT_RESULTS) && inputs_are_results(given, e))
        return;
    if (is)
        error_set(e, FAULT_FORMAT, "%s: only %s", given, is);
    else
        error_set(
            e, FAULT_FORMAT,
            "%s: contains no collection (*_ascend_pt, *_ascend_ms or PROF_XXX directory, or a host or device_N with an "
            "info.json)%s",
            given, also & INPUT_RESULTS ? ", no trace, and no database of results" : "");
}

bool inputs_add(struct inputs *t, const char *given, unsigned also, struct error *e)
{
    char wanted[INPUTS_WANTED];
    struct stat st;
    if (stat(given, &st) != 0) {
        const bool is_wrong = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP;
        return error_set(e, is_wrong ? FAULT_ASKED : FAULT_IO, "%s: %s; %s", given, strerror(errno),
                         inputs_wanted(wanted));
    }
    if (!S_ISDIR(st.st_mode))
        return add_file(t, given, also, e);
    char *path = path_with_name(given);
    if (path)
        inputs_find(t, path, also, 0, e);
    else
        error_no_memory(e, given);
    if ((also & INPUT_RUINS) && e->fault != FAULT_NONE && e->fault != FAULT_LIMIT && is_ruin(path)) {
        *e = (struct error){ 0 };
        if (!input_add(t, &(struct input){ .path = path }))
            error_no_memory(e, given);
    }
    if (e->fault == FAULT_FORMAT)
        explain_nothing(path, given, also, e);
    free(path);
    return e->fault == FAULT_NONE;
}
