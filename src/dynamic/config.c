/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text/json_items.h"
#include "collect/options/option_values.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { SHOWN_MOST = 60 };    /* bytes of a value in a message */
enum { REPORTED_MOST = 50 }; /* messages about one text: each looks for its line */

struct config_reading {
    const struct config_kind *kind;
    struct config *c;
    const char *text;
    struct json_item whole, section; /* section: experimental_config */
    bool has_section;
    bool has_options;
    config_report_fn report;
    void *user;
    unsigned n_reported;
};

/* ---- the keys ---- */

enum key_type { KEY_BOOLEAN, KEY_NUMBER, KEY_RANKS, KEY_METADATA, KEY_SECTION };
struct config_key {
    const char *name;
    enum key_type type;
    uint16_t at;          /* of the field; of lists and objects unused */
    int64_t low, initial; /* of a number */
    bool refuses_boolean; /* else true and false are 1 and 0 */
    const char *accepts;
    bool is_option; /* read with the options */
};

/* clang-format off */
#define FIELD(name) .at = offsetof(struct config, name)
#define BOOLEAN     .type = KEY_BOOLEAN, .accepts = "true, false"
static const struct config_key pytorch_keys[] = {
    { "start_step", KEY_NUMBER, FIELD(start_step), .low = -1, .initial = 0,
      .accepts = "-1 (the next step), 0 (no profiling) or the number of a step" },
    { "active", KEY_NUMBER, FIELD(active), .low = 1, .initial = 1, .accepts = "a number of steps from 1" },
    { "warmup", KEY_NUMBER, FIELD(warmup), .low = 0, .initial = 0, .accepts = "a number of steps from 0" },
    { "is_rank", BOOLEAN, FIELD(is_rank) },
    { "rank_list", KEY_RANKS, .accepts = "a list of ranks from 0: [0, 8]" },
    { "analyse", BOOLEAN, FIELD(analyse), .is_option = true },
    { "async_mode", BOOLEAN, FIELD(async_mode), .is_option = true },
    { "metadata", KEY_METADATA, .accepts = "an object", .is_option = true },
    { "experimental_config", KEY_SECTION, .accepts = "an object", .is_option = true },
    { "stop", BOOLEAN, FIELD(stop) },
};
static const struct config_key mindspore_keys[] = {
    { "start_step", KEY_NUMBER, FIELD(start_step), .low = -1, .initial = -1, .refuses_boolean = true,
      .accepts = "-1 (no profiling) or the number of the first step" },
    { "stop_step", KEY_NUMBER, FIELD(stop_step), .low = -1, .initial = -1, .refuses_boolean = true,
      .accepts = "-1 (no profiling) or the number of the last step" },
    { "analyse", BOOLEAN, FIELD(analyse), .is_option = true },
    { "stop", BOOLEAN, FIELD(stop) },
};
/* clang-format on */

static void finish_pytorch(struct config *c, config_report_fn report, void *user)
{
    (void)report, (void)user;
    c->when = c->start_step == 0 ? WHEN_NEVER : c->start_step < 0 ? WHEN_NEXT : WHEN_AT;
    const int64_t most = INT64_MAX / 4; /* sums stay numbers */
    c->active = c->active < most ? c->active : most;
    c->warmup = c->warmup < most ? c->warmup : most;
}

static void finish_mindspore(struct config *c, config_report_fn report, void *user)
{
    c->when = c->start_step < 0 || c->stop_step < 0 ? WHEN_NEVER : WHEN_AT;
    c->warmup = 0;
    c->active = 1;
    if (c->when == WHEN_NEVER)
        return;
    if (c->start_step > c->stop_step) {
        char text[160];
        snprintf(text, sizeof text, "stop_step %lld is before start_step %lld; no profiling", (long long)c->stop_step,
                 (long long)c->start_step);
        if (report)
            report(ASCOPE_ERROR, text, user);
        c->when = WHEN_NEVER;
        return;
    }
    const int64_t span = c->stop_step - c->start_step;
    c->active = span < INT64_MAX / 4 ? span + 1 : INT64_MAX / 4;
}

