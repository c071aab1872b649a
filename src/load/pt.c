/* SPDX-License-Identifier: Apache-2.0 */
#include "load/pt.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/framework_names.h"
#include "base/json_memory.h"
#include "load/collector_load.h"
#include "load/framework_load.h"
#include "load/metadata_load.h"
#include "load/prof.h"
#include "load/settings_load.h"

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

/* The clock as profiler_info*.json describes it. */
struct noted_clock {
    bool is_known; /* the file is there */
    bool is_counter;
    double mhz;
    int64_t count, mono_ns, wall_offset_ns;
};

/* What lies in the directory: the first of each by name, whatever order the directory keeps. */
struct parts {
    bool has_framework, has_collection; /* a host or device_N folder: this is a PROF directory itself */
    char prof[NAME_MAX + 1], info[NAME_MAX + 1];
    bool has_metadata;
    struct noted_clock clock; /* of profiler_info*.json */
    int why;                  /* something in it could not be looked at */
};

static void keep_first(char to[NAME_MAX + 1], const char *name)
{
    if (strlen(name) <= NAME_MAX && (!*to || strcmp(name, to) < 0))
        memcpy(to, name, strlen(name) + 1);
}

static void parts_find(struct parts *p, const char *path)
{
    DIR *dir = opendir(path);
    int unknown = 0;
    *p = (struct parts){ .why = dir ? 0 : errno };
    for (const char *name; dir && (name = dir_next(dir, &p->why));) {
        struct stat st;
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            unknown = errno;
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
static bool is_collection(const struct parts *p)
{
    return !p->has_collection && (p->has_framework || (*p->prof && *p->info));
}

bool pt_is_one(const char *path, int *why)
{
    struct parts p;
    parts_find(&p, path);
    *why = p.why;
    return p.why == 0 && is_collection(&p);
}

/* NULL: it cannot be used, which is counted; or there is no memory, which json_memory_failed() and the arena report. */
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

static bool flag(const json_t *object, const char *key, bool otherwise)
{
    const json_t *v = json_object_get(object, key);
    return json_is_boolean(v) ? json_is_true(v) : v ? false : otherwise;
}

static bool lists(const json_t *list, const char *word)
{
    if (json_is_string(list))
        return strcmp(json_string_value(list), word) == 0;
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) if (json_is_string(v) && strcmp(json_string_value(v), word) == 0) return true;
    return false;
}

static enum profiler_level level_of(const char *word)
{
    static const char *const name[] = { "Level_none", "Level0", "Level1", "Level2" };
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(word, name[i]) == 0)
            return (enum profiler_level)i;
    return PROFILER_LEVEL0;
}

/* Missing values have the reference's defaults. Without the file, all data that exists counts as requested. */
static void read_settings(struct collection *s, const json_t *info, const struct parts *p)
{
    const json_t *config = json_object_get(info, "config"), *common = json_object_get(config, "common_config"),
                 *more = json_object_get(config, "experimental_config"), *rank = json_object_get(info, "rank_id"),
                 *activities = json_object_get(common, "activities"), *types = json_object_get(more, "_export_type");
    struct collection_settings *t = &s->settings;
    const bool has_list = json_is_array(activities);
    t->has_cpu = p->has_framework && (!has_list || lists(activities, "ProfilerActivity.CPU"));
    t->has_npu = *p->prof; /* a PROF directory is read in any case */
    if (has_list) {
        if (lists(activities, "ProfilerActivity.CPU") && !p->has_framework)
            losses_add(&s->lost, LOSS_UNREADABLE, 1, "FRAMEWORK", 0);
        if (lists(activities, "ProfilerActivity.NPU") && !*p->prof)
            losses_add(&s->lost, LOSS_UNREADABLE, 1, "PROF_XXX", 0);
    }
    t->record_shapes = flag(common, "record_shapes", false);
    t->profile_memory = flag(common, "profile_memory", false);
    t->with_stack = flag(common, "with_stack", false);
    t->with_modules = flag(common, "with_modules", false);
    t->level = level_of(setting_text(more, "_profiler_level"));
    t->l2_cache = flag(more, "_l2_cache", false);
    t->sys_io = flag(more, "_sys_io", false);
    t->sys_interconnection = flag(more, "_sys_interconnection", false);
    t->simplifies = flag(more, "_data_simplification", true);
    t->wants_db = lists(types, "db");
    t->wants_text = lists(types, "text") || !t->wants_db;
    t->is_simulated = flag(info, "simulated", false);
    t->rank = setting_number(info, "rank_id", -1);
    t->has_rank = rank && t->rank >= 0;
}

