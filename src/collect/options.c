#include "collect/options.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ascope/record.h"
#include "collect/host_sampler.h"
#include "collect/json_text.h"
#include "collect/message.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* What a text said that was no level or metric: it waits for options_check(), where the order decides what it becomes. */
enum { NOT_KNOWN = 254 };
enum { WORKER_MOST = 219 }; /* the longest name of a directory has room for that */
enum { SLICE_KB = 2048, RING_KB = 4096, CUSTOM_EVENTS_MOST = 8 };

static const struct ascope_options defaults = {
    .size = sizeof defaults,
    .layout = ASCOPE_LAYOUT_PYTORCH,
    .rank = -1,
    .activities = ASCOPE_CPU | ASCOPE_NPU,
    .device = "auto",
    .level = ASCOPE_LEVEL0,
    .metrics = ASCOPE_METRICS_BY_LEVEL,
    .gc_threshold_ms = -1,
    .export_text = true,
    .data_simplification = true,
};

void ascope_options_init_sized(struct ascope_options *o, uint32_t size)
{
    memset(o, 0, size);
    memcpy(o, &defaults, size < sizeof defaults ? size : sizeof defaults);
    o->size = size;
}

/* ---- names of values ---- */

struct choice {
    const char *name;
    uint64_t value;
};

/* clang-format off */
static const struct choice truths[] = {
    { "true", 1 }, { "on", 1 }, { "yes", 1 }, { "1", 1 }, { "false", 0 }, { "off", 0 }, { "no", 0 }, { "0", 0 }, { NULL, 0 } };
static const struct choice layouts[] = {
    { "pytorch", ASCOPE_LAYOUT_PYTORCH }, { "prof", ASCOPE_LAYOUT_PROF }, { NULL, 0 } };
static const struct choice activities[] = {
    { "CPU", ASCOPE_CPU }, { "NPU", ASCOPE_NPU }, { "ProfilerActivity.CPU", ASCOPE_CPU }, { "ProfilerActivity.NPU", ASCOPE_NPU }, { NULL, 0 } };
static const struct choice levels[] = {
    { "Level0", ASCOPE_LEVEL0 }, { "Level1", ASCOPE_LEVEL1 }, { "Level2", ASCOPE_LEVEL2 }, { "Level_none", ASCOPE_LEVEL_NONE },
    { "LevelNone", ASCOPE_LEVEL_NONE }, { NULL, 0 } };
static const struct choice metrics[] = {
    { "ArithmeticUtilization", ASCOPE_ARITHMETIC_UTILIZATION }, { "PipeUtilization", ASCOPE_PIPE_UTILIZATION },
    { "Memory", ASCOPE_MEMORY }, { "MemoryL0", ASCOPE_MEMORY_L0 }, { "ResourceConflictRatio", ASCOPE_RESOURCE_CONFLICT_RATIO },
    { "MemoryUB", ASCOPE_MEMORY_UB }, { "L2Cache", ASCOPE_L2_CACHE }, { "PipelineExecuteUtilization", ASCOPE_PIPELINE_EXECUTE },
    { "MemoryAccess", ASCOPE_MEMORY_ACCESS }, { "AiCoreNone", ASCOPE_NO_METRICS }, { NULL, 0 } };
static const struct choice acl_metrics[] = {
    { "ACL_AICORE_ARITHMETIC_UTILIZATION", ASCOPE_ARITHMETIC_UTILIZATION }, { "ACL_AICORE_PIPE_UTILIZATION", ASCOPE_PIPE_UTILIZATION },
    { "ACL_AICORE_MEMORY_BANDWIDTH", ASCOPE_MEMORY }, { "ACL_AICORE_L0B_AND_WIDTH", ASCOPE_MEMORY_L0 },
    { "ACL_AICORE_RESOURCE_CONFLICT_RATIO", ASCOPE_RESOURCE_CONFLICT_RATIO }, { "ACL_AICORE_MEMORY_UB", ASCOPE_MEMORY_UB },
    { "ACL_AICORE_L2_CACHE", ASCOPE_L2_CACHE }, { "ACL_AICORE_PIPE_EXECUTE_UTILIZATION", ASCOPE_PIPELINE_EXECUTE },
    { "ACL_AICORE_MEMORY_ACCESS", ASCOPE_MEMORY_ACCESS }, { "ACL_AICORE_NONE", ASCOPE_NO_METRICS }, { NULL, 0 } };
