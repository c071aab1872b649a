/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_memory.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_bool has_failed;
static _Thread_local jmp_buf *way_out; /* of json_read(), while it reads */

/* jansson, at least up to 2.14, does not check whether the buffer of a string could grow, and would write beyond its
 * end. A failed allocation therefore leaves the parser at once. What it has allocated is leaked: without memory the
 * process ends anyway. */
static void *json_memory_take(size_t size)
{
    void *p = malloc(size);
    if (p || size == 0)
        return p;
    atomic_store(&has_failed, true);
    if (way_out)
        longjmp(*way_out, 1);
    return NULL;
}

void json_memory_watch(void)
{
    json_set_alloc_funcs(json_memory_take, free);
}

bool json_memory_failed(void)
{
    return atomic_load(&has_failed);
}

json_t *json_read(const char *text, size_t len, size_t flags, json_error_t *why)
{
    jmp_buf out;
    json_t *read = NULL;
    if (setjmp(out) == 0) {
        way_out = &out;
        read = json_loadb(text, len, flags, why);
    }
    way_out = NULL;
    return read;
}

json_t *text_json(const char *text)
{
    json_t *s = json_string(text);
    if (s)
        return s;
    char *clean = strdup(text);
    for (char *c = clean; clean && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    s = clean ? json_string(clean) : NULL;
    free(clean);
    return s;
}

json_t *text_or_null(const char *text)
{
    return text ? text_json(text) : json_null();
}
