#include "collect/session.h"

#include <stdio.h>

#include "collect/json_text.h"
#include "collect/options.h"
#include "collect/place.h"

static const char *truth(bool is_true)
{
    return is_true ? "true" : "false";
}

/* A list of texts, one on a line, as Python writes it with an indent of 4. */
static void list_begin(struct json_text *t, const char *key)
{
    json_text_add(t, "            \"%s\": [", key);
}
static void list_item(struct json_text *t, unsigned *n, const char *text)
{
    json_text_add(t, "%s\n                ", (*n)++ > 0 ? "," : "");
    json_text_string(t, text);
}
static void list_end(struct json_text *t, unsigned n, const char *after)
{
    json_text_add(t, n > 0 ? "\n            ]%s\n" : "]%s\n", after);
}

static void names_list(struct json_text *t, const char *key, const char *names, const char *after)
{
    unsigned n = 0;
    char name[1024];
    list_begin(t, key);
    for (const char *at = names ? names : ""; *at;) {
        int used = 0;
        while (at[used] && at[used] != ',' && used < (int)sizeof name - 1)
            used++;
        snprintf(name, sizeof name, "%.*s", used, at);
        list_item(t, &n, name);
        at += used;
        at += *at == ',';
    }
    list_end(t, n, after);
}

static void common_config(struct json_text *t, const struct ascope_session *s)
{
    const struct ascope_options *o = &s->o;
    const struct ascope_schedule *p = &s->plan;
    unsigned n = 0;
    json_text_add(t, "        \"common_config\": {\n");
    list_begin(t, "activities");
    if (o->activities & ASCOPE_CPU)
        list_item(t, &n, "ProfilerActivity.CPU");
    if (o->activities & ASCOPE_NPU)
        list_item(t, &n, "ProfilerActivity.NPU");
    list_end(t, n, ",");
    if (s->has_plan)
        json_text_add(
            t,
            "            \"schedule\": {\n                \"wait\": %lld,\n                \"active\": %lld,\n"
            "                \"warmup\": %lld,\n                \"repeat\": %lld,\n"
            "                \"skip_first\": %lld,\n                \"skip_first_wait\": %lld\n            },\n",
            (long long)p->wait, (long long)p->active, (long long)p->warmup, (long long)p->repeat,
            (long long)p->skip_first, (long long)p->skip_first_wait);
    else
        json_text_add(t, "            \"schedule\": %s,\n", s->has_schedule ? "{}" : "null");
    json_text_add(
        t,
        "            \"record_shapes\": %s,\n            \"profile_memory\": %s,\n            \"with_stack\": %s,\n"
        "            \"with_flops\": %s,\n            \"with_modules\": %s\n        },\n",
        truth(o->record_shapes), truth(o->profile_memory), truth(o->with_stack), truth(o->with_flops),
        truth(o->with_modules));
}

static void experimental_config(struct json_text *t, const struct ascope_session *s)
{
    const struct ascope_options *o = &s->o;
    unsigned n = 0;
    json_text_add(
        t,
        "        \"experimental_config\": {\n            \"_profiler_level\": \"%s\",\n"
        "            \"_aic_metrics\": \"%s\",\n            \"_l2_cache\": %s,\n            \"_msprof_tx\": %s,\n"
        "            \"_mstx\": %s,\n            \"_data_simplification\": %s,\n            \"record_op_args\": %s,\n",
        options_level_name(o->level), options_metrics_acl_name(o->metrics), truth(o->l2_cache), truth(o->mstx),
        truth(o->mstx), truth(o->data_simplification), truth(o->record_op_args));
    list_begin(t, "_export_type");
    if (o->export_text)
        list_item(t, &n, "text");
    if (o->export_db)
        list_item(t, &n, "db");
    list_end(t, n, ",");
    list_begin(t, "_host_sys");
    n = 0;
    for (unsigned i = 0; options_host_sys_name(i); i++)
        if (o->host_sys & 1u << i)
            list_item(t, &n, options_host_sys_name(i));
    list_end(t, n, ",");
    json_text_add(t, "            \"_op_attr\": %s,\n            \"_gc_detect_threshold\": ", truth(o->op_attr));
    if (o->gc_threshold_ms >= 0)
        json_text_add(t, "%g,\n", o->gc_threshold_ms);
    else
        json_text_add(t, "null,\n");
    names_list(t, "_mstx_domain_include", o->mstx_domain_include, ",");
    names_list(t, "_mstx_domain_exclude", o->mstx_domain_exclude, ",");
    json_text_add(t, "            \"_sys_io\": %s,\n            \"_sys_interconnection\": %s\n        }\n    },\n",
                  truth(o->sys_io), truth(o->sys_interconnection));
}

bool profiler_info_write(const struct ascope_session *s, struct error *e)
{
    struct json_text t = { 0 };
    char path[PATH_MAX + 64], suffix[24] = "";
    /* Whoever reads it makes the wall clock's distance from the end. Before that is known, the beginning has the same. */
    const struct clock_reading *end = s->last.wall_ns ? &s->last : &s->first;
    json_text_add(&t, "{\n    \"config\": {\n");
    common_config(&t, s);
    experimental_config(&t, s);
    json_text_add(
        &t,
        "    \"start_info\": {\n        \"syscnt_enable\": %s,\n        \"freq\": %.9f,\n        \"start_cnt\": %llu,\n"
        "        \"start_monotonic\": %llu\n    },\n    \"end_info\": {\n        \"collectionTimeEnd\": %llu,\n"
        "        \"MonotonicTimeEnd\": %llu\n    },\n",
        truth(host_clock_is_counter), s->mhz, (unsigned long long)s->first.count,
        (unsigned long long)s->first.mono_raw_ns, (unsigned long long)end->wall_ns,
        (unsigned long long)end->mono_raw_ns);
    if (s->rank >= 0) {
        const char *const quote = s->rank_is_text ? "\"" : "";
        json_text_add(&t, "    \"rank_id\": %s%d%s,\n", quote, s->rank, quote);
        snprintf(suffix, sizeof suffix, "_%d", s->rank);
    }
    if (s->n_devices > 0 && s->devices[0].is.is_simulated)
        json_text_add(&t, "    \"simulated\": true,\n");
    json_text_add(&t, "    \"ascope_version\": \"%s\"\n}", ascope_version());
    snprintf(path, sizeof path, "%s/profiler_info%s.json", s->path, suffix);
    const bool is_written = t.is_short ? error_set(e, FAULT_LIMIT, "%s: no memory for its text", path)
                                       : place_file(path, t.at, t.n, false, e);
    json_text_fini(&t);
    return is_written;
}