static const struct choice host_systems[] = {
    { "cpu", ASCOPE_HOST_CPU }, { "mem", ASCOPE_HOST_MEM }, { "disk", ASCOPE_HOST_DISK }, { "network", ASCOPE_HOST_NETWORK },
    { "osrt", ASCOPE_HOST_OSRT }, { "numa", ASCOPE_HOST_NUMA }, { NULL, 0 } };
static const struct choice host_usages[] = { { "cpu", ASCOPE_HOST_CPU }, { "mem", ASCOPE_HOST_MEM }, { NULL, 0 } };
enum { EXPORT_TEXT = 1, EXPORT_DB = 2 };
static const struct choice exports[] = { { "text", EXPORT_TEXT }, { "db", EXPORT_DB }, { NULL, 0 } };
static const struct choice modes[] = { { "task-based", 0 }, { "sample-based", 1 }, { NULL, 0 } };
static const struct choice llc[] = { { "read", 0 }, { "write", 1 }, { NULL, 0 } };
static const struct choice blocks[] = { { "off", 0 }, { "on", 1 }, { "all", 1 }, { NULL, 0 } };
static const struct choice ge_levels[] = {
    { "off", 0 }, { "l0", DATA_GE_API_L0 }, { "l1", DATA_GE_API_L0 | DATA_GE_API_L1 }, { "on", DATA_GE_API_L0 }, { NULL, 0 } };
static const struct choice task_times[] = { { "off", 0 }, { "l0", 1 }, { "on", 2 }, { "l1", 2 }, { "l2", 3 }, { "l3", 4 }, { NULL, 0 } };
/* clang-format on */

static const struct choice *choice_find(const struct choice *c, const char *text, size_t n)
{
    for (; c->name; c++)
        if (strlen(c->name) == n && strncasecmp(c->name, text, n) == 0)
            return c;
    return NULL;
}

static const char *choice_name(const struct choice *c, uint64_t value)
{
    for (; c->name; c++)
        if (c->value == value)
            return c->name;
    return NULL;
}

const char *options_metrics_name(uint32_t value)
{
    return choice_name(metrics, value);
}
const char *options_metrics_acl_name(uint32_t value)
{
    return choice_name(acl_metrics, value);
}
const char *options_level_name(uint32_t value)
{
    return choice_name(levels, value);
}
const char *options_host_sys_name(unsigned bit)
{
    return bit < COUNT(host_systems) ? host_systems[bit].name : NULL;
}