/* The documented content, in its order; lists in one line. */
static const char pytorch_template[] = "{\n"
                                       "    \"activities\": [\"CPU\", \"NPU\"],\n"
                                       "    \"prof_dir\": \"./\",\n"
                                       "    \"analyse\": false,\n"
                                       "    \"record_shapes\": false,\n"
                                       "    \"profile_memory\": false,\n"
                                       "    \"with_stack\": false,\n"
                                       "    \"with_flops\": false,\n"
                                       "    \"with_modules\": false,\n"
                                       "    \"active\": 1,\n"
                                       "    \"warmup\": 0,\n"
                                       "    \"start_step\": 0,\n"
                                       "    \"is_rank\": false,\n"
                                       "    \"rank_list\": [],\n"
                                       "    \"experimental_config\": {\n"
                                       "        \"profiler_level\": \"Level0\",\n"
                                       "        \"aic_metrics\": \"AiCoreNone\",\n"
                                       "        \"l2_cache\": false,\n"
                                       "        \"op_attr\": false,\n"
                                       "        \"gc_detect_threshold\": null,\n"
                                       "        \"data_simplification\": true,\n"
                                       "        \"record_op_args\": false,\n"
                                       "        \"export_type\": [\"text\"],\n"
                                       "        \"mstx\": false,\n"
                                       "        \"mstx_domain_include\": [],\n"
                                       "        \"mstx_domain_exclude\": [],\n"
                                       "        \"host_sys\": [],\n"
                                       "        \"sys_io\": false,\n"
                                       "        \"sys_interconnection\": false\n"
                                       "    }\n"
                                       "}";
static const char mindspore_template[] = "{\n"
                                         "    \"start_step\": -1,\n"
                                         "    \"stop_step\": -1,\n"
                                         "    \"aic_metrics\": \"AiCoreNone\",\n"
                                         "    \"profiler_level\": \"Level0\",\n"
                                         "    \"analyse_mode\": -1,\n"
                                         "    \"activities\": [\n"
                                         "        \"CPU\",\n"
                                         "        \"NPU\"\n"
                                         "    ],\n"
                                         "    \"export_type\": [\n"
                                         "        \"text\"\n"
                                         "    ],\n"
                                         "    \"profile_memory\": false,\n"
                                         "    \"mstx\": false,\n"
                                         "    \"parallel_strategy\": false,\n"
                                         "    \"with_stack\": false,\n"
                                         "    \"data_simplification\": true,\n"
                                         "    \"l2_cache\": false,\n"
                                         "    \"analyse\": false,\n"
                                         "    \"record_shapes\": false,\n"
                                         "    \"prof_path\": \"./\",\n"
                                         "    \"mstx_domain_include\": [],\n"
                                         "    \"mstx_domain_exclude\": [],\n"
                                         "    \"host_sys\": [],\n"
                                         "    \"sys_io\": false,\n"
                                         "    \"sys_interconnection\": false\n"
                                         "}";

const struct config_kind config_kinds[] = {
    [ASCOPE_DYNAMIC_PYTORCH] = { .name = "pytorch",
                                 .memory_prefix = "DynamicProfileNpuShm",
                                 .template_text = pytorch_template,
                                 .keys = pytorch_keys,
                                 .n_keys = COUNT(pytorch_keys),
                                 .front_end = ASCOPE_FRONT_END_DYNAMIC,
                                 .retimes = true,
                                 .logs = true,
                                 .finish = finish_pytorch },
    [ASCOPE_DYNAMIC_MINDSPORE] = { .name = "mindspore",
                                   .memory_prefix = "DynamicProfileShm",
                                   .template_text = mindspore_template,
                                   .keys = mindspore_keys,
                                   .n_keys = COUNT(mindspore_keys),
                                   .counts_old_file = true,
                                   .starts_late = true,
                                   .finish = finish_mindspore },
};
const size_t n_config_kinds = COUNT(config_kinds);

