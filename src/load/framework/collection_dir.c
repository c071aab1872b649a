/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/collection_load.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/text/framework_names.h"
#include "base/text/json_memory.h"
#include "load/prof/prof.h"
#include "profile/collection.h"

/* Loads the metadata that a job added to its collection, as JSON texts. */

/* Writes JSON as the reference does: characters beyond ASCII are escaped, with hexadecimal digits in lower case. */
static char *json_ascii(const json_t *value, size_t flags)
{
    char *const text = json_dumps(value, JSON_ENSURE_ASCII | flags);
    for (char *at = text; at && *at; at++) {
        if (*at != '\\')
            continue;
        if (*++at == 'u')
            for (int i = 1; i <= 4; i++)
                at[i] = (char)tolower((unsigned char)at[i]);
    }
    return text;
}

/* As the collector writes them, in its order. */
static json_t *environment_here(void)
{
    json_t *all = json_object();
    for (size_t i = 0; i < NOTED_VARIABLES; i++) {
        const char *value = getenv(noted_variables[i]);
        json_t *text = json_string(value ? value : "");
        json_object_set_new(all, noted_variables[i], text ? text : json_string(""));
    }
    return all;
}

/* The environment of the job if it was recorded, otherwise that of this process, as in the reference. */
static const char *environment(const json_t *of_job, struct arena *mem)
{
    json_t *const here = json_is_object(of_job) ? NULL : environment_here();
    char *const text = json_ascii(here ? here : of_job, 0);
    const char *const copy = text ? arena_text(mem, text, strlen(text)) : NULL;
    free(text);
    json_decref(here);
    return copy;
}

/* Numbers with as few digits as represent them exactly. */
static const char *json_text(const json_t *value, struct arena *mem)
{
    const char *copy = NULL;
    for (unsigned digits = 15; digits <= 17 && !copy; digits++) {
        json_error_t why;
        char *text = json_ascii(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        json_t *back = text ? json_read(text, strlen(text), JSON_DECODE_ANY, &why) : NULL;
        if (text && (digits == 17 || json_equal(back, value)))
            copy = arena_text(mem, text, strlen(text));
        json_decref(back);
        free(text);
    }
    return copy;
}

/* The job may have noted its own environment, too, under the same name: both are kept, as the reference does. */
/* The environment: of_job, or that of the analysis if it is not an object. Then the members of profiler_metadata.json
 * (NULL: there is none). False: no memory. */
static bool metadata_load(struct metadata *out, const json_t *of_job, const json_t *noted, struct arena *mem)
{
    const size_t n = json_object_size(noted) + 1;
    struct metadata m = { .row = arena_take(mem, n, sizeof *m.row) };
    if (!m.row)
        return false;
    m.row[m.n++] = (struct metadata_row){ "ENV_VARIABLES", environment(of_job, mem) };
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)noted, name, value) m.row[m.n++] =
        (struct metadata_row){ arena_text(mem, name, strlen(name)), json_text(value, mem) };
    *out = m;
    return !json_memory_failed() && !arena_failed(mem);
}

/* profiler_metadata.json holds what users put into it; the collector takes 50 KB of that. */
enum { JSON_FILE_MOST = 8 << 20 };

/* PROF_000001_20240814025154113_ABCDEF */
static bool is_prof_name(const char *name)
{
    const char *p = name + 5;
    if (strncmp(name, "PROF_", 5) != 0)
        return false;
    for (int part = 0; part < 2; part++, p++) {
        if (!isdigit((unsigned char)*p))
            return false;
        while (isdigit((unsigned char)*p))
            p++;
        if (*p != '_')
            return false;
    }
    return isalnum((unsigned char)*p);
}

/* profiler_info.json, profiler_info_7.json */
static bool is_info_name(const char *name)
{
    const char *p = name + 13;
    if (strncmp(name, "profiler_info", 13) != 0)
        return false;
    if (*p == '_' && isdigit((unsigned char)p[1]))
        for (p++; isdigit((unsigned char)*p);)
            p++;
    return strcmp(p, ".json") == 0;
}

