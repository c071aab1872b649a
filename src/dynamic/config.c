/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/json_tree.h"
#include "collect/option_values.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { SHOWN_MOST = 60 }; /* bytes of a value in a message */

struct reading {
    const struct config_kind *kind;
    struct config *c;
    struct json_tree tree;
    uint32_t section; /* experimental_config; 0: none */
    bool has_options;
    config_report_fn report;
    void *user;
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

__attribute__((format(printf, 2, 3))) static void report(const struct reading *r, const char *fmt, ...)
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
static const char *shown(const struct reading *r, uint32_t i, char text[SHOWN_MOST + 4])
{
    const struct json_node *const n = &r->tree.node[i];
    const size_t size = n->end - n->begin, used = size < SHOWN_MOST ? size : SHOWN_MOST;
    memcpy(text, r->tree.text + n->begin, used);
    strcpy(text + used, used < size ? "..." : "");
    for (size_t k = 0; k < used; k++)
        if ((unsigned char)text[k] < ' ')
            text[k] = ' ';
    return text;
}

static void report_value(const struct reading *r, const char *key, uint32_t i, const char *instead, const char *accepts)
{
    char value[SHOWN_MOST + 4];
    report(r, "line %u: %s: invalid value %s; using %s; accepted: %s", r->tree.node[i].line, key, shown(r, i, value),
           instead, accepts);
}

/* ---- keys of requests ---- */

static void read_ranks(struct reading *r, const struct config_key *k, uint32_t list)
{
    struct config *const c = r->c;
    if (!c->is_rank) /* only looked at then */
        return;
    if (!list || r->tree.node[list].kind != JSON_IS_LIST) {
        if (list)
            report_value(r, k->name, list, "no rank", k->accepts);
        return;
    }
    size_t n = 0;
    for (uint32_t i = json_tree_first(&r->tree, list); i; i = json_tree_next(&r->tree, list, i))
        n++;
    c->ranks = calloc(n + 1, sizeof *c->ranks);
    for (uint32_t i = json_tree_first(&r->tree, list); c->ranks && i; i = json_tree_next(&r->tree, list, i)) {
        int64_t rank;
        if (json_tree_int(&r->tree, i, &rank) && rank >= 0 && rank <= INT32_MAX)
            c->ranks[c->n_ranks++] = (int32_t)rank;
        else
            report_value(r, k->name, i, "the others", k->accepts);
    }
}

static void read_metadata(struct reading *r, const struct config_key *k, uint32_t object)
{
    struct config *const c = r->c;
    if (!object)
        return;
    if (r->tree.node[object].kind != JSON_IS_OBJECT) {
        report_value(r, k->name, object, "none", k->accepts);
        return;
    }
    size_t n = 0;
    for (uint32_t key = json_tree_first(&r->tree, object); key; key = json_tree_next(&r->tree, object, key + 1))
        n++;
    c->metadata = calloc(n + 1, sizeof *c->metadata);
    for (uint32_t key = json_tree_first(&r->tree, object); c->metadata && key;
         key = json_tree_next(&r->tree, object, key + 1)) {
        const struct json_node *const value = &r->tree.node[key + 1];
        struct ascope_dynamic_metadata *const m = &c->metadata[c->n_metadata];
        m->key = json_tree_text(&r->tree, key);
        m->json = strndup(r->tree.text + value->begin, value->end - value->begin);
        c->n_metadata += m->key && m->json;
    }
}

static void read_number(struct reading *r, const struct config_key *k, uint32_t i)
{
    int64_t *const to = (int64_t *)(void *)((char *)r->c + k->at), value = 0;
    char instead[40];
    *to = k->initial;
    if (!i)
        return;
    const bool is_number =
        json_tree_int(&r->tree, i, &value) && (!k->refuses_boolean || r->tree.node[i].kind == JSON_IS_NUMBER);
    if (is_number && value >= k->low) {
        *to = value;
        return;
    }
    snprintf(instead, sizeof instead, "%lld", (long long)k->initial);
    report_value(r, k->name, i, instead, k->accepts);
}

static void read_boolean(struct reading *r, const struct config_key *k, uint32_t i)
{
    const unsigned kind = i ? r->tree.node[i].kind : JSON_IS_FALSE;
    *((bool *)r->c + k->at) = kind == JSON_IS_TRUE;
    if (kind != JSON_IS_TRUE && kind != JSON_IS_FALSE)
        report_value(r, k->name, i, "false", k->accepts);
}

static void read_section(struct reading *r, const struct config_key *k, uint32_t i)
{
    const unsigned kind = i ? r->tree.node[i].kind : JSON_IS_NULL;
    r->section = kind == JSON_IS_OBJECT ? i : 0;
    if (kind != JSON_IS_OBJECT && kind != JSON_IS_NULL)
        report_value(r, k->name, i, "the defaults of its keys", k->accepts);
}

static void read_keys(struct reading *r)
{
    static void (*const of_type[])(struct reading *, const struct config_key *, uint32_t) = {
        [KEY_BOOLEAN] = read_boolean,   [KEY_NUMBER] = read_number,   [KEY_RANKS] = read_ranks,
        [KEY_METADATA] = read_metadata, [KEY_SECTION] = read_section,
    };
    for (size_t i = 0; i < r->kind->n_keys; i++) {
        const struct config_key *const k = &r->kind->keys[i];
        if (!k->is_option || r->has_options)
            of_type[k->type](r, k, r->tree.n > 0 ? json_tree_member(&r->tree, 0, k->name) : 0);
    }
}

/* ---- options of the recorder ---- */

static const char *name_of(const struct config_kind *kind, const struct recorder_option *o)
{
    for (const struct ascope_option_name *n = o->is.names; n->name; n++)
        if (n->front_ends & kind->front_end)
            return n->name;
    return NULL;
}

static void report_option(const struct reading *r, const struct recorder_option *o, const char *key, uint32_t i)
{
    char accepts[400], instead[200];
    ascope_option_values(&o->is, accepts, sizeof accepts);
    ascope_option_default(&o->is, instead, sizeof instead);
    report_value(r, key, i, instead, accepts);
}

/* The texts of a list, or of one text, with commas between them. NULL: something else is in it, or no memory. */
static char *joined(const struct reading *r, uint32_t of)
{
    const struct json_tree *const t = &r->tree;
    const bool is_list = t->node[of].kind == JSON_IS_LIST;
    char *const all = calloc(t->node[of].end - t->node[of].begin + 1, 1);
    size_t n = 0;
    for (uint32_t i = is_list ? json_tree_first(t, of) : of; all && i; i = is_list ? json_tree_next(t, of, i) : 0) {
        char *const text = t->node[i].kind == JSON_IS_TEXT ? json_tree_text(t, i) : NULL;
        if (!text) {
            free(all);
            return NULL;
        }
        n += (size_t)sprintf(all + n, "%s%s", n > 0 ? "," : "", text);
        free(text);
    }
    return all;
}

static bool set_boolean(struct reading *r, const struct recorder_option *o, uint32_t i)
{
    const unsigned kind = r->tree.node[i].kind;
    bool *const field = (bool *)&r->c->options + o->at;
    if (kind != JSON_IS_TRUE && kind != JSON_IS_FALSE)
        return false;
    if ((kind == JSON_IS_TRUE) !=
        (o->initial != 0)) /* of two names of one switch (mstx, msprof_tx) either enables it */
        *field = kind == JSON_IS_TRUE;
    return true;
}

/* Unknown activities are skipped, not the whole list. */
static bool set_activities(struct reading *r, const struct recorder_option *o, uint32_t list)
{
    uint32_t bits = 0;
    if (r->tree.node[list].kind != JSON_IS_LIST)
        return false;
    for (uint32_t i = json_tree_first(&r->tree, list); i; i = json_tree_next(&r->tree, list, i)) {
        char *const text = r->tree.node[i].kind == JSON_IS_TEXT ? json_tree_text(&r->tree, i) : NULL;
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

static bool set_other(struct reading *r, const struct recorder_option *o, uint32_t i)
{
    const unsigned kind = r->tree.node[i].kind;
    const bool is_list = o->is.kind == ASCOPE_OPTION_LIST || o->is.kind == ASCOPE_OPTION_NAMES;
    const bool is_number = o->is.kind == ASCOPE_OPTION_MS;
    if (kind == JSON_IS_NULL) /* not set */
        return is_number || o->is.kind == ASCOPE_OPTION_TEXT || is_list;
    const bool fits = is_number ? kind == JSON_IS_NUMBER
                      : is_list ? kind == JSON_IS_LIST || o->set == option_set_export
                                : kind == JSON_IS_TEXT;
    if (!fits)
        return false;
    char *const text = is_number
                           ? strndup(r->tree.text + r->tree.node[i].begin, r->tree.node[i].end - r->tree.node[i].begin)
                           : joined(r, i);
    const bool is_empty = text && !*text;
    const bool is_valid =
        text && (is_empty ? is_list && o->set != option_set_export : option_set(&r->c->options, o, text));
    if (!is_valid)
        option_reset(&r->c->options, o);
    free(text);
    return is_valid;
}

static void check_place(const struct reading *r, const char *key, uint32_t i)
{
    const char *const path = r->c->options.parent_dir;
    struct stat st;
    if (!path)
        return;
    if (!config_path_is_plain(path))
        report(r, "line %u: %s: \"%.200s\" has other characters than letters, digits, _ and -; used all the same",
               r->tree.node[i].line, key, path);
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
        report(r, "line %u: %s: \"%.200s\" is a soft link; used all the same", r->tree.node[i].line, key, path);
}

static void read_options(struct reading *r)
{
    for (size_t k = 0; k < n_recorder_options; k++) {
        const struct recorder_option *const o = &recorder_options[k];
        const char *const key = r->kind->front_end ? name_of(r->kind, o) : NULL;
        const bool is_in_section = o->is.section == ASCOPE_SECTION_EXPERIMENTAL;
        const uint32_t i = !key || (is_in_section && !r->section)
                               ? 0
                               : json_tree_member(&r->tree, is_in_section ? r->section : 0, key);
        if (!i)
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
        const char *const key = name_of(kind, &recorder_options[k]);
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

static void report_unknown(const struct reading *r, uint32_t object)
{
    const bool is_section = object != 0;
    for (uint32_t key = json_tree_first(&r->tree, object); key; key = json_tree_next(&r->tree, object, key + 1)) {
        char *const name = json_tree_text(&r->tree, key);
        const unsigned line = r->tree.node[key].line;
        if (!name || (is_section ? is_option_of(r->kind, name, true) : is_key_of(r->kind, name)))
            ;
        else if (is_section ? is_key_of(r->kind, name) : is_option_of(r->kind, name, true))
            report(r, "line %u: %.60s is ignored here: it belongs %s experimental_config", line, name,
                   is_section ? "beside" : "into");
        else
            report(r, "line %u: unknown key \"%.60s\" is ignored", line, name);
        free(name);
    }
}

/* ---- all of it ---- */

bool config_read(struct config *c, const struct config_kind *kind, const char *text, size_t n, bool has_options,
                 config_report_fn report_fn, void *user, struct error *e)
{
    struct reading r = { .kind = kind, .c = c, .has_options = has_options, .report = report_fn, .user = user };
    *c = (struct config){ 0 };
    ascope_options_init(&c->options);
    bool is_whole = n == 0 || json_tree_read(&r.tree, text, n, e);
    if (is_whole && n > 0 && r.tree.node[0].kind != JSON_IS_OBJECT)
        is_whole = error_set(e, FAULT_FORMAT, "line %u: expected an object: {...}", r.tree.node[0].line);
    if (is_whole) {
        c->is_empty = n == 0 || !json_tree_first(&r.tree, 0);
        read_keys(&r);
        if (has_options && n > 0 && kind->front_end) {
            read_options(&r);
            report_unknown(&r, 0);
            if (r.section)
                report_unknown(&r, r.section);
        }
        kind->finish(c, report_fn, user);
    }
    json_tree_fini(&r.tree);
    return is_whole;
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
