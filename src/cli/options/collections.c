/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/work.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "load/prof/prof.h"
#include "open/inputs.h"
#include "report/term.h"

void advise(const struct arguments *a, const char *fmt, ...)
{
    char text[600];
    if (a->quiet)
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    complain("note: %s", text);
}

static bool collections_add(struct collections *c, const struct prof_dirs *found)
{
    char **more = reallocarray(c->path, c->n + found->n, sizeof *more);
    if (!more)
        return false;
    c->path = more;
    for (size_t i = 0; i < found->n; i++, c->n++)
        if (!(c->path[c->n] = strdup(found->path[i])))
            return false;
    return true;
}

/* Finds the PROF directories inside the collections of frameworks in a directory. False: there are none; e may have
 * the reason. */
static bool find_in_collections(const char *path, struct collections *out, struct error *e)
{
    struct dir_names entry;
    const size_t n_before = out->n;
    int why;
    dir_names_read(&entry, path, name_is_visible, &why);
    bool has_collection = framework_kind_of(path, &why) != NULL;
    for (size_t i = 0; i < entry.n; i++) {
        char *inside = NULL;
        struct prof_dirs found = { 0 };
        struct error unused = { 0 };
        if (asprintf(&inside, "%s/%s", path, entry.at[i]) > 0 && framework_kind_of(inside, &why)) {
            has_collection = true;
            if (prof_find(inside, &found, &unused) && !collections_add(out, &found))
                error_no_memory(e, path);
        }
        prof_dirs_free(&found);
        free(inside);
    }
    dir_names_free(&entry);
    if (has_collection && out->n == n_before)
        error_set(e, FAULT_ASKED, "%s: contains no PROF_XXX directory, only framework data; use ascope analyse", path);
    return out->n > n_before;
}

static enum exit_status find_one(const struct arguments *a, const char *given, struct collections *out)
{
    struct stat st;
    if (stat(given, &st) != 0) {
        const bool is_wrong = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP;
        complain("%s: %s; give a PROF_XXX directory, or a directory that contains some", given, strerror(errno));
        return is_wrong ? STATUS_PATH : STATUS_NOTHING;
    }
    struct error results = { 0 };
    if (a->face == FACE_ASCOPE && !S_ISDIR(st.st_mode) && inputs_are_results(given, &results)) {
        complain("%s", results.text);
        return STATUS_PATH;
    }
    if (!S_ISDIR(st.st_mode)) {
        complain("%s: not a directory; give a PROF_XXX directory, or a directory that contains some", given);
        return STATUS_PATH;
    }
    char *path = path_with_name(given);
    struct error e = { 0 }, e_inside = { 0 };
    struct prof_dirs found = { 0 };
    bool done = false;
    if (!path)
        error_no_memory(&e, given);
    else if (prof_find(path, &found, &e))
        done = collections_add(out, &found) || error_no_memory(&e, given);
    else if (a->face == FACE_ASCOPE && e.fault != FAULT_LIMIT && (done = find_in_collections(path, out, &e_inside)))
        e = e_inside;
    if (!done && a->face == FACE_ASCOPE && e.fault == FAULT_FORMAT && e_inside.fault == FAULT_NONE &&
        inputs_are_results(given, &results))
        e = results;
    if (e.fault != FAULT_NONE)
        complain("%s", e_inside.fault != FAULT_NONE ? e_inside.text : e.text);
    if (done && e.fault != FAULT_NONE) /* some were found, and others cannot be read */
        out->n_refused++;
    prof_dirs_free(&found);
    free(path);
    return done ? STATUS_DONE : STATUS_NOTHING;
}

enum exit_status collections_find(struct arguments *a, size_t first, struct collections *out)
{
    *out = (struct collections){ 0 };
    enum exit_status last = STATUS_USAGE;
    if (!a->dir && a->n_words <= first) {
        complain("missing collection; give it with -dir DIR");
        return STATUS_USAGE;
    }
    if (a->dir && (last = find_one(a, a->dir, out)) != STATUS_DONE)
        out->n_refused++;
    for (size_t i = first; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        const enum exit_status here = path                   ? find_one(a, path, out)
                                      : arena_failed(a->mem) ? STATUS_NOTHING
                                                             : STATUS_PATH;
        if (here != STATUS_DONE) {
            out->n_refused++;
            last = here;
        }
    }
    if (out->n > 0)
        return STATUS_DONE;
    /* The reference script reports every unusable path as an invalid path. */
    return a->face == FACE_MSPROF_PY ? STATUS_PATH : last;
}

void collections_free(struct collections *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->path[i]);
    free(c->path);
    *c = (struct collections){ 0 };
}

enum exit_status tally_status(const struct results_tally *t)
{
    if (t->n_done == 0 && t->n_lossy == 0)
        return STATUS_NOTHING;
    return t->n_lossy > 0 || t->n_failed > 0 ? STATUS_LOSSES : STATUS_DONE;
}