static void keep_first(char to[NAME_MAX + 1], const char *name)
{
    if (strlen(name) <= NAME_MAX && (!*to || strcmp(name, to) < 0))
        memcpy(to, name, strlen(name) + 1);
}

static void dir_find(struct collection_dir *p, const char *path)
{
    DIR *dir = inside_list(path);
    int unknown = 0;
    *p = (struct collection_dir){ .why = dir ? 0 : errno };
    for (const char *name; dir && (name = dir_next(dir, &p->why));) {
        struct stat st;
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            unknown = errno == ENOENT ? unknown : errno; /* renamed or removed meanwhile: it is not there */
            continue;
        }
        const bool is_dir = S_ISDIR(st.st_mode);
        p->has_framework |= is_dir && strcmp(name, "FRAMEWORK") == 0;
        p->has_collection |= is_dir && (strcmp(name, "host") == 0 || strncmp(name, "device_", 7) == 0);
        p->has_metadata |= strcmp(name, "profiler_metadata.json") == 0;
        if (is_dir && is_prof_name(name))
            keep_first(p->prof, name);
        if (is_info_name(name))
            keep_first(p->info, name);
    }
    if (dir)
        closedir(dir);
    p->why = p->why ? p->why : unknown;
}

/* A directory that only holds PROF directories is the parent of collections, not a collection. */
static bool is_collection(const struct collection_dir *p)
{
    return !p->has_collection && (p->has_framework || (*p->prof && *p->info));
}

bool collection_dir_is_one(const char *path, int *why)
{
    struct collection_dir d;
    dir_find(&d, path);
    *why = d.why;
    return d.why == 0 && is_collection(&d);
}

/* NULL: it cannot be used, which is counted, or there is no memory: see json_memory_failed() and arena_failed(). */
static json_t *read_object(struct collection *s, const char *name)
{
    const char *path = arena_printf(s->mem, "%s/%s", s->path, name);
    struct stat st;
    int why;
    const int fd = path ? file_open(AT_FDCWD, path, &st, &why) : -1;
    if (!path)
        return NULL;
    json_t *object = NULL;
    size_t len = 0;
    if (fd >= 0) {
        char *text = st.st_size <= JSON_FILE_MOST ? arena_take(s->mem, (size_t)st.st_size + 1, 1) : NULL;
        json_error_t unused;
        if (text && file_read(fd, text, (size_t)st.st_size, &len, &why))
            object = json_read(text, len, 0, &unused);
        close(fd);
    }
    if (object && !json_is_object(object)) {
        json_decref(object);
        object = NULL;
    }
    if (!object)
        losses_add(&s->lost, LOSS_UNREADABLE, 1, arena_text(s->mem, name, strlen(name)), 0);
    return object;
}

bool json_flag(const json_t *object, const char *key, bool otherwise)
{
    const json_t *v = json_object_get(object, key);
    return json_is_boolean(v) ? json_is_true(v) : v ? false : otherwise;
}

bool json_lists(const json_t *list, const char *word)
{
    if (json_is_string(list))
        return strcmp(json_string_value(list), word) == 0;
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) if (json_is_string(v) && strcmp(json_string_value(v), word) == 0) return true;
    return false;
}

/* An empty profile, which has names and memory as any other. */
static bool profile_empty(struct profile *p)
{
    *p = (struct profile){ .mem = arena_new(), .names = names_new(), .platform = PLATFORM_UNKNOWN };
    p->chip = chip_of(PLATFORM_UNKNOWN);
    p->dictionary.names = p->names;
    return p->mem && p->names && known_names_add(p->names);
}

static bool collection_device_load(struct collection *s, const char *prof, const struct collection_request *r,
                                   struct error *e)
{
    const char *path = *prof ? arena_printf(s->mem, "%s/%s", s->path, prof) : NULL;
    s->has_device = path && profile_load_without(&s->profile, path, r->without, r->n_threads, &s->device_error);
    if (s->has_device && s->profile.chip->task_log == TASK_LOG_CUDA && s->settings.level == PROFILER_LEVEL0)
        s->settings.level = PROFILER_LEVEL1; /* a GPU is recorded the same at all levels */
    if (s->has_device)
        return true;
    if (s->device_error.fault == FAULT_LIMIT)
        return error_set(e, FAULT_LIMIT, "%s", s->device_error.text);
    profile_free(&s->profile);
    return (profile_empty(&s->profile) && !arena_failed(s->mem)) || error_no_memory(e, s->path);
}

