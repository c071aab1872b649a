/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/collection_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/framework/framework_loaders.h"
#include "load/prof/prof.h"

bool ms_is_one(const char *path, int *why)
{
    if (!collection_dir_is_one(path, why))
        return false;
    const char *suffix = framework_names[FRAMEWORK_MINDSPORE].suffix;
    const size_t len = strlen(path), n = strlen(suffix);
    if (len > n && strcmp(path + len - n, suffix) == 0)
        return true;
    struct arena *mem = arena_new();
    const char *framework = mem ? arena_printf(mem, "%s/FRAMEWORK", path) : NULL;
    *why = framework ? 0 : ENOMEM;
    const bool found = framework && ms_files_are_there(framework);
    arena_free(mem);
    return found;
}

static enum profiler_level level_of(const char *word)
{
    static const char *const name[] = { "LevelNone", "Level0", "Level1", "Level2" };
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(word, name[i]) == 0)
            return (enum profiler_level)i;
    return PROFILER_LEVEL0;
}

/* profiler_info_7.json: 7 */
static int64_t rank_in_name(const char *info)
{
    const char *p = strrchr(info, '_');
    return p && strcmp(p, "_info.json") != 0 ? strtoll(p + 1, NULL, 10) : 0;
}

/* Missing values have the reference's defaults, except that data which exists counts as requested unless the file
 * excludes it. */
static void read_settings(struct collection *s, const json_t *info, const struct collection_dir *d)
{
    const json_t *set = json_object_get(info, "profiler_parameters"), *types = json_object_get(set, "export_type"),
                 *activities = json_object_get(set, "activities"), *numbers = json_object_get(info, "ms_profiler_info");
    struct collection_settings *t = &s->settings;
    collection_activities(s, d, activities, "CPU", "NPU");
    t->record_shapes = json_flag(set, "record_shapes", true);
    t->profile_memory = json_flag(set, "profile_memory", true);
    t->data_process = json_flag(set, "data_process", true);
    t->with_stack = json_flag(set, "with_stack", false);
    t->level = info ? level_of(setting_text(set, "profiler_level")) : PROFILER_LEVEL2;
    t->l2_cache = json_flag(set, "l2_cache", false);
    t->sys_io = json_flag(set, "sys_io", false);
    t->sys_interconnection = json_flag(set, "sys_interconnection", json_flag(set, "pcie", false));
    t->simplifies = json_flag(set, "data_simplification", true);
    t->wants_db = json_lists(types, "db");
    t->wants_text = json_lists(types, "text") || !t->wants_db;
    t->has_schedule = json_flag(set, "is_set_schedule", true); /* there are steps only where one was set */
    t->is_whole_graph = strcmp(setting_text(info, "jit_level"), "O2") == 0;
    t->is_simulated = json_flag(info, "simulated", false);
    t->rank = setting_number(numbers, "rank_id", rank_in_name(d->info));
    t->rank = t->rank < 0 ? 0 : t->rank;
    t->dataset = json_is_array(activities) && !json_lists(activities, "NPU")
                     ? setting_number(numbers, "device_id", t->rank)
                     : t->rank; /* as in the reference */
    t->dataset = t->dataset < 0 ? t->rank : t->dataset;
    t->has_rank = true; /* names of files have it in any case */
}

/* Stamps are counts of the host's counter, whose clock only the PROF directory has; without one they are read as counts
 * of 100 MHz. */
static struct framework_clock clock_of(const struct collection *s)
{
    if (!s->has_device)
        return (struct framework_clock){ .is_counter = true, .exact = { 10, 1 } };
    const struct source *host = profile_main_source(&s->profile);
    return (struct framework_clock){ .is_counter = true,
                                     .exact = host->host_clock.tick,
                                     .count = (int64_t)host->host_clock.cnt,
                                     .mono_ns = host->host_clock.ns,
                                     .wall_offset_ns = host->wall_offset_ns };
}

static bool open_parts(struct collection *s, const char *path, struct collection_dir *d,
                       struct framework_format *format, struct error *e)
{
    json_t *info;
    bool done = collection_dir_open(s, FRAMEWORK_MINDSPORE, path, d, &info, e);
    if (done) {
        read_settings(s, info, d);
        done = ms_format_find(format, path, s->settings.rank, s->mem) || error_no_memory(e, path);
    }
    json_decref(info);
    return done;
}

bool ms_look(struct collection *s, const char *path, struct collection_look *out, struct error *e)
{
    struct collection_dir d;
    struct framework_format format;
    return open_parts(s, path, &d, &format, e) && collection_dir_look(s, &d, &format, out, e);
}

bool ms_load(struct collection *s, const char *path, const struct collection_request *r, struct error *e)
{
    struct collection_dir d;
    struct framework_format format;
    if (!open_parts(s, path, &d, &format, e) || !collection_parts_load(s, &d, r, e))
        return false;
    if (!d.has_framework)
        return true;
    const struct framework_request request = { .format = &format,
                                               .clock = clock_of(s),
                                               .names = s->profile.names,
                                               .only = s->settings.has_cpu ? 0 : MS_FILES_WITHOUT_CPU,
                                               .n_threads = r->n_threads };
    const char *framework = arena_printf(s->mem, "%s/FRAMEWORK", path);
    if (!framework || !framework_load(&s->framework, framework, &request, e))
        return error_no_memory(e, path);
    return !names_failed(s->profile.names) || error_no_memory(e, path);
}