/* ---- messages ---- */

__attribute__((format(printf, 2, 3))) static void report(const struct config_reading *r, const char *fmt, ...)
{
    char text[700];
    va_list args;
    if (!r->report)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    r->report(ASCOPE_WARNING, text, r->user);
}

/* The value as the file has it, in one line. */
static const char *shown(const struct config_reading *r, struct json_item i, char text[SHOWN_MOST + 4])
{
    const size_t size = i.end - i.at, used = size < SHOWN_MOST ? size : SHOWN_MOST;
    memcpy(text, r->text + i.at, used);
    strcpy(text + used, used < size ? "..." : "");
    for (size_t k = 0; k < used; k++)
        if ((unsigned char)text[k] < ' ')
            text[k] = ' ';
    return text;
}

/* False: there were enough. */
static bool may_report(struct config_reading *r)
{
    if (r->report && r->n_reported == REPORTED_MOST)
        report(r, "more problems are not listed");
    return r->report && r->n_reported++ < REPORTED_MOST;
}

static unsigned line_of(const struct config_reading *r, struct json_item i)
{
    unsigned line, column;
    json_place(r->text, i.at, &line, &column);
    return line;
}

static void report_value(struct config_reading *r, const char *key, struct json_item i, const char *instead,
                         const char *accepts)
{
    char value[SHOWN_MOST + 4];
    if (may_report(r))
        report(r, "line %u: %s: invalid value %s; using %s; accepted: %s", line_of(r, i), key, shown(r, i, value),
               instead, accepts);
}

/* ---- values ---- */

static char *config_text_of(const struct config_reading *r, struct json_item string)
{
    size_t n;
    return json_item_text(r->text, string, &n);
}

/* The value of the last member of this name, as most readers have it. NULL: none. */
static const struct json_item *member(const struct config_reading *r, struct json_item object, const char *name,
                                      struct json_item *out)
{
    const struct json_item *found = NULL;
    struct json_item key, value;
    for (size_t at = 0; json_member_next(r->text, object, &at, &key, &value);) {
        char *const text = config_text_of(r, key);
        if (text && strcmp(text, name) == 0) {
            *out = value;
            found = out;
        }
        free(text);
    }
    return found;
}

static bool is_true(const struct config_reading *r, struct json_item boolean)
{
    return r->text[boolean.at] == 't';
}

/* A whole number, at most INT64_MAX away from 0; true and false count as 1 and 0. False: something else. */
static bool config_number_of(const struct config_reading *r, struct json_item i, int64_t *value)
{
    *value = i.kind == ITEM_BOOLEAN && is_true(r, i);
    if (i.kind != ITEM_INTEGER)
        return i.kind == ITEM_BOOLEAN;
    const bool is_negative = r->text[i.at] == '-';
    for (size_t at = i.at + is_negative; at < i.end; at++) {
        const int digit = r->text[at] - '0';
        *value = *value > (INT64_MAX - digit) / 10 ? INT64_MAX : *value * 10 + digit;
    }
    *value = is_negative ? -*value : *value;
    return true;
}

/* ---- keys of requests ---- */

static void read_ranks(struct config_reading *r, const struct config_key *k, const struct json_item *list)
{
    struct config *const c = r->c;
    struct json_item i;
    if (!c->is_rank || !list) /* only looked at then */
        return;
    if (list->kind != ITEM_ARRAY) {
        report_value(r, k->name, *list, "no rank", k->accepts);
        return;
    }
    c->ranks = calloc((list->end - list->at) / 2 + 1, sizeof *c->ranks); /* a rank and a comma are two bytes */
    for (size_t at = 0; c->ranks && json_element_next(r->text, *list, &at, &i);) {
        int64_t rank;
        if (config_number_of(r, i, &rank) && rank >= 0 && rank <= INT32_MAX)
            c->ranks[c->n_ranks++] = (int32_t)rank;
        else
            report_value(r, k->name, i, "the others", k->accepts);
    }
}