static double number_of(const json_t *object, const char *key, double otherwise)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : otherwise;
}

static struct noted_clock read_clock(const json_t *info)
{
    const json_t *start = json_object_get(info, "start_info"), *end = json_object_get(info, "end_info");
    return (struct noted_clock){
        .is_known = info,
        .is_counter = flag(start, "syscnt_enable", false),
        .mhz = number_of(start, "freq", 100),
        .count = setting_number(start, "start_cnt", 0),
        .mono_ns = setting_number(start, "start_monotonic", 0),
        .wall_offset_ns = setting_number(end, "collectionTimeEnd", 0) - setting_number(end, "MonotonicTimeEnd", 0),
    };
}

/* What stamps are counted in where profiler_info*.json is gone. Both collectors read the counter on the same condition, so the
 * clock of the PROF directory decides; and what recorded the collection may have noted it. */
static bool guess_unit(const struct collection *s, bool *is_counter, double *mhz)
{
    const struct collector *c = &s->collector;
    if (s->has_device) {
        const struct ticks tick = profile_main_source(&s->profile)->host_clock.tick;
        *is_counter = tick.num != tick.den;
        return true;
    }
    *is_counter = c->clock == COLLECTOR_CLOCK_COUNTER;
    *mhz = c->mhz;
    return c->is_there && (c->clock == COLLECTOR_CLOCK_NS || (*is_counter && c->mhz > 0));
}

/* The clock of the device's tool where it is there, and what PyTorch noted itself otherwise. */
static bool find_clock(const struct collection *s, const struct noted_clock *noted, struct framework_clock *out,
                       struct error *e)
{
    struct framework_clock c = { .is_counter = noted->is_counter,
                                 .ns_per_count = 1,
                                 .count = noted->count,
                                 .mono_ns = noted->mono_ns,
                                 .wall_offset_ns = noted->wall_offset_ns };
    double mhz = noted->mhz;
    if (!noted->is_known && !guess_unit(s, &c.is_counter, &mhz))
        return error_set(
            e, FAULT_FORMAT,
            "%s: no readable profiler_info_*.json, and the unit of its times (nanoseconds or counter ticks) is unknown; restore the file, or create one with {\"start_info\": {\"syscnt_enable\": false}} if they are nanoseconds",
            s->path);
    if (s->has_device) {
        const struct source *host = profile_main_source(&s->profile);
        c.wall_offset_ns = host->wall_offset_ns;
        c.count = (int64_t)host->host_clock.cnt;
        c.mono_ns = host->host_clock.ns;
        mhz = host->host_clock.tick.num == host->host_clock.tick.den ? 1000 : strtod(host->settings.host_mhz, NULL);
    }
    if (mhz > 0)
        c.ns_per_count = 1000 / mhz;
    *out = c;
    return true;
}

/* A profile of nothing, so that names and memory are where they always are. */
static bool profile_empty(struct profile *p)
{
    *p = (struct profile){ .mem = arena_new(), .names = names_new(), .platform = PLATFORM_UNKNOWN };
    p->chip = chip_of(PLATFORM_UNKNOWN);
    p->dictionary.names = p->names;
    return p->mem && p->names && known_names_add(p->names);
}

