/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/options/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascope/record.h"
#include "collect/session/message.h"
#include "collect/options/option_values.h"
#include "collect/session/recording.h"
#include "collect/options/sized.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { WORKER_MOST = 219 }; /* the longest worker name that fits into the name of a directory */
enum { SLICE_KB = 2048, RING_KB = 4096 };

void ascope_options_init_sized(struct ascope_options *o, uint32_t size)
{
    struct ascope_options whole = { 0 };
    for (size_t i = 0; i < n_recorder_options; i++)
        if (!recorder_options[i].changes_others && !recorder_options[i].is.is_old)
            option_reset(&whole, &recorder_options[i]);
    memset(o, 0, size);
    memcpy(o, &whole, size < sizeof whole ? size : sizeof whole);
    o->size = size;
}

/* ---- names of values ---- */

const char *options_metrics_name(uint32_t value)
{
    return choice_name(option_metrics, value);
}
const char *options_level_name(uint32_t value)
{
    return choice_name(option_levels, value);
}
const char *options_host_sys_name(unsigned bit)
{
    return choice_name(option_host_systems, UINT64_C(1) << bit);
}

/* ---- one option by name ---- */

bool ascope_options_set(struct ascope_options *o, const char *name, const char *value)
{
    const struct recorder_option *r = name ? recorder_option_find(name) : NULL;
    if (!r)
        return false;
    if (!sized_is_set(o)) {
        message(ASCOPE_WARNING, "option %s ignored: ascope_options_init() was not called", name);
        return true;
    }
    if ((uint32_t)(r->at + r->bytes) > o->size) {
        message(ASCOPE_WARNING, "option %s ignored: the program was built with an older version of the library", name);
        return true;
    }
    const uint32_t size = o->size;
    /* functions of rows may read fields that an older caller's structure does not have */
    struct ascope_options whole;
    ascope_options_init(&whole);
    sized_over(&whole, sizeof whole, o);
    if (!value || !option_set(&whole, r, value)) {
        char text[400];
        ascope_option_values(&r->is, text, sizeof text);
        message(ASCOPE_WARNING, "option %s: invalid value \"%.60s\"; using the default; expected %s", name,
                value ? value : "", text);
    }
    whole.size = size;
    memcpy(o, &whole, size < sizeof whole ? size : sizeof whole);
    return true;
}

/* ---- a session's own copy ---- */

/* Each field that is a text; NULL: there are no more. */
static char **text_at(struct ascope_options *o, size_t *i)
{
    while (*i < n_recorder_options) {
        const struct recorder_option *r = &recorder_options[(*i)++];
        if (r->is.kind == ASCOPE_OPTION_TEXT || r->is.kind == ASCOPE_OPTION_NAMES)
            return (char **)((char *)o + r->at);
    }
    /* custom_events is not the field of an option */
    return (*i)++ == n_recorder_options ? (char **)&o->custom_events : NULL;
}

bool options_take(struct ascope_options *out, const struct ascope_options *from, struct error *e)
{
    bool is_whole = true;
    ascope_options_init(out);
    if (from && !sized_over(out, sizeof *out, from))
        return error_set(e, FAULT_ASKED, "options of %u bytes: ascope_options_init() was not called", from->size);
    if (from && sized_has_unknown(from, sizeof *out))
        message(ASCOPE_WARNING, "options: the program sets fields unknown to libascope " ASCOPE_VERSION "; ignored");
    char **text;
    for (size_t i = 0; (text = text_at(out, &i));)
        if (*text)
            is_whole &= (*text = strdup(*text)) != NULL;
    if (is_whole)
        return true;
    options_fini(out);
    return error_no_memory(e, "the options of the session");
}

void options_fini(struct ascope_options *o)
{
    char **text;
    for (size_t i = 0; (text = text_at(o, &i)); *text = NULL)
        free(*text);
}

/* ---- what cannot be ---- */

static void text_drop(const char **text)
{
    free((char *)*text);
    *text = NULL;
}

static void check_exports(struct ascope_options *o)
{
    if (o->export_text || o->export_db)
        return;
    message(ASCOPE_WARNING, "export_type: neither text nor db; using text");
    o->export_text = true;
}

