/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/memory/ascending.h"
#include "base/process/pool.h"
#include "load/samplers/usage_load.h"

static bool is_folder_name(const char *name)
{
    if (strcmp(name, "host") == 0)
        return true;
    if (strncmp(name, "device_", 7) != 0 || name[7] == 0)
        return false;
    return strspn(name + 7, "0123456789") == strlen(name + 7) && strlen(name + 7) <= 4;
}

/* The first directory that a search could not read. */
struct obstacle {
    int why; /* 0: none */
    const char *path;
};

static void obstacle_set(struct obstacle *o, const char *path, int why)
{
    if (o->why == 0)
        *o = (struct obstacle){ why, path };
}

static bool obstacle_error(const struct obstacle *o, struct error *e)
{
    return error_set(e, o->why == ENOMEM ? FAULT_LIMIT : FAULT_IO, "%s: cannot be read: %s", o->path,
                     read_trouble(o->why));
}

/* Whether a sub-directory is searched for; *why not 0: unknown. */
typedef bool (*wants)(const char *path, const char *name, int *why);

/* The sub-directories of `path` that are wanted, sorted; links are not followed. NULL: it cannot be read at all. */
static char **sub_dirs(struct arena *mem, const char *path, wants wanted, size_t *n, struct obstacle *o)
{
    DIR *dir = inside_list(path);
    LIST(char *) list = { 0 };
    *n = 0;
    if (!dir) {
        obstacle_set(o, path, errno);
        return NULL;
    }
    int why;
    for (const char *name; (name = dir_next(dir, &why));) {
        if (name[0] == '.')
            continue;
        char *full = arena_printf(mem, "%s/%s", path, name);
        struct stat st = { 0 };
        int here = !full ? ENOMEM : inside_stat(full, &st) != 0 ? errno : 0;
        if (here == 0 && S_ISLNK(st.st_mode) && is_folder_name(name))
            here = ELOOP; /* a directory of a collection that is not read has to be reported */
        const bool found = here == 0 && S_ISDIR(st.st_mode) && wanted(full, name, &here);
        if (here == ENOENT)
            continue; /* renamed or removed meanwhile: it is not there */
        char **slot = found ? list_add(&list, mem) : NULL;
        if (slot)
            *slot = full;
        if (here != 0 || (found && !slot))
            obstacle_set(o, full ? full : path, here != 0 ? here : ENOMEM);
    }
    closedir(dir);
    if (why != 0)
        obstacle_set(o, path, why);
    if (list.n > 0)
        qsort(list.at, list.n, sizeof *list.at, compare_texts);
    *n = list.n;
    if (list.at)
        return list.at;
    char **none = arena_take(mem, 1, sizeof *none);
    if (!none)
        obstacle_set(o, path, ENOMEM);
    return none;
}

static bool wants_source(const char *path, const char *name, int *why)
{
    return is_folder_name(name) && source_is_one(path, why);
}

/* A directory without settings is a part of the collection, too: that it is unusable has to be reported. */
static bool wants_folder(const char *path, const char *name, int *why)
{
    (void)path;
    (void)why;
    return is_folder_name(name);
}

/* One readable directory is enough. */
static bool is_prof(const char *path, int *why)
{
    struct arena *mem = arena_new();
    struct obstacle o = { .why = mem ? 0 : ENOMEM };
    size_t n = 0;
    const bool found = mem && sub_dirs(mem, path, wants_source, &n, &o) && n > 0;
    arena_free(mem);
    *why = found ? 0 : o.why;
    return found;
}

/* Beside collections there may be unrelated directories. */
static bool wants_prof(const char *path, const char *name, int *why)
{
    const bool found = strncmp(name, "OPPROF_", 7) != 0 && is_prof(path, why);
    if (*why != ENOMEM && strncmp(name, "PROF", 4) != 0)
        *why = 0;
    return found;
}

