/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/dyn/dyn_verb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/out.h"
#include "collect/options/option_rows.h"
#include "collect/options/option_values.h"
#include "dynamic/config.h"

/* ---- reading ---- */

bool dyn_config_read(struct dyn_config *c, const char *dir, struct arena *mem, struct error *e)
{
    static const char advice[] = "correct it, or delete it, and a new one is written";
    struct config_text t = { 0 };
    json_error_t where = { 0 };
    *c = (struct dyn_config){ .path = arena_printf(mem, "%s/" CONFIG_FILE_NAME, dir) };
    if (!c->path)
        return error_no_memory(e, CONFIG_FILE_NAME);
    if (config_text_read(&t, c->path, e) && stat(c->path, &c->was) == 0) {
        c->root = t.stamp.size > 0 ? json_loadb(t.text, t.stamp.size, 0, &where) : json_object();
        if (!c->root)
            error_set(e, FAULT_FORMAT, "%s: line %d: %s; %s", c->path, where.line, where.text, advice);
        else if (!json_is_object(c->root))
            error_set(e, FAULT_FORMAT, "%s: not a JSON object; %s", c->path, advice);
    } else if (t.stamp.why == ENOENT) {
        *e = (struct error){ 0 };
        c->is_new = true;
        c->root = json_object();
    }
    config_text_fini(&t);
    return e->fault == FAULT_NONE && (c->root || error_no_memory(e, c->path));
}

void dyn_config_end(struct dyn_config *c)
{
    json_decref(c->root);
    c->root = NULL;
}

/* ---- changing ---- */

bool dyn_config_set(struct dyn_config *c, const char *key, json_t *value)
{
    const char *const dot = strchr(key, '.');
    if (!dot)
        return json_object_set_new(c->root, key, value) == 0;
    char outer[64];
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - key), key);
    json_t *inner = json_object_get(c->root, outer);
    if (!json_is_object(inner)) { /* missing or not an object, which a job would ignore */
        inner = json_object();
        if (json_object_set_new(c->root, outer, inner) != 0)
            inner = NULL;
    }
    return json_object_set_new(inner, dot + 1, value) == 0; /* releases the value if it fails */
}

/* Keys of the file that are not options of the recorder. */
/* clang-format off */
static const struct own_key {
    const char *name;
    json_type type; /* JSON_TRUE: a boolean */
    json_int_t least;
    const char *accepted;
} own_keys[] = {
    { "prof_dir", JSON_STRING, 0, "a directory" },
    { "analyse", JSON_TRUE, 0, "true, false" },
    { "async_mode", JSON_TRUE, 0, "true, false" },
    { "active", JSON_INTEGER, 1, "an integer from 1" },
    { "warmup", JSON_INTEGER, 0, "an integer from 0" },
    { "metadata", JSON_OBJECT, 0, "a JSON object" },
};
/* clang-format on */

static bool dyn_config_fits(const struct own_key *k, const json_t *value)
{
    if (k->type == JSON_TRUE)
        return json_is_boolean(value);
    return json_typeof(value) == k->type && (k->type != JSON_INTEGER || json_integer_value(value) >= k->least);
}

static bool set_own(struct dyn_config *c, const struct own_key *k, const char *text, struct error *e)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (k->type == JSON_STRING && !json_is_string(value)) { /* the command line omits the quotes of JSON */
        json_decref(value);
        value = *text ? json_string(text) : NULL;
    }
    if (!value || !dyn_config_fits(k, value)) {
        json_decref(value);
        return error_set(e, FAULT_ASKED, "--%s=%s: invalid value; accepted are %s", k->name, text, k->accepted);
    }
    return dyn_config_set(c, k->name, value) || error_no_memory(e, c->path);
}

static json_t *list_json(const char *text)
{
    json_t *const list = json_array();
    while (*text) {
        const size_t n = strcspn(text, ",");
        if (n > 0)
            json_array_append_new(list, json_stringn(text, n));
        text += n + (text[n] == ',');
    }
    return list;
}

/* Converts a valid value to JSON by the kind of the option. */
static json_t *value_json(const struct recorder_option *r, const char *text)
{
    switch (r->is.kind) {
    case ASCOPE_OPTION_BOOLEAN: return json_boolean(strchr("t1yo", *text) && strcmp(text, "off") != 0);
    case ASCOPE_OPTION_NUMBER: return json_integer(strtoll(text, NULL, 10));
    case ASCOPE_OPTION_MS: {
        const double ms = strtod(text, NULL);
        return ms == (double)(long)ms ? json_integer((long)ms) : json_real(ms);
    }
    case ASCOPE_OPTION_LIST:
    case ASCOPE_OPTION_NAMES: return list_json(text);
    default: return json_string(text);
    }
}