/* False only without memory: a PROF directory that cannot be used leaves what PyTorch recorded. */
static bool load_device(struct collection *s, const char *prof, unsigned n_threads, struct error *e)
{
    const char *path = *prof ? arena_printf(s->mem, "%s/%s", s->path, prof) : NULL;
    s->has_device = path && profile_load(&s->profile, path, n_threads, &s->device_error);
    if (s->has_device)
        return true;
    if (s->device_error.fault == FAULT_LIMIT)
        return error_set(e, FAULT_LIMIT, "%s", s->device_error.text);
    profile_free(&s->profile);
    return (profile_empty(&s->profile) && !arena_failed(s->mem)) || error_no_memory(e, s->path);
}

static bool open_parts(struct collection *s, const char *path, struct parts *p, struct error *e)
{
    *s = (struct collection){ .framework_name = framework_names[FRAMEWORK_PYTORCH].name, .mem = arena_new() };
    s->path = s->mem ? arena_text(s->mem, path, strlen(path)) : NULL;
    if (!s->path)
        return error_no_memory(e, path);
    const char *slash = strrchr(s->path, '/');
    s->name = slash ? slash + 1 : s->path;
    parts_find(p, path);
    if (p->why != 0)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(p->why));
    if (!is_collection(p))
        return error_set(e, FAULT_IO, "%s: contains neither a FRAMEWORK nor a PROF directory", path);
    json_t *info = *p->info ? read_object(s, p->info) : NULL;
    json_t *noted = p->has_metadata ? read_object(s, "profiler_metadata.json") : NULL;
    if (!*p->info)
        losses_add(&s->lost, LOSS_UNREADABLE, 1, "profiler_info.json", 0);
    read_settings(s, info, p);
    p->clock = read_clock(info);
    const bool is_read = metadata_load(&s->metadata, noted, s->mem) && !json_memory_failed();
    json_decref(info);
    json_decref(noted);
    if (!is_read || arena_failed(s->mem))
        return error_no_memory(e, path);
    return collector_load(&s->collector, s->path, s->mem, &s->lost, e);
}

bool pt_look(struct collection *s, const char *path, struct collection_look *out, struct error *e)
{
    struct parts p;
    if (!open_parts(s, path, &p, e))
        return false;
    out->prof = *p.prof ? arena_printf(s->mem, "%s/%s", path, p.prof) : NULL;
    for (size_t i = 0; i < FRAMEWORK_FILES; i++) {
        struct stat st;
        const char *file = arena_printf(s->mem, "%s/%s", path, framework_file_name[i]);
        const bool is_there = file && lstat(file, &st) == 0;
        if (file && !is_there && errno != ENOENT && errno != ENOTDIR)
            losses_add(&s->lost, LOSS_UNREADABLE, 1, framework_file_name[i], 0);
        out->bytes[i] = is_there && S_ISREG(st.st_mode) ? (int64_t)st.st_size : -1;
    }
    return !arena_failed(s->mem) || error_no_memory(e, path);
}

bool pt_load(struct collection *s, const char *path, const struct collection_request *r, struct error *e)
{
    struct parts p;
    if (!open_parts(s, path, &p, e) || !load_device(s, s->settings.has_npu ? p.prof : "", r->n_threads, e))
        return false;
    if (!s->settings.has_cpu && !s->has_device)
        return error_set(e, s->device_error.fault ? s->device_error.fault : FAULT_IO, "%s",
                         s->device_error.fault ? s->device_error.text : "nothing that was asked for is there");
    if (s->profile.collector.is_there && !s->collector.is_there)
        s->collector = s->profile.collector;
    if (!p.has_framework)
        return true;
    struct framework_clock clock;
    if (!find_clock(s, &p.clock, &clock, e))
        return false;
    const struct framework_request request = { .clock = clock,
                                               .names = s->profile.names,
                                               .keeps_records = r->keeps_tensors,
                                               .only_memory = !s->settings.has_cpu,
                                               .n_threads = r->n_threads };
    const char *framework = arena_printf(s->mem, "%s/FRAMEWORK", path);
    if (!framework || !framework_load(&s->framework, framework, &request, e))
        return error_no_memory(e, path);
    return !names_failed(s->profile.names) || error_no_memory(e, path);
}