bool prof_find(const char *path, struct prof_dirs *out, struct error *e)
{
    *out = (struct prof_dirs){ 0 };
    struct stat st;
    if (inside_stat(path, &st) != 0)
        return error_set(e, FAULT_IO, "%s: %s", path, read_trouble(errno));
    if (!S_ISDIR(st.st_mode))
        return error_set(e, FAULT_IO, "%s: not a directory; give a PROF_XXX directory or its parent", path);
    struct arena *mem = arena_new();
    char *self = mem ? arena_text(mem, path, strlen(path)) : NULL, **list = &self;
    struct obstacle o = { self ? 0 : ENOMEM, path };
    size_t n = 1;
    int why = 0;
    if (self && !is_prof(path, &why)) {
        list = sub_dirs(mem, path, wants_prof, &n, &o);
        if (n == 0 && why != 0)
            obstacle_set(&o, path, why);
    }
    if (o.why != 0)
        obstacle_error(&o, e);
    else if (n == 0)
        error_set(
            e, FAULT_FORMAT,
            "%s: contains no collection: no *_ascend_pt, *_ascend_ms or PROF_XXX directory, and no host or device_N "
            "with an info.json",
            path);
    const bool is_there = list && n > 0 && o.why != ENOMEM;
    out->path = is_there ? calloc(n, sizeof *out->path) : NULL;
    for (size_t i = 0; out->path && i < n; i++)
        if ((out->path[out->n] = strdup(list[i])))
            out->n++;
    arena_free(mem);
    if (!is_there)
        return false;
    if (out->n < n) {
        prof_dirs_free(out);
        return error_no_memory(e, path);
    }
    return true;
}

void prof_dirs_free(struct prof_dirs *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->path[i]);
    free(d->path);
    *d = (struct prof_dirs){ 0 };
}

static int by_device(const void *a, const void *b)
{
    const struct device *x = a, *y = b;
    const int order = (x->source.device > y->source.device) - (x->source.device < y->source.device);
    return order ? order : strcmp(x->source.name, y->source.name);
}

/* device_0 and device_00 would be the same device twice: the first by name is used. */
static void drop_twins(struct profile *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_devices; i++) {
        struct source *s = &p->device[i].source;
        const struct source *last = n > 0 ? &p->device[n - 1].source : NULL;
        if (!last || last->device != s->device) {
            p->device[n++] = p->device[i];
            continue;
        }
        losses_add(&p->lost, LOSS_UNREADABLE, 1, arena_printf(p->mem, "%s: the same device as %s", s->path, last->name),
                   0);
        source_close(s);
    }
    p->n_devices = n;
}

static bool open_sources(struct profile *p, struct error *e)
{
    size_t n = 0;
    struct obstacle o = { 0 };
    char **dir = sub_dirs(p->mem, p->path, wants_folder, &n, &o);
    if (!dir || o.why == ENOMEM)
        return obstacle_error(&o, e);
    if (o.why != 0)
        losses_add(&p->lost, LOSS_UNREADABLE, 1, o.path, 0);
    p->device = arena_take(p->mem, n, sizeof *p->device);
    if (!p->device)
        return error_no_memory(e, p->path);
    struct error why = { 0 };
    for (size_t i = 0; i < n; i++) {
        const char *name = strrchr(dir[i], '/') + 1;
        const bool is_host = strcmp(name, "host") == 0;
        struct source *s = is_host ? &p->host.source : &p->device[p->n_devices].source;
        struct error here = { 0 };
        if (source_open(s, p->path, name, &here)) {
            s->is_partial = p->without != 0;
            p->n_devices += !is_host;
            continue;
        }
        if (here.fault == FAULT_LIMIT) /* no damage: with more memory the results would differ */
            return error_set(e, FAULT_LIMIT, "%s", here.text);
        losses_add(&p->lost, LOSS_UNREADABLE, 1, arena_text(p->mem, here.text, strlen(here.text)), 0);
        error_set(&why, here.fault, "%s", here.text);
    }
    if (p->n_devices == 0 && !profile_has_host(p)) {
        if (why.fault == FAULT_NONE && o.why != 0)
            return obstacle_error(&o, e);
        *e = why;
        return why.fault != FAULT_NONE ? false
                                       : error_set(e, FAULT_IO, "%s: contains no host or device_N directory", p->path);
    }
    qsort(p->device, p->n_devices, sizeof *p->device, by_device);
    drop_twins(p);
    return true;
}

