/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/chrome_trace.h"

#include <string.h>

void chrome_trace_free(struct chrome_trace *t)
{
    memory_unmap(&t->map);
    arena_free(t->mem);
    names_free(t->names);
    *t = (struct chrome_trace){ 0 };
}

struct json_span chrome_fact(const struct chrome_trace *t, const char *key)
{
    struct json_span found = { 0 };
    for (size_t i = 0; i < t->facts.n; i++) {
        if (strcmp(names_text(t->names, t->facts.at[i].key), key) == 0)
            found = t->facts.at[i].value;
    }
    return found;
}
