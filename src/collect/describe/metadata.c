/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/describe/recording_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/framework_names.h"
#include "collect/session/message.h"
#include "collect/session/place.h"

enum { TEXT_MOST = 4096, ALL_MOST = 50 << 10 };

/* In the layout of PyTorch, values that users add have a limit. The list of groups has none: it is long in a large
 * cluster, and written once. */
static bool is_limited(const struct ascope_session *s, const char *key)
{
    return s->o.layout == ASCOPE_LAYOUT_PYTORCH && strcmp(key, "parallel_group_info") != 0;
}

static size_t characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xC0) != 0x80; /* further bytes of a UTF-8 character begin with the bits 10 */
    return n;
}

static struct metadata_key **key_find(struct ascope_session *s, const char *key)
{
    struct metadata_key **at = &s->metadata;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

void metadata_environment(struct json_text *t, size_t n)
{
    json_text_add(t, "{");
    for (size_t i = 0; i < n; i++) {
        const char *value = getenv(noted_variables[i]);
        json_text_add(t, "%s\"%s\": ", i > 0 ? ", " : "", noted_variables[i]);
        json_text_string(t, value ? value : "");
    }
    json_text_add(t, "}");
}

/* With the layout of MindSpore, the file contains only what the user has added. */
bool metadata_write(const struct ascope_session *s, struct error *e)
{
    struct json_text t = { 0 };
    char path[PATH_MAX + 64];
    const bool is_plain = s->o.layout == ASCOPE_LAYOUT_MINDSPORE;
    bool has_id = is_plain;
    if (is_plain && !s->metadata)
        return true;
    json_text_add(&t, "{");
    for (const struct metadata_key *k = s->metadata; k; k = k->next) {
        json_text_string(&t, k->key);
        json_text_add(&t, ": %s, ", k->value);
        has_id |= strcmp(k->key, "trace_id") == 0;
    }
    if (s->o.export_text && !is_plain) {
        json_text_add(&t, "\"ENV_VARIABLES\": ");
        metadata_environment(&t, NOTED_VARIABLES_OF_METADATA);
        json_text_add(&t, ", ");
    }
    if (s->n_devices > 0 && s->devices[0].is.is_simulated && !is_plain)
        json_text_add(&t, "\"simulated\": \"the device was simulated: no NPU took part\", ");
    if (!has_id)
        json_text_add(&t, "\"trace_id\": \"%s\", ", s->trace_id);
    if (t.n >= 2 && !t.is_short)
        t.n -= 2; /* the last comma */
    json_text_add(&t, "}");
    snprintf(path, sizeof path, "%s/profiler_metadata.json", s->path);
    const bool is_written = t.is_short ? error_no_memory(e, path) : place_file(path, t.at, t.n, session_how(s), e);
    json_text_fini(&t);
    return is_written;
}

void metadata_fini(struct ascope_session *s)
{
    for (struct metadata_key *k = s->metadata, *next; k; k = next) {
        next = k->next;
        free(k->key);
        free(k->value);
        free(k);
    }
    s->metadata = NULL;
}

static bool key_add(struct ascope_session *s, const char *key, const char *json, struct error *e)
{
    struct metadata_key **at = key_find(s, key);
    const size_t before = *at ? strlen((*at)->key) + strlen((*at)->value) : 0;
    const size_t bytes = s->metadata_bytes - before + strlen(key) + strlen(json);
    if (is_limited(s, key) && bytes > ALL_MOST)
        return error_set(e, FAULT_ASKED, "metadata %.60s: too large; at most %d bytes in total", key, ALL_MOST);
    char *value = strdup(json);
    if (*at && value) {
        message(ASCOPE_WARNING, "metadata %.60s: already set; replaced", key);
        free((*at)->value);
        (*at)->value = value;
    } else {
        struct metadata_key *k = calloc(1, sizeof *k);
        if (!k || !value || !(k->key = strdup(key))) {
            free(k);
            free(value);
            return error_no_memory(e, "the metadata of the session");
        }
        k->value = value;
        *at = k;
    }
    s->metadata_bytes = is_limited(s, key) ? bytes : s->metadata_bytes;
    return true;
}

/* A rank that the program learned after the recording had begun, without $RANK: torch.multiprocessing.spawn() passes it
 * to init_process_group(). The name of profiler_info has it. */
static bool rank_take(struct ascope_session *s, const char *json, struct error *e)
{
    char *end, before[PATH_MAX + 64];
    const long rank = strtol(json, &end, 10);
    if (s->rank >= 0 || *end || rank < 0 || rank > INT32_MAX)
        return true;
    s->rank = (int32_t)rank;
    if (s->state == SESSION_NEW)
        return true;
    snprintf(before, sizeof before, "%s/profiler_info.json", s->path);
    return session_describe(s, e) &&
           (unlink(before) == 0 || errno == ENOENT || error_set(e, FAULT_IO, "%s: %s", before, strerror(errno)));
}

static bool metadata_add(struct ascope_session *s, const char *key, const char *value, bool is_json,
                         struct ascope_error *to)
{
    struct error e = { 0 };
    struct json_text t = { 0 };
    if (to)
        *to->text = '\0';
    if (!s || !key || !value)
        error_set(&e, FAULT_ASKED, "metadata: session, key and value are required");
    else if (s->o.layout == ASCOPE_LAYOUT_PROF)
        error_set(&e, FAULT_ASKED, "metadata %.60s: not supported by layout prof; use layout pytorch or mindspore",
                  key);
    else if (is_limited(s, key) && (characters(key) > TEXT_MOST || characters(value) > TEXT_MOST))
        error_set(&e, FAULT_ASKED, "metadata %.60s: key or value is too long; at most %d characters each", key,
                  TEXT_MOST);
    else if (is_json && !json_is_value(value))
        error_set(&e, FAULT_ASKED, "metadata %.60s: invalid JSON", key);
    else if (!is_json)
        json_text_string(&t, value);
    if (t.is_short)
        error_no_memory(&e, "the metadata of the session");
    if (e.fault == FAULT_NONE && is_json && s->o.layout == ASCOPE_LAYOUT_PYTORCH && strcmp(key, "rank_id") == 0)
        rank_take(s, value, &e);
    else if (e.fault == FAULT_NONE && key_add(s, key, is_json ? value : t.at, &e) && s->state != SESSION_NEW)
        s->state == SESSION_STOPPED ? session_describe(s, &e) /* the list of files has its checksum */
                                    /* written at once, so that it exists even if the program is killed */
                                    : metadata_write(s, &e);
    json_text_fini(&t);
    return error_pass(&e, to);
}

bool ascope_metadata(struct ascope_session *s, const char *key, const char *text, struct ascope_error *e)
{
    return metadata_add(s, key, text, false, e);
}

bool ascope_metadata_json(struct ascope_session *s, const char *key, const char *json, struct ascope_error *e)
{
    return metadata_add(s, key, json, true, e);
}
