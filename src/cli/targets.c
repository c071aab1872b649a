#include "cli/targets.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/collections.h"
#include "cli/term.h"
#include "load/prof.h"
#include "load/session.h"

static bool add_target(struct targets *t, const char *path, bool is_session)
{
    const char *copy = arena_text(t->mem, path, strlen(path));
    struct target *slot = copy ? list_add(&t->list, t->mem) : NULL;
    if (slot)
        *slot = (struct target){ .path = copy, .is_session = is_session };
    return slot != NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* Sessions in a directory, by name. */
static bool find_inside(struct targets *t, const char *path, struct error *e)
{
    struct dirent **entry;
    const int n = scandir(path, &entry, is_visible, by_name);
    bool done = n >= 0 || error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(errno));
    for (int i = 0; i < n; i++) {
        const char *inside = arena_printf(t->mem, "%s/%s", path, entry[i]->d_name);
        struct stat st;
        if (inside && lstat(inside, &st) == 0 && S_ISDIR(st.st_mode) && session_is_one(inside))
            done = add_target(t, inside, true) && done;
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    return done;
}

/* The directory itself, or what lies in it: sessions, and else PROF directories. */
static enum outcome find_one(struct targets *t, const char *given, bool with_ruins)
{
    struct stat st;
    struct error e = { 0 };
    struct prof_dirs prof = { 0 };
    const size_t n_before = t->list.n;
    if (stat(given, &st) != 0 || !S_ISDIR(st.st_mode)) {
        complain("%s: %s; give a *_ascend_pt or PROF_XXX directory, or one that holds some", given,
                 stat(given, &st) != 0 ? strerror(errno) : "is no directory");
        return OUTCOME_PATH;
    }
    char *path = path_with_name(given);
    if (!path)
        error_set(&e, FAULT_LIMIT, "%s: no memory", given);
    else if (session_is_one(path))
        add_target(t, path, true);
    else if (find_inside(t, path, &e) && t->list.n == n_before && prof_find(path, &prof, &e))
        for (size_t i = 0; i < prof.n; i++)
            add_target(t, prof.path[i], false);
    if (with_ruins && e.fault != FAULT_NONE && e.fault != FAULT_LIMIT && collection_is_ruin(path)) {
        e = (struct error){ 0 };
        add_target(t, path, false);
    }
    if (t->list.n == n_before && e.fault == FAULT_NONE)
        error_set(&e, FAULT_LIMIT, "%s: no memory", given);
    if (e.fault != FAULT_NONE)
        complain("%s", e.text);
    prof_dirs_free(&prof);
    free(path);
    return e.fault == FAULT_NONE ? OUTCOME_DONE : OUTCOME_NOTHING;
}

enum outcome targets_find(struct targets *t, struct arguments *a, bool with_ruins)
{
    *t = (struct targets){ .mem = a->mem };
    enum outcome last = OUTCOME_USAGE;
    if (a->n_words == 0 && !a->dir)
        complain("which directory? give a *_ascend_pt or PROF_XXX directory, or one that holds some");
    if (a->dir && (last = find_one(t, a->dir, with_ruins)) != OUTCOME_DONE)
        t->n_refused++;
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        const enum outcome here = path ? find_one(t, path, with_ruins) : OUTCOME_PATH;
        if (here != OUTCOME_DONE) {
            t->n_refused++;
            last = here;
        }
    }
    return t->list.n > 0 ? OUTCOME_DONE : last;
}
