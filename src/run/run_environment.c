/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    char **at;
    size_t n;
};

static bool has(const struct list *l, const char *name, size_t bytes)
{
    for (size_t i = 0; i < l->n; i++)
        if (strncmp(l->at[i], name, bytes) == 0 && l->at[i][bytes] == '=')
            return true;
    return false;
}

/* Adds "K=V", of `bytes` bytes, unless the list has K already. False: no memory. */
static bool run_environment_add(struct list *l, const char *pair, size_t bytes)
{
    const char *const sign = memchr(pair, '=', bytes);
    if (!sign || sign == pair || has(l, pair, (size_t)(sign - pair)))
        return true;
    return (l->at[l->n] = strndup(pair, bytes)) && ++l->n;
}

static size_t run_environment_count(char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static bool add_ours(struct list *l, const char *const *ours)
{
    bool is_done = true;
    for (; ours[0] && is_done; ours += 2) {
        char *pair = NULL;
        if (!ours[1])
            continue;
        is_done = asprintf(&pair, "%s=%s", ours[0], ours[1]) >= 0 && run_environment_add(l, pair, strlen(pair));
        free(pair);
    }
    return is_done;
}

static bool add_more(struct list *l, const char *more)
{
    bool is_done = true;
    for (const char *at = more; at && *at && is_done;) {
        const size_t bytes = strcspn(at, ";");
        is_done = run_environment_add(l, at, bytes);
        at += bytes + (at[bytes] == ';');
    }
    return is_done;
}

char **environment_make(char *const *callers, const char *more, const char *const *ours, struct error *e)
{
    size_t room = run_environment_count(callers) + 2;
    for (const char *at = more; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
        room++;
    for (const char *const *at = ours; *at; at += 2)
        room++;
    struct list l = { .at = calloc(room, sizeof *l.at) };
    bool is_done = l.at && add_ours(&l, ours) && add_more(&l, more);
    for (; is_done && callers && *callers; callers++)
        is_done = run_environment_add(&l, *callers, strlen(*callers));
    if (is_done)
        return l.at;
    environment_free(l.at);
    error_no_memory(e, "the environment of the program");
    return NULL;
}

void environment_free(char **environment)
{
    for (char **at = environment; at && *at; at++)
        free(*at);
    free(environment);
}