/* The PyTorch front end has no counters at the lowest levels; msprof and acl.json set both apart. */
static void check_metrics_for_level(struct ascope_options *o)
{
    const bool is_low = o->level == ASCOPE_LEVEL0 || o->level == ASCOPE_LEVEL_NONE;
    if (o->metrics == ASCOPE_METRICS_BY_LEVEL && is_low)
        o->metrics = ASCOPE_NO_METRICS;
    if (!is_low || o->layout == ASCOPE_LAYOUT_PROF || (o->metrics == ASCOPE_NO_METRICS && !o->custom_events))
        return;
    message(ASCOPE_WARNING, "aic_metrics: no counters at %s; using AiCoreNone", options_level_name(o->level));
    o->metrics = ASCOPE_NO_METRICS;
    text_drop(&o->custom_events);
}

static void check_marks_without_level(struct ascope_options *o)
{
    if (o->level != ASCOPE_LEVEL_NONE || o->mstx)
        return;
    message(ASCOPE_WARNING, "profiler_level: Level_none records marks only; mstx is enabled");
    o->mstx = true;
}

static void check_level(struct ascope_options *o)
{
    if (options_level_name(o->level))
        return;
    if (o->level != OPTION_NOT_KNOWN)
        message(ASCOPE_WARNING, "profiler_level: invalid value %u; using Level0", o->level);
    o->level = ASCOPE_LEVEL0;
}

static void check_metrics(struct ascope_options *o)
{
    const bool is_asked = o->metrics != ASCOPE_METRICS_BY_LEVEL && o->metrics != OPTION_NOT_KNOWN;
    if (options_metrics_name(o->metrics))
        return;
    const uint32_t instead = o->level == ASCOPE_LEVEL0 ? ASCOPE_NO_METRICS : ASCOPE_PIPE_UTILIZATION;
    if (is_asked)
        message(ASCOPE_WARNING, "aic_metrics: invalid value %u; using %s", o->metrics, options_metrics_name(instead));
    o->metrics = instead;
}

static void check_attributes(struct ascope_options *o)
{
    if (!o->op_attr || o->export_db)
        return;
    message(ASCOPE_WARNING, "op_attr: requires db in export_type; attributes are not recorded");
    o->op_attr = false;
}

static void check_threshold(struct ascope_options *o)
{
    if (!isfinite(o->gc_threshold_ms)) {
        message(ASCOPE_WARNING, "gc_detect_threshold: invalid value; ignored");
        o->gc_threshold_ms = -1;
    }
    if (o->gc_threshold_ms < 0 || (o->activities & ASCOPE_CPU))
        return;
    message(ASCOPE_WARNING, "gc_detect_threshold: requires the CPU in activities; ignored");
    o->gc_threshold_ms = -1;
}

static bool list_has(const char *list, const char *name, size_t n)
{
    const char *other;
    size_t other_n;
    while (list_next(&list, &other, &other_n))
        if (other_n == n && memcmp(other, name, n) == 0)
            return true;
    return false;
}

/* Each name once. */
static void list_unique(const char **list)
{
    char *const unique = calloc(strlen(*list) + 1, 1);
    const char *at = *list, *name;
    size_t n, used = 0;
    if (!unique)
        return;
    while (list_next(&at, &name, &n))
        if (!list_has(unique, name, n))
            used += (size_t)sprintf(unique + used, "%s%.*s", used > 0 ? "," : "", (int)n, name);
    text_drop(list);
    *list = unique;
}

static void check_domains(struct ascope_options *o)
{
    if ((o->mstx_domain_include || o->mstx_domain_exclude) && !o->mstx) {
        message(ASCOPE_WARNING, "mstx_domain_include, mstx_domain_exclude ignored: mstx is off");
        text_drop(&o->mstx_domain_include);
        text_drop(&o->mstx_domain_exclude);
    }
    if (o->mstx_domain_include && o->mstx_domain_exclude) {
        message(ASCOPE_WARNING, "mstx_domain_exclude ignored: mstx_domain_include is set");
        text_drop(&o->mstx_domain_exclude);
    }
    if (o->mstx_domain_include)
        list_unique(&o->mstx_domain_include);
    if (o->mstx_domain_exclude)
        list_unique(&o->mstx_domain_exclude);
}

static void check_host_sys(struct ascope_options *o)
{
    if (o->host_sys < 2 * ASCOPE_HOST_NUMA)
        return;
    message(ASCOPE_WARNING, "host_sys: invalid value 0x%x; ignored", o->host_sys);
    o->host_sys = 0;
}

