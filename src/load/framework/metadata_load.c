/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/metadata_load.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/framework_names.h"
#include "base/text/json_memory.h"

/* Writes JSON as the reference does: characters beyond ASCII are escaped, with hexadecimal digits in lower case. */
static char *json_ascii(const json_t *value, size_t flags)
{
    char *const text = json_dumps(value, JSON_ENSURE_ASCII | flags);
    for (char *at = text; at && *at; at++) {
        if (*at != '\\')
            continue;
        if (*++at == 'u')
            for (int i = 1; i <= 4; i++)
                at[i] = (char)tolower((unsigned char)at[i]);
    }
    return text;
}

/* As the collector writes them, in its order. */
static json_t *environment_here(void)
{
    json_t *all = json_object();
    for (size_t i = 0; i < NOTED_VARIABLES; i++) {
        const char *value = getenv(noted_variables[i]);
        json_t *text = json_string(value ? value : "");
        json_object_set_new(all, noted_variables[i], text ? text : json_string(""));
    }
    return all;
}

/* The environment of the job if it was recorded, otherwise that of this process, as in the reference. */
static const char *environment(const json_t *of_job, struct arena *mem)
{
    json_t *const here = json_is_object(of_job) ? NULL : environment_here();
    char *const text = json_ascii(here ? here : of_job, 0);
    const char *const copy = text ? arena_text(mem, text, strlen(text)) : NULL;
    free(text);
    json_decref(here);
    return copy;
}

/* Numbers with as few digits as represent them exactly. */
static const char *json_text(const json_t *value, struct arena *mem)
{
    const char *copy = NULL;
    for (unsigned digits = 15; digits <= 17 && !copy; digits++) {
        json_error_t why;
        char *text = json_ascii(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
        json_t *back = text ? json_read(text, strlen(text), JSON_DECODE_ANY, &why) : NULL;
        if (text && (digits == 17 || json_equal(back, value)))
            copy = arena_text(mem, text, strlen(text));
        json_decref(back);
        free(text);
    }
    return copy;
}

/* The job may have noted its own environment, too, under the same name: both are kept, as the reference does. */
bool metadata_load(struct metadata *out, const json_t *of_job, const json_t *noted, struct arena *mem)
{
    const size_t n = json_object_size(noted) + 1;
    struct metadata m = { .row = arena_take(mem, n, sizeof *m.row) };
    if (!m.row)
        return false;
    m.row[m.n++] = (struct metadata_row){ "ENV_VARIABLES", environment(of_job, mem) };
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)noted, name, value) m.row[m.n++] =
        (struct metadata_row){ arena_text(mem, name, strlen(name)), json_text(value, mem) };
    *out = m;
    return !json_memory_failed() && !arena_failed(mem);
}
