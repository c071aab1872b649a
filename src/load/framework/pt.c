/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/collection_load.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/stamp.h"
#include "load/framework/framework_loaders.h"
#include "load/prof/prof.h"

/* Counters have a frequency between these. With a number outside of them, which a damaged file may have, times would
 * not be finite. */
#define MHZ_LEAST 1e-6
#define MHZ_MOST  1e6

/* The clock as profiler_info*.json describes it. */
struct noted_clock {
    bool is_known; /* the file is there */
    bool is_counter;
    double mhz;
    int64_t count, mono_ns, wall_offset_ns;
};

static enum profiler_level level_of(const char *word)
{
    static const char *const name[] = { "Level_none", "Level0", "Level1", "Level2" };
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(word, name[i]) == 0)
            return (enum profiler_level)i;
    return PROFILER_LEVEL0;
}

/* Missing values have the reference's defaults. Without the file, all data that exists counts as requested. */
static void read_settings(struct collection *s, const json_t *info, const struct collection_dir *d)
{
    const json_t *config = json_object_get(info, "config"), *common = json_object_get(config, "common_config"),
                 *more = json_object_get(config, "experimental_config"), *rank = json_object_get(info, "rank_id"),
                 *types = json_object_get(more, "_export_type");
    struct collection_settings *t = &s->settings;
    collection_activities(s, d, json_object_get(common, "activities"), "ProfilerActivity.CPU", "ProfilerActivity.NPU");
    t->record_shapes = json_flag(common, "record_shapes", false);
    t->profile_memory = json_flag(common, "profile_memory", false);
    t->with_stack = json_flag(common, "with_stack", false);
    t->with_modules = json_flag(common, "with_modules", false);
    t->level = level_of(setting_text(more, "_profiler_level"));
    t->l2_cache = json_flag(more, "_l2_cache", false);
    t->sys_io = json_flag(more, "_sys_io", false);
    t->sys_interconnection = json_flag(more, "_sys_interconnection", false);
    t->simplifies = json_flag(more, "_data_simplification", true);
    t->wants_db = json_lists(types, "db");
    t->wants_text = json_lists(types, "text") || !t->wants_db;
    t->is_simulated = json_flag(info, "simulated", false);
    t->rank = setting_number(info, "rank_id", -1);
    t->has_rank = rank && t->rank >= 0;
}

static double pt_number_of(const json_t *object, const char *key, double otherwise)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : otherwise;
}

static struct noted_clock read_clock(const json_t *info)
{
    const json_t *start = json_object_get(info, "start_info"), *end = json_object_get(info, "end_info");
    return (struct noted_clock){
        .is_known = info,
        .is_counter = json_flag(start, "syscnt_enable", false),
        .mhz = pt_number_of(start, "freq", 100),
        .count = setting_number(start, "start_cnt", 0),
        .mono_ns = setting_number(start, "start_monotonic", 0),
        .wall_offset_ns =
            wrap_sub(setting_number(end, "collectionTimeEnd", 0), setting_number(end, "MonotonicTimeEnd", 0)),
    };
}

/* Finds the unit of stamps if profiler_info*.json is missing. Both collectors use the counter under the same condition,
 * so that the clock of the PROF directory decides; without one, ascope.json may have it. */
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

static bool no_unit(const struct collection *s, const char *info, struct error *e)
{
    const char *path = *info ? arena_printf(s->mem, "%s/%s", s->path, info) : NULL;
    struct stat st;
    int why = 0;
    const int fd = path ? file_open(AT_FDCWD, path, &st, &why) : -1;
    if (fd >= 0)
        close(fd);
    else if (path)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
    return error_set(
        e, FAULT_FORMAT,
        "%s: no readable profiler_info_*.json, and the unit of its times (nanoseconds or counter ticks) is unknown; "
        "restore the file, or create one with {\"start_info\": {\"syscnt_enable\": false}} if they are nanoseconds",
        s->path);
}

/* The clock of the PROF directory if there is one, otherwise that of PyTorch's own settings. */
static bool find_clock(const struct collection *s, const char *info, const struct noted_clock *noted,
                       struct framework_clock *out, struct error *e)
{
    struct framework_clock c = { .is_counter = noted->is_counter,
                                 .ns_per_count = 1,
                                 .count = noted->count,
                                 .mono_ns = noted->mono_ns,
                                 .wall_offset_ns = noted->wall_offset_ns };
    double mhz = noted->mhz;
    if (!noted->is_known && !guess_unit(s, &c.is_counter, &mhz))
        return no_unit(s, info, e);
    if (s->has_device) {
        const struct source *host = profile_main_source(&s->profile);
        c.wall_offset_ns = host->wall_offset_ns;
        c.count = (int64_t)host->host_clock.cnt;
        c.mono_ns = host->host_clock.ns;
        mhz = host->host_clock.tick.num == host->host_clock.tick.den ? 1000 : strtod(host->settings.host_mhz, NULL);
    }
    if (mhz >= MHZ_LEAST && mhz <= MHZ_MOST)
        c.ns_per_count = 1000 / mhz;
    *out = c;
    return true;
}

bool pt_is_one(const char *path, int *why)
{
    return collection_dir_is_one(path, why);
}

static bool open_parts(struct collection *s, const char *path, struct collection_dir *d, struct noted_clock *clock,
                       struct error *e)
{
    json_t *info;
    const bool done = collection_dir_open(s, FRAMEWORK_PYTORCH, path, d, &info, e);
    if (done) {
        read_settings(s, info, d);
        *clock = read_clock(info);
    }
    json_decref(info);
    return done;
}

bool pt_look(struct collection *s, const char *path, struct collection_look *out, struct error *e)
{
    struct collection_dir d;
    struct noted_clock unused;
    return open_parts(s, path, &d, &unused, e) && collection_dir_look(s, &d, &torch_format, out, e);
}

bool pt_load(struct collection *s, const char *path, const struct collection_request *r, struct error *e)
{
    struct collection_dir d;
    struct noted_clock noted;
    struct framework_clock clock;
    if (!open_parts(s, path, &d, &noted, e) || !collection_parts_load(s, &d, r, e))
        return false;
    if (!d.has_framework)
        return true;
    if (!find_clock(s, d.info, &noted, &clock, e))
        return false;
    const struct framework_request request = { .format = &torch_format,
                                               .clock = clock,
                                               .names = s->profile.names,
                                               .keeps_records = r->keeps_tensors,
                                               .only = s->settings.has_cpu ? 0 : FRAMEWORK_FILE(FRAMEWORK_MEMORY),
                                               .n_threads = r->n_threads };
    const char *framework = arena_printf(s->mem, "%s/FRAMEWORK", path);
    if (!framework || !framework_load(&s->framework, framework, &request, e))
        return error_no_memory(e, path);
    return !names_failed(s->profile.names) || error_no_memory(e, path);
}