static void read_metadata(struct config_reading *r, const struct config_key *k, const struct json_item *object)
{
    struct config *const c = r->c;
    struct json_item key, value;
    size_t n = 0;
    if (!object)
        return;
    if (object->kind != ITEM_OBJECT) {
        report_value(r, k->name, *object, "none", k->accepts);
        return;
    }
    for (size_t at = 0; json_member_next(r->text, *object, &at, &key, &value);)
        n++;
    c->metadata = calloc(n + 1, sizeof *c->metadata);
    for (size_t at = 0; c->metadata && json_member_next(r->text, *object, &at, &key, &value);) {
        struct ascope_dynamic_metadata *const m = &c->metadata[c->n_metadata];
        m->key = config_text_of(r, key);
        m->json = strndup(r->text + value.at, value.end - value.at);
        c->n_metadata += m->key && m->json;
    }
}

static void read_number(struct config_reading *r, const struct config_key *k, const struct json_item *i)
{
    int64_t *const to = (int64_t *)(void *)((char *)r->c + k->at), value = 0;
    char instead[40];
    *to = k->initial;
    if (!i)
        return;
    if (config_number_of(r, *i, &value) && (!k->refuses_boolean || i->kind == ITEM_INTEGER) && value >= k->low) {
        *to = value;
        return;
    }
    snprintf(instead, sizeof instead, "%lld", (long long)k->initial);
    report_value(r, k->name, *i, instead, k->accepts);
}

static void read_boolean(struct config_reading *r, const struct config_key *k, const struct json_item *i)
{
    const bool is_boolean = i && i->kind == ITEM_BOOLEAN;
    *((bool *)r->c + k->at) = is_boolean && is_true(r, *i);
    if (i && !is_boolean)
        report_value(r, k->name, *i, "false", k->accepts);
}

static void read_section(struct config_reading *r, const struct config_key *k, const struct json_item *i)
{
    r->has_section = i && i->kind == ITEM_OBJECT;
    if (r->has_section)
        r->section = *i;
    else if (i && i->kind != ITEM_NULL)
        report_value(r, k->name, *i, "the defaults of its keys", k->accepts);
}

static void read_keys(struct config_reading *r, bool is_empty)
{
    static void (*const of_type[])(struct config_reading *, const struct config_key *, const struct json_item *) = {
        [KEY_BOOLEAN] = read_boolean,   [KEY_NUMBER] = read_number,   [KEY_RANKS] = read_ranks,
        [KEY_METADATA] = read_metadata, [KEY_SECTION] = read_section,
    };
    for (size_t i = 0; i < r->kind->n_keys; i++) {
        const struct config_key *const k = &r->kind->keys[i];
        struct json_item value;
        if (!k->is_option || r->has_options)
            of_type[k->type](r, k, is_empty ? NULL : member(r, r->whole, k->name, &value));
    }
}

/* ---- options of the recorder ---- */

static const char *config_name_of(const struct config_kind *kind, const struct recorder_option *o)
{
    for (const struct ascope_option_name *n = o->is.names; n->name; n++)
        if (n->front_ends & kind->front_end)
            return n->name;
    return NULL;
}

static void report_option(struct config_reading *r, const struct recorder_option *o, const char *key,
                          struct json_item i)
{
    char accepts[400], instead[200];
    ascope_option_values(&o->is, accepts, sizeof accepts);
    ascope_option_default(&o->is, instead, sizeof instead);
    report_value(r, key, i, instead, accepts);
}

static bool add_text(const struct config_reading *r, struct json_item i, char *all, size_t *n)
{
    char *const text = i.kind == ITEM_STRING ? config_text_of(r, i) : NULL;
    if (text)
        *n += (size_t)sprintf(all + *n, "%s%s", *n > 0 ? "," : "", text);
    free(text);
    return text;
}