/* None is something that can be asked for in MindSpore: it leaves a collection that says so. */
static void check_activities(struct ascope_options *o)
{
    const uint32_t both = ASCOPE_CPU | ASCOPE_NPU;
    const bool may_be_none = o->layout == ASCOPE_LAYOUT_MINDSPORE;
    if (o->activities & ~both)
        message(ASCOPE_WARNING, "activities: invalid value 0x%x; using CPU and NPU", o->activities);
    if ((o->activities == 0 && !may_be_none) || (o->activities & ~both))
        o->activities = both;
}

static void check_use_of_device(const struct ascope_options *o)
{
    const bool needs_device =
        o->level != ASCOPE_LEVEL0 || o->mstx || o->l2_cache || o->sys_io || o->sys_interconnection;
    if (o->layout != ASCOPE_LAYOUT_PROF && !(o->activities & ASCOPE_NPU) && needs_device)
        message(ASCOPE_WARNING,
                "activities has no NPU: profiler_level, mstx, l2_cache and other device options are ignored");
}

/* Warns about options that have no effect. Their values stay, because other tools read them from profiler_info. */
static void check_use_of_host(const struct ascope_options *o)
{
    if ((o->with_stack || o->with_modules) && !(o->activities & ASCOPE_CPU))
        message(ASCOPE_WARNING,
                "with_stack, with_modules: require the CPU in activities; nothing is recorded for them");
    if (o->with_flops && !o->mstx)
        message(ASCOPE_WARNING, "with_flops: requires mstx, since its results are marks; nothing is recorded for it");
}

static void check_place(struct ascope_options *o)
{
    if (o->layout > ASCOPE_LAYOUT_MINDSPORE) {
        message(ASCOPE_WARNING, "layout: invalid value %u; using pytorch", o->layout);
        o->layout = ASCOPE_LAYOUT_PYTORCH;
    }
    if (o->rank < -1) {
        message(ASCOPE_WARNING, "rank: invalid value %d; using that of the environment", o->rank);
        o->rank = -1;
    }
    const char *w = o->worker_name;
    bool is_name = w && *w && strlen(w) <= WORKER_MOST;
    for (const char *c = w; is_name && *c; c++)
        is_name = *c != '/' && (unsigned char)*c >= ' ' && *c != 0x7f;
    if (w && !is_name) {
        message(
            ASCOPE_WARNING,
            "worker_name: \"%.40s%s\" is not a valid part of a directory name (up to %d bytes, no slash, no control "
            "characters); using the host name",
            w, strlen(w) > 40 ? "..." : "", WORKER_MOST);
        text_drop(&o->worker_name);
    }
}

static void check_sizes(struct ascope_options *o)
{
    const uint32_t asked = o->ring_kb ? o->ring_kb : RING_KB;
    if (o->slice_kb == 0)
        o->slice_kb = SLICE_KB;
    for (o->ring_kb = 64; o->ring_kb < asked && o->ring_kb < 1 << 20;)
        o->ring_kb *= 2;
    if (o->ring_kb != asked)
        message(ASCOPE_WARNING, "ring_kb: %u is not a power of two from 64 to 1048576; using %u", asked, o->ring_kb);
}

static void check_info(struct ascope_options *o)
{
    if (!o->framework_info || (*o->framework_info == '{' && json_is_value(o->framework_info)))
        return;
    message(ASCOPE_WARNING, "framework_info: expected a JSON object; ignored");
    text_drop(&o->framework_info);
}

/* Booleans of the front ends that are rates of the device. */
static void derive_rates(struct ascope_options *o)
{
    if (o->profile_memory && o->hardware_mem_hz == 0)
        o->hardware_mem_hz = o->layout == ASCOPE_LAYOUT_MINDSPORE ? 100 : 50;
    if (o->sys_io && o->io_hz == 0)
        o->io_hz = 100;
    if (o->sys_interconnection && o->interconnection_hz == 0)
        o->interconnection_hz = 50;
    if (o->host_usage && o->host_usage_hz == 0)
        o->host_usage_hz = 50;
}