/* Without them, a task of one iteration cannot be distinguished from the same task of the next. */
static bool has_unique_ids(const struct profile *p)
{
    enum { DRIVER_WITH_UNIQUE_IDS = 0x072211 };
    const struct source *s = p->n_devices > 0 ? &p->device[0].source : profile_main_source(p);
    return p->chip->has_unique_ids && s->settings.driver >= DRIVER_WITH_UNIQUE_IDS;
}

struct prof_loading {
    struct profile *profile;
    struct error *error; /* one for each job */
};
enum { LOAD_CALLS, LOAD_HOST, LOAD_DEVICES }; /* the jobs; the last are one for each device */

static void load_one(void *context, size_t i)
{
    const struct prof_loading *l = context;
    struct profile *p = l->profile;
    struct error *e = &l->error[i];
    if (i == LOAD_CALLS) {
        calls_load(p, e);
        return;
    }
    if (i == LOAD_HOST) {
        if (host_load(p, e) && profile_has_host(p) && !(p->without & PROFILE_SAMPLED))
            usage_load(p, &p->host.source, &p->host.usage, e);
        return;
    }
    struct device *d = &p->device[i - LOAD_DEVICES];
    if (device_load(p, d, e) && counters_load(d, p->without, e) &&
        (p->without & PROFILE_SAMPLED || usage_load(p, &d->source, &d->usage, e)) && !(p->without & PROFILE_TASKS))
        task_log_load(d, e);
}

bool profile_load(struct profile *p, const char *path, unsigned n_threads, struct error *e)
{
    return profile_load_without(p, path, 0, n_threads, e);
}

bool profile_load_without(struct profile *p, const char *path, unsigned without, unsigned n_threads, struct error *e)
{
    *p = (struct profile){ .without = without, .mem = arena_new(), .names = names_new() };
    if (!p->mem || !p->names || !known_names_add(p->names))
        return error_no_memory(e, path);
    p->path = arena_text(p->mem, path, strlen(path));
    if (!p->path)
        return error_no_memory(e, path);
    if (!open_sources(p, e) || !collector_load(&p->collector, p->path, p->mem, &p->lost, e) ||
        !seal_load(&p->collector, p->path, SEAL_ALL, n_threads, p->mem, &p->lost, e))
        return false;
    p->platform = p->n_devices > 0 ? p->device[0].source.platform : p->host.source.platform;
    p->chip = chip_of(p->platform);
    p->is_level0 = profile_main_source(p)->settings.is_level0 &&
                   p->chip->task_log != TASK_LOG_CUDA; /* which is complete at every level */
    p->has_unique_ids = has_unique_ids(p);
    p->dictionary.names = p->names;
    if (!dictionary_load(p, e))
        return false;

    struct prof_loading l = { p, arena_take(p->mem, LOAD_DEVICES + p->n_devices, sizeof *l.error) };
    if (!l.error)
        return error_no_memory(e, path);
    pool_run(LOAD_DEVICES + p->n_devices, n_threads, load_one, &l);
    for (size_t i = 0; i < LOAD_DEVICES + p->n_devices; i++)
        if (l.error[i].fault != FAULT_NONE)
            return error_set(e, l.error[i].fault, "%s", l.error[i].text);
    const struct losses others = p->host.source.lost;
    p->host.source.lost = p->host.calls_lost;
    losses_merge(&p->host.source.lost, &others);
    if (names_failed(p->names))
        return error_no_memory(e, path);
    return true;
}

void profile_free(struct profile *p)
{
    for (size_t i = 0; i < p->n_devices; i++)
        source_close(&p->device[i].source);
    if (p->host.source.path)
        source_close(&p->host.source);
    arena_free(p->host.calls_mem);
    dictionary_fini(&p->dictionary);
    names_free(p->names);
    arena_free(p->mem);
    *p = (struct profile){ 0 };
}