/* The texts of a list, or of one text, with commas between them. NULL: something else is in it, or no memory. */
static char *joined(const struct config_reading *r, struct json_item of)
{
    char *const all = calloc(of.end - of.at + 1, 1);
    struct json_item i;
    size_t n = 0;
    bool is_text = all && (of.kind == ITEM_ARRAY || add_text(r, of, all, &n));
    for (size_t at = 0; is_text && of.kind == ITEM_ARRAY && json_element_next(r->text, of, &at, &i);)
        is_text = add_text(r, i, all, &n);
    if (is_text)
        return all;
    free(all);
    return NULL;
}

static bool set_boolean(struct config_reading *r, const struct recorder_option *o, struct json_item i)
{
    bool *const field = (bool *)&r->c->options + o->at;
    if (i.kind != ITEM_BOOLEAN)
        return false;
    if (is_true(r, i) != (o->initial != 0)) /* of two names of one switch (mstx, msprof_tx) either enables it */
        *field = is_true(r, i);
    return true;
}

/* Unknown activities are skipped, not the whole list. */
static bool set_activities(struct config_reading *r, const struct recorder_option *o, struct json_item list)
{
    uint32_t bits = 0;
    struct json_item i;
    if (list.kind != ITEM_ARRAY)
        return false;
    for (size_t at = 0; json_element_next(r->text, list, &at, &i);) {
        char *const text = i.kind == ITEM_STRING ? config_text_of(r, i) : NULL;
        const struct ascope_choice *c = o->is.choices;
        while (c->name && (!text || strcasecmp(c->name, text) != 0))
            c++;
        if (c->name)
            bits |= (uint32_t)c->value;
        else
            report_value(r, "activities", i, "the others", "CPU, NPU");
        free(text);
    }
    if (bits)
        r->c->options.activities = bits;
    return true;
}

static bool set_other(struct config_reading *r, const struct recorder_option *o, struct json_item i)
{
    const bool is_list = o->is.kind == ASCOPE_OPTION_LIST || o->is.kind == ASCOPE_OPTION_NAMES;
    const bool is_number = o->is.kind == ASCOPE_OPTION_MS;
    if (i.kind == ITEM_NULL) /* not set */
        return is_number || o->is.kind == ASCOPE_OPTION_TEXT || is_list;
    const bool fits = is_number ? i.kind == ITEM_INTEGER || i.kind == ITEM_REAL
                      : is_list ? i.kind == ITEM_ARRAY || o->set == option_set_export
                                : i.kind == ITEM_STRING;
    if (!fits)
        return false;
    char *const text = is_number ? strndup(r->text + i.at, i.end - i.at) : joined(r, i);
    const bool is_none = text && !*text && is_list && o->set != option_set_export;
    const bool is_valid = is_none || (text && *text && option_set(&r->c->options, o, text));
    if (!is_valid)
        option_reset(&r->c->options, o);
    free(text);
    return is_valid;
}

static void check_place(const struct config_reading *r, const char *key, struct json_item i)
{
    const char *const path = r->c->options.parent_dir;
    struct stat st;
    if (!path)
        return;
    if (!config_path_is_plain(path))
        report(r, "line %u: %s: \"%.200s\" has other characters than letters, digits, _ and -; used all the same",
               line_of(r, i), key, path);
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        report(r, "line %u: %s: \"%.200s\" is a soft link; used all the same", line_of(r, i), key, path);
}

static void read_options(struct config_reading *r)
{
    for (size_t k = 0; k < n_recorder_options; k++) {
        const struct recorder_option *const o = &recorder_options[k];
        const char *const key = config_name_of(r->kind, o);
        const bool is_in_section = o->is.section == ASCOPE_SECTION_EXPERIMENTAL;
        struct json_item i;
        if (!key || (is_in_section && !r->has_section) || !member(r, is_in_section ? r->section : r->whole, key, &i))
            continue;
        const bool is_valid = o->at == offsetof(struct ascope_options, activities) ? set_activities(r, o, i)
                              : o->is.kind == ASCOPE_OPTION_BOOLEAN                ? set_boolean(r, o, i)
                                                                                   : set_other(r, o, i);
        if (!is_valid)
            report_option(r, o, key, i);
        else if (o->at == offsetof(struct ascope_options, parent_dir))
            check_place(r, key, i);
    }
}