static void make_valid(struct ascope_options *o)
{
    static void (*const checks[])(struct ascope_options *) = {
        check_activities,
        check_exports,
        check_metrics_for_level,
        check_marks_without_level,
        check_level,
        check_metrics,
        check_attributes,
        check_threshold,
        check_domains,
        check_host_sys,
        check_place,
        check_sizes,
        check_info,
    };
    for (size_t i = 0; i < COUNT(checks); i++)
        checks[i](o);
}

void options_check(struct ascope_options *o)
{
    make_valid(o);
    derive_rates(o);
    check_use_of_device(o);
    check_use_of_host(o);
}

void ascope_options_check(struct ascope_options *o)
{
    struct error e = { 0 };
    struct ascope_options valid;
    if (!options_take(&valid, o, &e)) {
        message(ASCOPE_WARNING, "%s; the options are not checked", e.text);
        return;
    }
    make_valid(&valid);
    char **text;
    for (size_t i = 0; (text = text_at(&valid, &i));) {
        char *const own = *text;
        *text = own ? (char *)text_keep(own) : NULL;
        free(own);
    }
    const uint32_t size = o->size;
    valid.size = size;
    memcpy(o, &valid, size < sizeof valid ? size : sizeof valid);
}

/* ---- what it means ---- */

uint64_t options_data_mask(const struct ascope_options *o)
{
    static const uint64_t of_level[] = {
        [ASCOPE_LEVEL0] = DATA_ACL_API | DATA_TASK_L0,
        [ASCOPE_LEVEL1] = DATA_ACL_API | DATA_TASK_L1 | DATA_HCCL,
        [ASCOPE_LEVEL2] = DATA_ACL_API | DATA_TASK_L1 | DATA_HCCL | DATA_RUNTIME_API | DATA_AICPU,
        [ASCOPE_LEVEL_NONE] = 0,
    };
    const bool counts = o->metrics != ASCOPE_NO_METRICS || o->custom_events;
    const struct {
        bool is_on;
        uint64_t bits;
    } more[] = {
        { counts, DATA_METRICS },
        { counts && o->sample_based, DATA_AIC_SAMPLING | DATA_AIV_SAMPLING },
        { o->l2_cache, DATA_L2_CACHE },
        { o->mstx, DATA_MARKS },
        { o->profile_memory, DATA_TASK_MEMORY },
        { o->op_attr, DATA_OP_ATTR },
        { o->record_shapes && o->level == ASCOPE_LEVEL0 && o->layout != ASCOPE_LAYOUT_MINDSPORE, DATA_AICORE_SHAPE },
        { o->instr_hz > 0, DATA_INSTRUCTIONS },
    };
    uint64_t mask = of_level[o->level] | o->more_data;
    for (size_t i = 0; i < COUNT(more); i++)
        mask |= more[i].is_on ? more[i].bits : 0;
    return mask & ~o->less_data;
}

uint32_t options_recorded(const struct ascope_options *o)
{
    const bool has_framework = o->layout != ASCOPE_LAYOUT_PROF && (o->activities & ASCOPE_CPU);
    const bool has_prof = o->layout == ASCOPE_LAYOUT_PROF || (o->activities & ASCOPE_NPU);
    const struct {
        bool is_on;
        uint32_t what;
    } all[] = {
        { has_framework, ASCOPE_RECORDS_OPERATORS },
        { has_framework && o->record_shapes, ASCOPE_RECORDS_SHAPES },
        { has_framework && o->with_stack, ASCOPE_RECORDS_STACK },
        { has_framework && o->with_modules, ASCOPE_RECORDS_MODULES },
        { has_framework && o->profile_memory, ASCOPE_RECORDS_MEMORY },
        { has_framework && (o->with_stack || o->with_modules), ASCOPE_RECORDS_PYTHON },
        { has_framework && o->gc_threshold_ms >= 0, ASCOPE_RECORDS_GC },
        { has_framework && o->layout == ASCOPE_LAYOUT_MINDSPORE, RECORDS_AS_MINDSPORE },
        { has_prof && o->mstx, ASCOPE_RECORDS_MARKS },
        { has_prof && (options_data_mask(o) & ~DATA_MARKS) != 0, ASCOPE_RECORDS_DEVICE },
    };
    uint32_t recorded = 0;
    for (size_t i = 0; i < COUNT(all); i++)
        recorded |= all[i].is_on ? all[i].what : 0;
    return recorded;
}