bool collection_dir_open(struct collection *s, enum framework_id framework, const char *path, struct collection_dir *d,
                         json_t **info, struct error *e)
{
    *info = NULL;
    *s = (struct collection){ .framework_id = framework, .mem = arena_new() };
    s->path = s->mem ? arena_text(s->mem, path, strlen(path)) : NULL;
    if (!s->path)
        return error_no_memory(e, path);
    const char *slash = strrchr(s->path, '/');
    s->name = slash ? slash + 1 : s->path;
    dir_find(d, path);
    if (d->why != 0)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(d->why));
    if (!is_collection(d))
        return error_set(e, FAULT_IO, "%s: contains neither a FRAMEWORK nor a PROF directory", path);
    *info = *d->info ? read_object(s, d->info) : NULL;
    json_t *noted = d->has_metadata ? read_object(s, "profiler_metadata.json") : NULL;
    if (!*d->info)
        losses_add(&s->lost, LOSS_UNREADABLE, 1, "profiler_info.json", 0);
    const bool is_read =
        metadata_load(&s->metadata, json_object_get(*info, "environment"), noted, s->mem) && !json_memory_failed();
    json_decref(noted);
    if (!is_read || arena_failed(s->mem))
        return error_no_memory(e, path);
    return collector_load(&s->collector, s->path, s->mem, &s->lost, e);
}

void collection_activities(struct collection *s, const struct collection_dir *d, const json_t *list, const char *cpu,
                           const char *npu)
{
    const bool has_list = json_is_array(list), wants_cpu = !has_list || json_lists(list, cpu);
    s->settings.has_cpu = d->has_framework && wants_cpu;
    s->settings.has_npu = *d->prof; /* a PROF directory is read in any case */
    if (has_list && wants_cpu && !d->has_framework)
        losses_add(&s->lost, LOSS_UNREADABLE, 1, "FRAMEWORK", 0);
    if (has_list && json_lists(list, npu) && !*d->prof)
        losses_add(&s->lost, LOSS_UNREADABLE, 1, "PROF_XXX", 0);
}

bool collection_parts_load(struct collection *s, const struct collection_dir *d, const struct collection_request *r,
                           struct error *e)
{
    if (!seal_load(&s->collector, s->path, SEAL_ALL, r->n_threads, s->mem, &s->lost, e) ||
        !collection_device_load(s, s->settings.has_npu ? d->prof : "", r, e))
        return false;
    if (!s->settings.has_cpu && !s->has_device)
        return error_set(e, s->device_error.fault ? s->device_error.fault : FAULT_IO, "%s",
                         s->device_error.fault ? s->device_error.text : "nothing that was asked for is there");
    if (s->profile.collector.is_there && !s->collector.is_there)
        s->collector = s->profile.collector;
    return true;
}

bool collection_dir_look(struct collection *s, const struct collection_dir *d, const struct framework_format *format,
                         struct collection_look *out, struct error *e)
{
    out->prof = *d->prof ? arena_printf(s->mem, "%s/%s", s->path, d->prof) : NULL;
    for (size_t i = 0; i < FRAMEWORK_FILES; i++) {
        struct stat st;
        const char *name = format->name[i], *file = name ? arena_printf(s->mem, "%s/%s", s->path, name) : NULL;
        const bool is_there = file && inside_stat(file, &st) == 0;
        if (file && !is_there && errno != ENOENT && errno != ENOTDIR)
            losses_add(&s->lost, LOSS_UNREADABLE, 1, name, 0);
        out->name[i] = name;
        out->bytes[i] = is_there && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
    }
    return !arena_failed(s->mem) || error_no_memory(e, s->path);
}
