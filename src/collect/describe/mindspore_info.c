/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/describe/recording_files.h"

#include <stdio.h>
#include <string.h>

#include "collect/describe/json_text.h"
#include "collect/options/option_values.h"
#include "collect/options/options.h"
#include "collect/session/place.h"

struct mindspore_info_member {
    const char *key;
    void (*put)(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m);
    size_t at;    /* of the option */
    bool is_true; /* without one */
};

static void put_constant(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)s;
    json_text_add(t, "%s", m->is_true ? "true" : "false");
}

static void put_switch(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    json_text_add(t, "%s", *(const bool *)((const char *)&s->o + m->at) ? "true" : "false");
}

static void put_is_set(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)m;
    json_text_add(t, "%s", s->has_schedule ? "true" : "false");
}

static void put_path(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)m;
    json_text_string(t, s->o.parent_dir ? s->o.parent_dir : ".");
}

static void put_level(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)m;
    json_text_string(t, s->o.level == ASCOPE_LEVEL_NONE ? "LevelNone" : options_level_name(s->o.level));
}

static void put_metrics(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    const char *const name = options_metrics_name(s->o.metrics);
    (void)m;
    json_text_string(t, s->o.metrics == ASCOPE_NO_METRICS || !name ? "None" : name);
}

/* ---- lists: an item in each line ---- */

static void item_add(struct json_text *t, bool *is_first, const char *name, size_t n)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1), name);
    json_text_add(t, "%s\n            ", *is_first ? "[" : ",");
    json_text_string(t, text);
    *is_first = false;
}

static void items_end(struct json_text *t, bool is_empty)
{
    json_text_add(t, "%s", is_empty ? "[]" : "\n        ]");
}

static void put_bits(struct json_text *t, uint64_t bits, const char *(*name)(unsigned bit))
{
    bool is_first = true;
    for (unsigned i = 0; name(i); i++)
        if (bits >> i & 1)
            item_add(t, &is_first, name(i), strlen(name(i)));
    items_end(t, is_first);
}

static const char *activity_name(unsigned bit)
{
    static const char *const names[] = { "CPU", "NPU", NULL };
    return names[bit];
}

static const char *export_name(unsigned bit)
{
    static const char *const names[] = { "text", "db", NULL };
    return names[bit];
}

static void put_activities(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)m;
    put_bits(t, s->o.activities, activity_name);
}

static void put_host_sys(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)m;
    put_bits(t, s->o.host_sys, options_host_sys_name);
}

static void put_exports(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)m;
    put_bits(t, (uint64_t)s->o.export_text | (uint64_t)s->o.export_db << 1, export_name);
}

static void put_names(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    const char *list = *(const char *const *)((const char *)&s->o + m->at), *name;
    size_t n;
    bool is_first = true;
    while (list && list_next(&list, &name, &n))
        item_add(t, &is_first, name, n);
    items_end(t, is_first);
}

/* Without a schedule, MindSpore writes one with active = 1. */
static void put_schedule(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    const struct ascope_schedule none = { .active = 1 }, *const p = s->has_plan ? &s->plan : &none;
    (void)m;
    json_text_add(t,
                  "{\n            \"wait\": %lld,\n            \"active\": %lld,\n            \"warmup\": %lld,\n"
                  "            \"repeat\": %lld,\n            \"skip_first\": %lld\n        }",
                  (long long)p->wait, (long long)p->active, (long long)p->warmup, (long long)p->repeat,
                  (long long)p->skip_first);
}

static void put_rank(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)m;
    json_text_add(t, "\"%d\"", s->rank);
}

/* Of the directory, where there is one: what the front end says is what the program asked for. */
static void put_device(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)m;
    json_text_add(t, "\"%d\"", s->n_devices > 0 ? s->devices[0].is.id : 0);
}

static void put_nothing(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)s, (void)m;
    json_text_add(t, "{}");
}

static void put_version(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)s, (void)m;
    json_text_add(t, "\"ascope " ASCOPE_VERSION "\"");
}

static void put_unknown(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)s, (void)m;
    json_text_add(t, "\"not known\"");
}