/* ---- keys that nobody knows ---- */

static bool is_option_of(const struct config_kind *kind, const char *name, bool is_experimental)
{
    for (size_t k = 0; k < n_recorder_options; k++) {
        const char *const key = config_name_of(kind, &recorder_options[k]);
        if (key && strcmp(key, name) == 0)
            return (recorder_options[k].is.section == ASCOPE_SECTION_EXPERIMENTAL) == is_experimental;
    }
    return false;
}

static bool is_key_of(const struct config_kind *kind, const char *name)
{
    for (size_t i = 0; i < kind->n_keys; i++)
        if (strcmp(kind->keys[i].name, name) == 0)
            return true;
    return is_option_of(kind, name, false);
}

static void report_unknown(struct config_reading *r, struct json_item object, bool is_section)
{
    struct json_item key, value;
    for (size_t at = 0; json_member_next(r->text, object, &at, &key, &value);) {
        char *const name = config_text_of(r, key);
        if (!name || (is_section ? is_option_of(r->kind, name, true) : is_key_of(r->kind, name)) || !may_report(r))
            ;
        else if (is_section ? is_key_of(r->kind, name) : is_option_of(r->kind, name, true))
            report(r, "line %u: %.60s is ignored here: it belongs %s experimental_config", line_of(r, key), name,
                   is_section ? "beside" : "into");
        else
            report(r, "line %u: unknown key \"%.60s\" is ignored", line_of(r, key), name);
        free(name);
    }
}

/* ---- all of it ---- */

static bool check_text(struct config_reading *r, size_t n, struct error *e)
{
    const struct json_limits limits = { .objects = 64, .arrays = 64 };
    struct json_fault fault;
    if (!json_items_check(r->text, n, &limits, &r->whole, &fault)) {
        const struct json_item place = { .at = fault.at };
        return error_set(e, FAULT_FORMAT, "line %u: %s", line_of(r, place), fault.why);
    }
    return r->whole.kind == ITEM_OBJECT ||
           error_set(e, FAULT_FORMAT, "line %u: expected an object: {...}", line_of(r, r->whole));
}

bool config_read(struct config *c, const struct config_kind *kind, const char *text, size_t n, bool has_options,
                 config_report_fn report_fn, void *user, struct error *e)
{
    struct config_reading r = {
        .kind = kind, .c = c, .text = text, .has_options = has_options, .report = report_fn, .user = user
    };
    struct json_item key, value;
    *c = (struct config){ 0 };
    ascope_options_init(&c->options);
    if (n > 0 && !check_text(&r, n, e))
        return false;
    c->is_empty = n == 0 || !json_member_next(text, r.whole, &(size_t){ 0 }, &key, &value);
    read_keys(&r, n == 0);
    if (has_options && n > 0 && kind->front_end) {
        read_options(&r);
        report_unknown(&r, r.whole, false);
        if (r.has_section)
            report_unknown(&r, r.section, true);
    }
    kind->finish(c, report_fn, user);
    return true;
}

void config_fini(struct config *c)
{
    free(c->ranks);
    for (size_t i = 0; i < c->n_metadata; i++) {
        free((char *)c->metadata[i].key);
        free((char *)c->metadata[i].json);
    }
    free(c->metadata);
    *c = (struct config){ 0 };
}

bool config_has_rank(const struct config *c, int32_t rank)
{
    for (size_t i = 0; i < c->n_ranks; i++)
        if (c->ranks[i] == rank)
            return true;
    return !c->is_rank;
}

bool config_path_is_plain(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/.";
    return path[strspn(path, plain)] == '\0';
}