static bool set_recorder(struct dyn_config *c, const struct recorder_option *r, const char *name, const char *text,
                         struct error *e)
{
    struct ascope_options scratch;
    ascope_options_init(&scratch);
    char key[64], values[300];
    if (!option_set(&scratch, r, text)) {
        ascope_option_values(&r->is, values, sizeof values);
        return error_set(e, FAULT_ASKED, "--%s=%s: invalid value; accepted are %s", name, text, values);
    }
    snprintf(key, sizeof key, "%s%s", r->is.section == ASCOPE_SECTION_EXPERIMENTAL ? "experimental_config." : "", name);
    return dyn_config_set(c, key, value_json(r, text)) || error_no_memory(e, c->path);
}

bool dyn_config_set_word(struct dyn_config *c, const char *word, struct error *e)
{
    char name[40];
    const char *const text = strchr(word, '=');
    snprintf(name, sizeof name, "%.*s", (int)(text - word) - 2, word + 2);
    for (size_t i = 0; i < sizeof own_keys / sizeof *own_keys; i++)
        if (strcmp(own_keys[i].name, name) == 0)
            return set_own(c, &own_keys[i], text + 1, e);
    return set_recorder(c, recorder_option_find(name), name, text + 1, e);
}

bool dyn_config_has_key(const char *word)
{
    char name[40];
    const size_t len = strcspn(word, "=");
    if (strncmp(word, "--", 2) != 0 || word[len] != '=' || len - 2 >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)len - 2, word + 2);
    for (size_t i = 0; i < sizeof own_keys / sizeof *own_keys; i++)
        if (strcmp(own_keys[i].name, name) == 0)
            return true;
    const struct recorder_option *const r = recorder_option_find(name);
    if (!r || r->is.section == ASCOPE_SECTION_NONE)
        return false;
    for (const struct ascope_option_name *n = r->is.names; n->name; n++)
        if (strcmp(n->name, name) == 0 && (n->front_ends & ASCOPE_FRONT_END_DYNAMIC))
            return true;
    return false;
}

/* ---- writing ---- */

static void dyn_config_put_value(struct out *o, const json_t *v, unsigned depth);

static void put_line(struct out *o, unsigned depth)
{
    out_char(o, '\n');
    for (unsigned i = 0; i < 4 * depth; i++)
        out_char(o, ' ');
}

/* Formats the file like the template: one member per line, lists on one line. */
static void put_object(struct out *o, const json_t *v, unsigned depth)
{
    bool is_first = true;
    out_char(o, '{');
    for (void *at = json_object_iter((json_t *)v); at; at = json_object_iter_next((json_t *)v, at)) {
        if (!is_first)
            out_char(o, ',');
        is_first = false;
        put_line(o, depth + 1);
        const char *const key = json_object_iter_key(at);
        out_json(o, key, strlen(key));
        out_bytes(o, ": ", 2);
        dyn_config_put_value(o, json_object_iter_value(at), depth + 1);
    }
    if (!is_first)
        put_line(o, depth);
    out_char(o, '}');
}

static void put_list(struct out *o, const json_t *v, unsigned depth)
{
    out_char(o, '[');
    for (size_t i = 0; i < json_array_size(v); i++) {
        if (i > 0)
            out_bytes(o, ", ", 2);
        dyn_config_put_value(o, json_array_get(v, i), depth);
    }
    out_char(o, ']');
}

static void dyn_config_put_value(struct out *o, const json_t *v, unsigned depth)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT: put_object(o, v, depth); break;
    case JSON_ARRAY: put_list(o, v, depth); break;
    case JSON_STRING: out_json(o, json_string_value(v), json_string_length(v)); break;
    case JSON_INTEGER: out_i64(o, json_integer_value(v)); break;
    case JSON_REAL: out_real(o, json_real_value(v)); break;
    case JSON_TRUE: out_bytes(o, "true", 4); break;
    case JSON_FALSE: out_bytes(o, "false", 5); break;
    case JSON_NULL: out_bytes(o, "null", 4); break;
    }
}

bool dyn_config_write(struct dyn_config *c, struct error *e)
{
    struct out o;
    if (!out_open_named(&o, c->path, e))
        return false;
    dyn_config_put_value(&o, c->root, 0);
    if (!c->is_new && o.fd >= 0) { /* without permission for chown the file belongs to this user, as after an edit */
        const int unused = fchown(o.fd, c->was.st_uid, c->was.st_gid);
        (void)unused;
        if (fchmod(o.fd, c->was.st_mode & 0777) != 0)
            o.failed_errno = errno;
    }
    return out_close(&o, e);
}