/* The next name of a list: commas between them, blanks around them. False: no more. */
static bool list_next(const char **at, const char **name, size_t *n)
{
    *at += strspn(*at, ", \t");
    *name = *at;
    const char *end = *at + strcspn(*at, ",");
    *at = end;
    while (end > *name && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *n = (size_t)(end - *name);
    return *n > 0;
}

/* ---- texts that live as long as the process: each once ---- */

struct kept {
    struct kept *next;
    char text[];
};

static const char *text_keep(const char *text)
{
    static struct kept *all;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    struct kept *k = all;
    while (k && strcmp(k->text, text) != 0)
        k = k->next;
    if (!k && (k = malloc(sizeof *k + strlen(text) + 1))) {
        memcpy(k->text, text, strlen(text) + 1);
        k->next = all;
        all = k;
    }
    pthread_mutex_unlock(&lock);
    return k ? k->text : NULL;
}

/* ---- one option by name ---- */

struct option_row {
    const char *name;
    bool (*set)(struct ascope_options *o, const struct option_row *r, const char *value); /* false: no such value */
    uint16_t at, bytes;                                                                   /* of the field */
    const struct choice *choice;
    uint64_t low, high; /* of numbers; what else a row's function needs */
    const char *wanted; /* NULL: one of the choices */
};

static void field_put(struct ascope_options *o, const struct option_row *r, uint64_t value)
{
    if (r->bytes == sizeof(bool))
        *(bool *)((char *)o + r->at) = value != 0;
    else if (r->bytes == sizeof(uint32_t))
        *(uint32_t *)((char *)o + r->at) = (uint32_t)value;
}

static bool set_choice(struct ascope_options *o, const struct option_row *r, const char *value)
{
    const struct choice *c = choice_find(r->choice, value, strlen(value));
    if (c)
        field_put(o, r, c->value);
    return c;
}

static bool several(const struct choice *from, const char *value, uint64_t *bits)
{
    const char *name;
    size_t n;
    for (*bits = 0; list_next(&value, &name, &n);) {
        const struct choice *c = choice_find(from, name, n);
        if (!c)
            return false;
        *bits |= c->value;
    }
    return true;
}

static bool set_several(struct ascope_options *o, const struct option_row *r, const char *value)
{
    uint64_t bits;
    if (!several(r->choice, value, &bits))
        return false;
    field_put(o, r, bits);
    return true;
}

static bool set_export(struct ascope_options *o, const struct option_row *r, const char *value)
{
    uint64_t bits;
    const bool is_known = several(r->choice, value, &bits) && bits != 0;
    o->export_text = !is_known || (bits & EXPORT_TEXT);
    o->export_db = is_known && (bits & EXPORT_DB);
    return is_known;
}

static bool set_number(struct ascope_options *o, const struct option_row *r, const char *value)
{
    char *end;
    const unsigned long long n = strtoull(value, &end, 10);
    if (end == value || *end || *value == '-' || n < r->low || n > r->high)
        return false;
    field_put(o, r, n);
    return true;
}

/* A switch for something that is sampled: on takes the usual rate unless one was given. */
static bool set_rate_switch(struct ascope_options *o, const struct option_row *r, const char *value)
{
    const struct choice *c = choice_find(truths, value, strlen(value));
    uint32_t *hz = (uint32_t *)((char *)o + r->at);
    if (!c)
        return false;
    *hz = !c->value ? 0 : *hz ? *hz : (uint32_t)r->high;
    return true;
}

static bool set_text(struct ascope_options *o, const struct option_row *r, const char *value)
{
    const char *kept = *value ? text_keep(value) : NULL;
    memcpy((char *)o + r->at, &kept, sizeof kept);
    return true;
}

static bool set_threshold(struct ascope_options *o, const struct option_row *r, const char *value)
{
    char *end;
    const double ms = strtod_l(value, &end, json_locale());
    (void)r;
    o->gc_threshold_ms = -1;
    if (strcasecmp(value, "none") == 0 || strcasecmp(value, "null") == 0)
        return true;
    if (end == value || *end || !isfinite(ms) || ms < 0)
        return false;
    o->gc_threshold_ms = ms;
    return true;
}

static bool set_level(struct ascope_options *o, const struct option_row *r, const char *value)
{
    o->level = NOT_KNOWN;
    return set_choice(o, r, value);
}

static bool are_events(const char *list)
{
    const char *name;
    size_t n, n_events = 0;
    for (; list_next(&list, &name, &n); n_events++)
        if (n < 3 || strncasecmp(name, "0x", 2) != 0 || strspn(name + 2, "0123456789abcdefABCDEF") < n - 2)
            return false;
    return n_events > 0 && n_events <= CUSTOM_EVENTS_MOST;
}

static bool set_metrics(struct ascope_options *o, const struct option_row *r, const char *value)
{
    o->metrics = NOT_KNOWN;
    o->custom_events = NULL;
    if (strncasecmp(value, "Custom:", 7) == 0 && are_events(value + 7)) {
        o->custom_events = text_keep(value + 7);
        o->metrics = ASCOPE_NO_METRICS;
        return true;
    }
    const struct choice *c = choice_find(acl_metrics, value, strlen(value));
    if (c)
        o->metrics = (uint32_t)c->value;
    return c || set_choice(o, r, value);
}

static bool set_ai_core(struct ascope_options *o, const struct option_row *r, const char *value)
{
    const struct choice *c = choice_find(truths, value, strlen(value));
    (void)r;
    if (c && !c->value)
        o->metrics = ASCOPE_NO_METRICS;
    else if (c && o->metrics == ASCOPE_NO_METRICS)
        o->metrics = ASCOPE_PIPE_UTILIZATION;
    return c;
}

static bool set_old_marks(struct ascope_options *o, const struct option_row *r, const char *value)
{
    const struct choice *c = choice_find(truths, value, strlen(value));
    (void)r;
    o->mstx |= c && c->value;
    if (c && c->value)
        message(ASCOPE_WARNING, "option msprof_tx is the old name of mstx; take the new one");
    return c;
}

static void data_put(struct ascope_options *o, uint64_t of, uint64_t is_on)
{
    o->more_data = (o->more_data & ~of) | is_on;
    o->less_data = (o->less_data & ~is_on) | (of & ~is_on);
}

/* A bit of the data mask that is there or not, whatever the level says; low has the bits. */
static bool set_data(struct ascope_options *o, const struct option_row *r, const char *value)
{
    const struct choice *c = choice_find(truths, value, strlen(value));
    if (c)
        data_put(o, r->low, c->value ? r->low : 0);
    return c;
}

static bool set_ge(struct ascope_options *o, const struct option_row *r, const char *value)
{
    const struct choice *c = choice_find(r->choice, value, strlen(value));
    if (c)
        data_put(o, DATA_GE_API_L0 | DATA_GE_API_L1, c->value);
    return c;
}

/* The one switch of the msprof door that is nearly a level. */
static bool set_task_time(struct ascope_options *o, const struct option_row *r, const char *value)
{
    static const struct {
        uint32_t level;
        uint64_t more, less;
    } means[] = {
        { ASCOPE_LEVEL0, 0, DATA_TASK_L0 },
        { ASCOPE_LEVEL0, 0, 0 },
        { ASCOPE_LEVEL1, 0, 0 },
        { ASCOPE_LEVEL1, DATA_TASK_L2, 0 },
        { ASCOPE_LEVEL1, DATA_TASK_L2 | DATA_TASK_L3, 0 },
    };
    const uint64_t all = DATA_TASK_L0 | DATA_TASK_L2 | DATA_TASK_L3;
    const struct choice *c = choice_find(r->choice, value, strlen(value));
    if (!c)
        return false;
    o->level = means[c->value].level;
    o->more_data = (o->more_data & ~all) | means[c->value].more;
    o->less_data = (o->less_data & ~all) | means[c->value].less;
    return true;
}

/* "200MB" */
static bool set_limit(struct ascope_options *o, const struct option_row *r, const char *value)
{
    char *end;
    const unsigned long long mb = strtoull(value, &end, 10);
    if (end == value || *value == '-' || (*end && strcasecmp(end, "MB") != 0) || mb < r->low || mb > r->high)
        return false;
    field_put(o, r, mb);
    return true;
}

#define FIELD(name) offsetof(struct ascope_options, name), sizeof(((struct ascope_options *)0)->name)
#define TRUTH(name, field)                                                                                             \
    {                                                                                                                  \
        name, set_choice, FIELD(field), truths, 0, 0, "true or false"                                                  \
    }
#define TEXT(name, field)                                                                                              \
    {                                                                                                                  \
        name, set_text, FIELD(field), NULL, 0, 0, "a text"                                                             \
    }
#define NUMBER(name, field, low, high, wanted)                                                                         \
    {                                                                                                                  \
        name, set_number, FIELD(field), NULL, low, high, wanted                                                        \
    }
#define SWITCH(name, field, hz)                                                                                        \
    {                                                                                                                  \
        name, set_rate_switch, FIELD(field), NULL, 0, hz, "on or off"                                                  \
    }
#define DATA(name, bits)                                                                                               \
    {                                                                                                                  \
        name, set_data, FIELD(more_data), NULL, bits, 0, "on or off"                                                   \
    }

/* clang-format off */
static const struct option_row rows[] = {
    /* where */
    TEXT("parent_dir", parent_dir),
    TEXT("dir_name", parent_dir),
    TEXT("output", parent_dir),
    TEXT("prof_dir", parent_dir),
    TEXT("worker_name", worker_name),
    { "layout", set_choice, FIELD(layout), layouts, 0, 0, NULL },
    NUMBER("rank", rank, 0, 1 << 30, "a number from 0"),
    /* what: PyTorch's names */
    { "activities", set_several, FIELD(activities), activities, 0, 0, "a list of CPU, NPU" },
    TEXT("device", device),
    { "profiler_level", set_level, FIELD(level), levels, 0, 0, NULL },
    { "aic_metrics", set_metrics, FIELD(metrics), metrics, 0, 0, NULL },
    { "aicore_metrics", set_metrics, FIELD(metrics), metrics, 0, 0, NULL },
    TRUTH("record_shapes", record_shapes),
    TRUTH("profile_memory", profile_memory),
    TRUTH("with_stack", with_stack),
    TRUTH("with_flops", with_flops),
    TRUTH("with_modules", with_modules),
    TRUTH("l2_cache", l2_cache),
    TRUTH("mstx", mstx),
    { "msprof_tx", set_old_marks, FIELD(mstx), truths, 0, 0, "true or false" },
    TRUTH("op_attr", op_attr),
    TRUTH("record_op_args", record_op_args),
    TRUTH("sys_io", sys_io),
    TRUTH("sys_interconnection", sys_interconnection),
    { "gc_detect_threshold", set_threshold, FIELD(gc_threshold_ms), NULL, 0, 0, "milliseconds from 0, or none" },
    { "host_sys", set_several, FIELD(host_sys), host_systems, 0, 0, "a list of cpu, mem, disk, network, osrt, numa" },
    TEXT("mstx_domain_include", mstx_domain_include),
    TEXT("mstx_domain_exclude", mstx_domain_exclude),
    /* MindSpore's own */
    SWITCH("hbm_ddr", hardware_mem_hz, 100),
    TRUTH("pcie", sys_interconnection),
    /* acl.json, TensorFlow, the msprof command */
    { "task_time", set_task_time, FIELD(level), task_times, 0, 0, NULL },
    { "task_trace", set_task_time, FIELD(level), task_times, 0, 0, NULL },
    DATA("ascendcl", DATA_ACL_API),
    DATA("runtime_api", DATA_RUNTIME_API),
    { "ge_api", set_ge, FIELD(more_data), ge_levels, 0, 0, NULL },
    DATA("hccl", DATA_HCCL),
    DATA("aicpu", DATA_AICPU),
    DATA("training_trace", DATA_TRAINING),
    DATA("task_memory", DATA_TASK_MEMORY),
    DATA("task_tsfw", DATA_SCHEDULER),
    DATA("aicore_shape", DATA_AICORE_SHAPE),
    TRUTH("l2", l2_cache),
    TRUTH("msproftx", mstx),
    { "task_block", set_choice, FIELD(task_block), blocks, 0, 0, NULL },
    { "ai_core", set_ai_core, FIELD(metrics), NULL, 0, 0, "on or off" },
    { "aic_mode", set_choice, FIELD(sample_based), modes, 0, 0, NULL },
    NUMBER("aic_freq", aic_hz, 1, 100, "Hz from 1 to 100"),
    { "aiv_mode", set_choice, FIELD(sample_based), modes, 0, 0, NULL },
    NUMBER("aiv_freq", aic_hz, 1, 100, "Hz from 1 to 100"),
    { "aiv_metrics", set_metrics, FIELD(metrics), metrics, 0, 0, NULL },
    SWITCH("instr_profiling", instr_hz, 1000),
    NUMBER("instr_profiling_freq", instr_hz, 300, 30000, "cycles from 300 to 30000"),
    SWITCH("sys_hardware_mem", hardware_mem_hz, 50),
    NUMBER("sys_hardware_mem_freq", hardware_mem_hz, 1, 10000, "Hz from 1 to 10000"),
    { "llc_profiling", set_choice, FIELD(llc_write), llc, 0, 0, NULL },
    TEXT("sys_mem_serviceflow", mem_serviceflow),
    SWITCH("sys_io_profiling", io_hz, 100),
    NUMBER("sys_io_sampling_freq", io_hz, 1, 100, "Hz from 1 to 100"),
    SWITCH("sys_interconnection_profiling", interconnection_hz, 50),
    NUMBER("sys_interconnection_freq", interconnection_hz, 1, 50, "Hz from 1 to 50"),
    SWITCH("dvpp_profiling", dvpp_hz, 50),
    NUMBER("dvpp_freq", dvpp_hz, 1, 100, "Hz from 1 to 100"),
    SWITCH("sys_cpu_profiling", cpu_hz, 50),
    NUMBER("sys_cpu_freq", cpu_hz, 1, 50, "Hz from 1 to 50"),
    SWITCH("sys_profiling", device_usage_hz, 10),
    NUMBER("sys_sampling_freq", device_usage_hz, 1, 10, "Hz from 1 to 10"),
    SWITCH("sys_pid_profiling", device_process_hz, 10),
    NUMBER("sys_pid_sampling_freq", device_process_hz, 1, 10, "Hz from 1 to 10"),
    SWITCH("sys_lp", low_power_hz, 100),
    NUMBER("sys_lp_freq", low_power_hz, 1, 100, "Hz from 1 to 100"),
    { "host_sys_usage", set_several, FIELD(host_usage), host_usages, 0, 0, "a list of cpu, mem" },
    NUMBER("host_sys_usage_freq", host_usage_hz, 1, 50, "Hz from 1 to 50"),
    TEXT("npu_events", npu_events),
    TEXT("optype", op_types),
    TEXT("fp_point", fp_point),
    TEXT("bp_point", bp_point),
    /* how the results will look */
    { "export_type", set_export, FIELD(export_text), exports, 0, 0, "text, db, or both with a comma" },
    TRUTH("data_simplification", data_simplification),
    /* how it is recorded */
    { "storage_limit", set_limit, FIELD(storage_limit_mb), NULL, 200, UINT32_MAX, "200MB or more" },
    NUMBER("slice_kb", slice_kb, 64, 1 << 20, "KiB from 64 to 1048576"),
    NUMBER("ring_kb", ring_kb, 64, 1 << 20, "KiB from 64 to 1048576, a power of two"),
    TEXT("ring_dir", ring_dir),
};
/* clang-format on */

const char *options_row_name(size_t i)
{
    return i < COUNT(rows) ? rows[i].name : NULL;
}

/* The command's way to write a name is taken, too: "--task-time" is task_time. */
static const struct option_row *row_find(const char *name)
{
    name += strspn(name, "-");
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *a = rows[i].name, *b = name;
        while (*a && (*a == *b || (*a == '_' && *b == '-')))
            a++, b++;
        if (!*a && !*b)
            return &rows[i];
    }
    return NULL;
}

