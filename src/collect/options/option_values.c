/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/options/option_values.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collect/session/message.h"
#include "collect/options/options.h"

enum { CUSTOM_EVENTS_MOST = 8 };

static const struct ascope_choice *choice_find(const struct ascope_choice *c, const char *text, size_t n)
{
    for (; c->name; c++)
        if (strlen(c->name) == n && strncasecmp(c->name, text, n) == 0)
            return c;
    return NULL;
}

const char *choice_name(const struct ascope_choice *c, uint64_t value)
{
    for (; c->name; c++)
        if (c->value == value)
            return c->name;
    return NULL;
}

bool list_next(const char **at, const char **name, size_t *n)
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

struct option_values_kept {
    struct option_values_kept *next;
    char text[];
};

const char *text_keep(const char *text)
{
    static struct option_values_kept *all;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    struct option_values_kept *k = all;
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

/* ---- fields ---- */

static void field_put(struct ascope_options *o, const struct recorder_option *r, uint64_t value)
{
    if (r->bytes == sizeof(bool))
        *(bool *)((char *)o + r->at) = value != 0;
    else if (r->bytes == sizeof(uint32_t))
        *(uint32_t *)((char *)o + r->at) = (uint32_t)value;
    else if (r->bytes == sizeof(uint64_t))
        memcpy((char *)o + r->at, &value, sizeof value);
}

static uint64_t field_get(const struct ascope_options *o, const struct recorder_option *r)
{
    if (r->get)
        return r->get(o);
    if (r->bytes == sizeof(bool))
        return *(const bool *)((const char *)o + r->at);
    uint64_t wide = 0;
    if (r->bytes == sizeof wide) {
        memcpy(&wide, (const char *)o + r->at, sizeof wide);
        return wide;
    }
    return *(const uint32_t *)(const void *)((const char *)o + r->at);
}

static const char *field_text(const struct ascope_options *o, const struct recorder_option *r)
{
    const char *text;
    memcpy(&text, (const char *)o + r->at, sizeof text);
    return text;
}

static double field_ms(const struct ascope_options *o, const struct recorder_option *r)
{
    double ms;
    memcpy(&ms, (const char *)o + r->at, sizeof ms);
    return ms;
}

static void export_put(struct ascope_options *o, uint64_t bits)
{
    o->export_text = bits & EXPORT_TEXT;
    o->export_db = bits & EXPORT_DB;
}

uint64_t option_get_export(const struct ascope_options *o)
{
    return (o->export_text ? EXPORT_TEXT : 0u) | (o->export_db ? EXPORT_DB : 0u);
}

void option_reset(struct ascope_options *o, const struct recorder_option *r)
{
    if (r->is.kind == ASCOPE_OPTION_TEXT || r->is.kind == ASCOPE_OPTION_NAMES)
        memcpy((char *)o + r->at, &r->initial_text, sizeof r->initial_text);
    else if (r->is.kind == ASCOPE_OPTION_MS)
        memcpy((char *)o + r->at, &(const double){ -1 }, sizeof(double));
    else if (r->set == option_set_export)
        export_put(o, r->initial);
    else
        field_put(o, r, r->initial);
}

/* ---- by kind ---- */

static bool set_choice(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    if (c)
        field_put(o, r, c->value);
    else
        option_reset(o, r);
    return c;
}

static bool several(const struct ascope_choice *from, const char *value, uint64_t *bits)
{
    const char *name;
    size_t n;
    for (*bits = 0; list_next(&value, &name, &n);) {
        const struct ascope_choice *c = choice_find(from, name, n);
        if (!c)
            return false;
        *bits |= c->value;
    }
    return true;
}

static bool set_list(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    uint64_t bits;
    const bool is_known = several(r->is.choices, value, &bits);
    if (is_known)
        field_put(o, r, bits);
    else
        option_reset(o, r);
    return is_known;
}

static bool set_number(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    char *end;
    const unsigned long long n = strtoull(value, &end, 10);
    const bool is_in = end != value && !*end && *value != '-' && n >= r->is.low && n <= r->is.high;
    if (is_in)
        field_put(o, r, n);
    else
        option_reset(o, r);
    return is_in;
}

static bool set_ms(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    char *end;
    const double ms = strtod_l(value, &end, json_locale());
    option_reset(o, r);
    if (strcasecmp(value, "none") == 0 || strcasecmp(value, "null") == 0)
        return true;
    if (end == value || *end || !isfinite(ms) || ms < 0)
        return false;
    memcpy((char *)o + r->at, &ms, sizeof ms);
    return true;
}

static bool set_text(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const char *kept = *value ? text_keep(value) : NULL;
    memcpy((char *)o + r->at, &kept, sizeof kept);
    return true;
}

bool option_set(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    static bool (*const of_kind[])(struct ascope_options *, const struct recorder_option *, const char *) = {
        [ASCOPE_OPTION_BOOLEAN] = set_choice, [ASCOPE_OPTION_CHOICE] = set_choice, [ASCOPE_OPTION_LIST] = set_list,
        [ASCOPE_OPTION_NUMBER] = set_number,  [ASCOPE_OPTION_MS] = set_ms,         [ASCOPE_OPTION_TEXT] = set_text,
        [ASCOPE_OPTION_NAMES] = set_text,
    };
    return (r->set ? r->set : of_kind[r->is.kind])(o, r, value);
}

/* ---- rows of their own ---- */

bool option_set_export(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    uint64_t bits;
    const bool is_known = several(r->is.choices, value, &bits) && bits != 0;
    export_put(o, is_known ? bits : r->initial);
    return is_known;
}

/* A switch for something that is sampled: on takes the usual rate unless one was given. */
bool option_set_rate(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    uint32_t *hz = (uint32_t *)((char *)o + r->at);
    if (c)
        *hz = !c->value ? 0 : *hz ? *hz : (uint32_t)r->bits;
    return c;
}

bool option_set_level(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    o->level = c ? (uint32_t)c->value : OPTION_NOT_KNOWN;
    return c;
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

bool option_set_metrics(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    o->custom_events = NULL;
    if (strncasecmp(value, "Custom:", 7) == 0 && are_events(value + 7)) {
        o->custom_events = text_keep(value + 7);
        o->metrics = ASCOPE_NO_METRICS;
        return true;
    }
    const struct ascope_choice *c = choice_find(r->filed, value, strlen(value));
    c = c ? c : choice_find(r->is.choices, value, strlen(value));
    o->metrics = c ? (uint32_t)c->value : OPTION_NOT_KNOWN;
    return c;
}

uint64_t option_get_blocks(const struct ascope_options *o)
{
    return !o->task_block ? 0 : o->task_block_shrink ? 1 : 2;
}

bool option_set_blocks(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    o->task_block = c && c->value > 0;
    o->task_block_shrink = c && c->value == 1;
    return c;
}

bool option_set_ai_core(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    if (c && !c->value)
        o->metrics = ASCOPE_NO_METRICS;
    else if (c && o->metrics == ASCOPE_NO_METRICS)
        o->metrics = ASCOPE_PIPE_UTILIZATION;
    return c;
}

bool option_set_old_marks(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    o->mstx |= c && c->value;
    if (c && c->value)
        message(ASCOPE_WARNING, "option msprof_tx: deprecated; use mstx");
    return c;
}

static void data_put(struct ascope_options *o, uint64_t of, uint64_t is_on)
{
    o->more_data = (o->more_data & ~of) | is_on;
    o->less_data = (o->less_data & ~is_on) | (of & ~is_on);
}

/* Sets or clears bits of the data mask, independently of the level. */
bool option_set_data(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    if (c)
        data_put(o, r->bits, c->value ? r->bits : 0);
    return c;
}

bool option_set_ge(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    if (c)
        data_put(o, DATA_GE_API_L0 | DATA_GE_API_L1, c->value);
    return c;
}

/* The switch task_time of msprof: its values are levels. */
bool option_set_task_time(struct ascope_options *o, const struct recorder_option *r, const char *value)
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
    const struct ascope_choice *c = choice_find(r->is.choices, value, strlen(value));
    if (!c)
        return false;
    o->level = means[c->value].level;
    o->more_data = (o->more_data & ~all) | means[c->value].more;
    o->less_data = (o->less_data & ~all) | means[c->value].less;
    return true;
}

/* "200MB" */
bool option_set_limit(struct ascope_options *o, const struct recorder_option *r, const char *value)
{
    char *end;
    const unsigned long long mb = strtoull(value, &end, 10);
    if (end == value || *value == '-' || (*end && strcasecmp(end, "MB") != 0) || mb < r->is.low || mb > r->is.high)
        return false;
    field_put(o, r, mb);
    return true;
}

/* ---- back to text ---- */

bool option_is_set(const struct ascope_options *o, const struct recorder_option *r)
{
    switch (r->is.kind) {
    case ASCOPE_OPTION_TEXT:
    case ASCOPE_OPTION_NAMES: return field_text(o, r);
    case ASCOPE_OPTION_MS: return field_ms(o, r) >= 0;
    default: return !r->changes_others && (!r->is.otherwise || field_get(o, r) != r->initial);
    }
}

static void add_list(const struct ascope_choice *c, uint64_t bits, struct json_text *out)
{
    for (const char *comma = ""; c->name; c++) {
        if (!(bits & c->value))
            continue;
        json_text_add(out, "%s%s", comma, c->name);
        bits &= ~c->value;
        comma = ",";
    }
}

static void add_value(const struct ascope_options *o, const struct recorder_option *r,
                      const struct ascope_choice *names, struct json_text *out)
{
    const char *name;
    switch (r->is.kind) {
    case ASCOPE_OPTION_TEXT:
    case ASCOPE_OPTION_NAMES:
        name = field_text(o, r);
        json_text_add(out, "%s", name ? name : "");
        break;
    case ASCOPE_OPTION_MS: json_text_add(out, "%g", field_ms(o, r)); break;
    case ASCOPE_OPTION_NUMBER: json_text_add(out, "%llu", (unsigned long long)field_get(o, r)); break;
    case ASCOPE_OPTION_LIST: add_list(names, field_get(o, r), out); break;
    default: name = choice_name(names, field_get(o, r)); json_text_add(out, "%s", name ? name : "");
    }
}

void option_text(const struct ascope_options *o, const struct recorder_option *r, struct json_text *out)
{
    add_value(o, r, r->is.choices, out);
}

/* As Python writes it with an indent of 4. */
static void add_lines(const char *list, struct json_text *out)
{
    const char *name;
    size_t n, n_lines = 0;
    json_text_add(out, "[");
    for (; list_next(&list, &name, &n); n_lines++) {
        char *const text = strndup(name, n);
        json_text_add(out, "%s\n                ", n_lines > 0 ? "," : "");
        json_text_string(out, text ? text : "");
        free(text);
    }
    json_text_add(out, n_lines > 0 ? "\n            ]" : "]");
}

void option_json(const struct ascope_options *o, const struct recorder_option *r, struct json_text *out)
{
    struct json_text text = { 0 };
    add_value(o, r, r->filed ? r->filed : r->is.choices, &text);
    const char *const value = text.n > 0 ? text.at : "";
    const bool is_bare = r->is.kind == ASCOPE_OPTION_BOOLEAN || r->is.kind == ASCOPE_OPTION_NUMBER;
    if (r->is.kind == ASCOPE_OPTION_MS)
        json_text_add(out, "%s", option_is_set(o, r) ? value : "null");
    else if (r->is.kind == ASCOPE_OPTION_LIST || r->is.kind == ASCOPE_OPTION_NAMES)
        add_lines(value, out);
    else if (is_bare)
        json_text_add(out, "%s", value);
    else
        json_text_string(out, value);
    out->is_short |= text.is_short;
    json_text_fini(&text);
}