static void put_empty(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m)
{
    (void)s, (void)m;
    json_text_add(t, "\"\"");
}

/* ---- the rows, in the order of MindSpore's file ---- */

#define OPTION(name)   offsetof(struct ascope_options, name), false
#define CONSTANT(is_t) 0, is_t
/* clang-format off */
static const struct mindspore_info_member parameters[] = {
    { "is_set_schedule", put_is_set, CONSTANT(false) },
    { "output_path", put_path, CONSTANT(false) },
    { "profiler_level", put_level, CONSTANT(false) },
    { "activities", put_activities, CONSTANT(false) },
    { "aic_metrics", put_metrics, CONSTANT(false) },
    { "with_stack", put_switch, OPTION(with_stack) },
    { "profile_memory", put_switch, OPTION(profile_memory) },
    { "data_process", put_constant, CONSTANT(false) },
    { "parallel_strategy", put_constant, CONSTANT(false) },
    { "start_profile", put_constant, CONSTANT(true) },
    { "l2_cache", put_switch, OPTION(l2_cache) },
    { "hbm_ddr", put_constant, CONSTANT(false) },
    { "pcie", put_constant, CONSTANT(false) },
    { "sys_io", put_switch, OPTION(sys_io) },
    { "sys_interconnection", put_switch, OPTION(sys_interconnection) },
    { "host_sys", put_host_sys, CONSTANT(false) },
    { "sync_enable", put_constant, CONSTANT(true) },
    { "data_simplification", put_switch, OPTION(data_simplification) },
    { "record_shapes", put_switch, OPTION(record_shapes) },
    { "export_type", put_exports, CONSTANT(false) },
    { "mstx", put_switch, OPTION(mstx) },
    { "mstx_domain_include", put_names, OPTION(mstx_domain_include) },
    { "mstx_domain_exclude", put_names, OPTION(mstx_domain_exclude) },
    { "schedule", put_schedule, CONSTANT(false) },
    { 0 },
};
static const struct mindspore_info_member places[] = {
    { "rank_id", put_rank, CONSTANT(false) },
    { "device_id", put_device, CONSTANT(false) },
    { 0 },
};
static const struct mindspore_info_member rest[] = {
    { "cann_profiler_info", put_nothing, CONSTANT(false) },
    { "analysis_cost_time", put_nothing, CONSTANT(false) },
    { "ms_version", put_version, CONSTANT(false) },
    { "cann_version", put_unknown, CONSTANT(false) },
    { "jit_level", put_empty, CONSTANT(false) },
    { 0 },
};
/* clang-format on */

static void members(struct json_text *t, const struct ascope_session *s, const struct mindspore_info_member *m,
                    const char *indent)
{
    for (const char *comma = ""; m->key; m++, comma = ",") {
        size_t n = 0;
        const char *const said = s->o.framework_info ? json_member(s->o.framework_info, m->key, &n) : NULL;
        json_text_add(t, "%s\n%s\"%s\": ", comma, indent, m->key);
        if (said && !(m->put == put_device && s->n_devices > 0))
            json_text_add(t, "%.*s", (int)n, said);
        else
            m->put(t, s, m);
    }
}

bool mindspore_info_write(const struct ascope_session *s, struct error *e)
{
    struct json_text t = { 0 };
    char path[PATH_MAX + 64];
    json_text_add(&t, "{\n    \"profiler_parameters\": {");
    members(&t, s, parameters, "        ");
    json_text_add(&t, "\n    },\n    \"ms_profiler_info\": {");
    members(&t, s, places, "        ");
    json_text_add(&t, "\n    },");
    members(&t, s, rest, "    ");
    if (s->n_devices > 0 && s->devices[0].is.is_simulated)
        json_text_add(&t, ",\n    \"simulated\": true");
    json_text_add(&t, "\n}");
    snprintf(path, sizeof path, "%s/profiler_info_%d.json", s->path, s->rank);
    const bool is_written = t.is_short ? error_no_memory(e, path) : place_file(path, t.at, t.n, session_how(s), e);
    json_text_fini(&t);
    return is_written;
}