static void wanted(const struct option_row *r, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", r->wanted ? r->wanted : "one of");
    for (const struct choice *c = r->wanted ? NULL : r->choice; c && c->name && n < size; c++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", c == r->choice ? " " : ", ", c->name);
}

bool ascope_options_set(struct ascope_options *o, const char *name, const char *value)
{
    const struct option_row *r = name ? row_find(name) : NULL;
    if (!r)
        return false;
    if ((uint32_t)(r->at + r->bytes) > o->size) {
        message(ASCOPE_WARNING, "option %s: newer than the program, which was built without it; left alone", r->name);
        return true;
    }
    const size_t known = o->size < sizeof *o ? o->size : sizeof *o;
    struct ascope_options whole; /* a row may look at fields that the caller does not have */
    ascope_options_init(&whole);
    memcpy(&whole, o, known);
    if (!value || !r->set(&whole, r, value)) {
        char text[400];
        wanted(r, text, sizeof text);
        message(ASCOPE_WARNING, "option %s: \"%.60s\" cannot be taken, the default is; wanted %s", r->name,
                value ? value : "", text);
        if (r->set == set_several || r->set == set_number || r->set == set_choice)
            memcpy((char *)&whole + r->at, (const char *)&defaults + r->at, r->bytes);
    }
    memcpy(o, &whole, known);
    return true;
}

/* ---- a session's own copy ---- */

static const uint16_t texts[] = {
    offsetof(struct ascope_options, parent_dir),
    offsetof(struct ascope_options, worker_name),
    offsetof(struct ascope_options, device),
    offsetof(struct ascope_options, mstx_domain_include),
    offsetof(struct ascope_options, mstx_domain_exclude),
    offsetof(struct ascope_options, op_types),
    offsetof(struct ascope_options, fp_point),
    offsetof(struct ascope_options, bp_point),
    offsetof(struct ascope_options, mem_serviceflow),
    offsetof(struct ascope_options, npu_events),
    offsetof(struct ascope_options, custom_events),
    offsetof(struct ascope_options, ring_dir),
};

static char **text_at(struct ascope_options *o, size_t i)
{
    return (char **)((char *)o + texts[i]);
}

bool options_take(struct ascope_options *out, const struct ascope_options *from, struct error *e)
{
    bool is_whole = true;
    if (from->size < offsetof(struct ascope_options, layout))
        return error_set(e, FAULT_ASKED, "options of %u bytes: ascope_options_init() was not called", from->size);
    ascope_options_init(out);
    memcpy(out, from, from->size < sizeof *out ? from->size : sizeof *out);
    out->size = sizeof *out;
    for (size_t i = 0; i < COUNT(texts); i++) {
        char **text = text_at(out, i);
        if (*text)
            is_whole &= (*text = strdup(*text)) != NULL;
    }
    if (is_whole)
        return true;
    options_fini(out);
    return error_set(e, FAULT_LIMIT, "no memory for the options of a session");
}

void options_fini(struct ascope_options *o)
{
    for (size_t i = 0; i < COUNT(texts); i++) {
        free(*text_at(o, i));
        *text_at(o, i) = NULL;
    }
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
    message(ASCOPE_WARNING, "export_type: neither text nor db; text is taken");
    o->export_text = true;
}

static void check_metrics_for_level(struct ascope_options *o)
{
    const bool is_low = o->level == ASCOPE_LEVEL0 || o->level == ASCOPE_LEVEL_NONE;
    if (o->metrics == ASCOPE_METRICS_BY_LEVEL && is_low)
        o->metrics = ASCOPE_NO_METRICS;
    if (!is_low || (o->metrics == ASCOPE_NO_METRICS && !o->custom_events))
        return;
    message(ASCOPE_WARNING, "aic_metrics: the cores count from Level1 on, not at %s; none is taken",
            options_level_name(o->level));
    o->metrics = ASCOPE_NO_METRICS;
    text_drop(&o->custom_events);
}

static void check_marks_without_level(struct ascope_options *o)
{
    if (o->level != ASCOPE_LEVEL_NONE || o->mstx)
        return;
    message(ASCOPE_WARNING, "profiler_level Level_none records marks only, and mstx is off; mstx is switched on");
    o->mstx = true;
}

static void check_level(struct ascope_options *o)
{
    if (options_level_name(o->level))
        return;
    if (o->level != NOT_KNOWN)
        message(ASCOPE_WARNING, "profiler_level: %u is none; Level0 is taken", o->level);
    o->level = ASCOPE_LEVEL0;
}

static void check_metrics(struct ascope_options *o)
{
    const bool is_asked = o->metrics != ASCOPE_METRICS_BY_LEVEL && o->metrics != NOT_KNOWN;
    if (options_metrics_name(o->metrics))
        return;
    const uint32_t instead = o->level == ASCOPE_LEVEL0 ? ASCOPE_NO_METRICS : ASCOPE_PIPE_UTILIZATION;
    if (is_asked)
        message(ASCOPE_WARNING, "aic_metrics: %u is none; %s is taken", o->metrics, options_metrics_name(instead));
    o->metrics = instead;
}

static void check_attributes(struct ascope_options *o)
{
    if (!o->op_attr || o->export_db)
        return;
    message(ASCOPE_WARNING, "op_attr: attributes are shown in databases only, and export_type has no db; switched off");
    o->op_attr = false;
}

static void check_threshold(struct ascope_options *o)
{
    if (!isfinite(o->gc_threshold_ms)) {
        message(ASCOPE_WARNING, "gc_detect_threshold: not a number of ms; none is taken");
        o->gc_threshold_ms = -1;
    }
    if (o->gc_threshold_ms < 0 || (o->activities & ASCOPE_CPU))
        return;
    message(ASCOPE_WARNING, "gc_detect_threshold: needs the CPU in activities; no collections of garbage are recorded");
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
        message(ASCOPE_WARNING, "mstx_domain_include, mstx_domain_exclude: mstx is off; passed over");
        text_drop(&o->mstx_domain_include);
        text_drop(&o->mstx_domain_exclude);
    }
    if (o->mstx_domain_include && o->mstx_domain_exclude) {
        message(ASCOPE_WARNING, "mstx_domain_include and mstx_domain_exclude: only one can be; the first is taken");
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
    message(ASCOPE_WARNING, "host_sys: 0x%x has what is no part of the host; nothing is taken", o->host_sys);
    o->host_sys = 0;
}

static void check_activities(struct ascope_options *o)
{
    const uint32_t both = ASCOPE_CPU | ASCOPE_NPU;
    if (o->activities & ~both)
        message(ASCOPE_WARNING, "activities: 0x%x has what is none; CPU and NPU are taken", o->activities);
    if (o->activities == 0 || (o->activities & ~both))
        o->activities = both;
}

static void check_use_of_device(const struct ascope_options *o)
{
    const bool needs_device =
        o->level != ASCOPE_LEVEL0 || o->mstx || o->l2_cache || o->sys_io || o->sys_interconnection;
    if (o->layout == ASCOPE_LAYOUT_PYTORCH && !(o->activities & ASCOPE_NPU) && needs_device)
        message(ASCOPE_WARNING,
                "activities without NPU: profiler_level, mstx, l2_cache and what else is the device's are not used");
}

static void check_place(struct ascope_options *o)
{
    if (o->layout > ASCOPE_LAYOUT_PROF) {
        message(ASCOPE_WARNING, "layout: %u is none; pytorch is taken", o->layout);
        o->layout = ASCOPE_LAYOUT_PYTORCH;
    }
    if (o->rank < -1) {
        message(ASCOPE_WARNING, "rank: %d is none; that of the environment is taken", o->rank);
        o->rank = -1;
    }
    const char *w = o->worker_name;
    bool is_name = w && *w && strlen(w) <= WORKER_MOST;
    for (const char *c = w; is_name && *c; c++)
        is_name = *c != '/' && (unsigned char)*c >= ' ' && *c != 0x7f;
    if (w && !is_name) {
        message(ASCOPE_WARNING,
                "worker_name: \"%.40s%s\" cannot be a part of a directory's name (wanted up to %d bytes, no slash, no "
                "control characters); the machine's name is taken",
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
        message(ASCOPE_WARNING, "ring_kb: %u is no power of two from 64 to 1048576; %u is taken", asked, o->ring_kb);
}

/* Taken from every door, so that programs need no change; said, so that nobody waits for the data. */
static void check_what_is_not_recorded(const struct ascope_options *o)
{
    const struct {
        const char *name;
        bool is_on;
    } all[] = { { "host_sys osrt, numa", o->host_sys & ~(uint32_t)HOST_SAMPLED }, { "host_sys_usage", o->host_usage } };
    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].is_on)
            message(ASCOPE_WARNING, "%s: kept in the settings only; this version records nothing for it", all[i].name);
}

/* Switches of PyTorch's door that are rates at the device's. */
static void derive_rates(struct ascope_options *o)
{
    if (o->profile_memory && o->hardware_mem_hz == 0)
        o->hardware_mem_hz = 50;
    if (o->sys_io && o->io_hz == 0)
        o->io_hz = 100;
    if (o->sys_interconnection && o->interconnection_hz == 0)
        o->interconnection_hz = 50;
    if (o->host_usage && o->host_usage_hz == 0)
        o->host_usage_hz = 50;
}

void options_check(struct ascope_options *o)
{
    static void (*const checks[])(struct ascope_options *) = {
        check_activities, check_exports,  check_metrics_for_level, check_marks_without_level,
        check_level,      check_metrics,  check_attributes,        check_threshold,
        check_domains,    check_host_sys, check_activities,        check_place,
        check_sizes,      derive_rates,
    };
    for (size_t i = 0; i < COUNT(checks); i++)
        checks[i](o);
    check_use_of_device(o);
    check_what_is_not_recorded(o);
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
        { o->record_shapes && o->level == ASCOPE_LEVEL0, DATA_AICORE_SHAPE },
        { o->instr_hz > 0, DATA_INSTRUCTIONS },
    };
    uint64_t mask = of_level[o->level] | o->more_data;
    for (size_t i = 0; i < COUNT(more); i++)
        mask |= more[i].is_on ? more[i].bits : 0;
    return mask & ~o->less_data;
}

uint32_t options_recorded(const struct ascope_options *o)
{
    const bool has_framework = o->layout == ASCOPE_LAYOUT_PYTORCH && (o->activities & ASCOPE_CPU);
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
        { has_prof && o->mstx, ASCOPE_RECORDS_MARKS },
        { has_prof && (options_data_mask(o) & ~DATA_MARKS) != 0, ASCOPE_RECORDS_DEVICE },
    };
    uint32_t recorded = 0;
    for (size_t i = 0; i < COUNT(all); i++)
        recorded |= all[i].is_on ? all[i].what : 0;
    return recorded;
}
