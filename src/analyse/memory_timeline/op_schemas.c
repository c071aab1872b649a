/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory_timeline/op_schemas.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define KIND(k) (1U << (k))
enum {
    NO_TENSOR = KIND(INPUT_NONE) | KIND(INPUT_OTHER),
    ANYTHING = KIND(INPUT_KINDS) - 1,
};
static const uint8_t takes['z' + 1] = {
    ['a'] = ANYTHING,
    ['t'] = KIND(INPUT_TENSOR),
    ['o'] = KIND(INPUT_TENSOR) | KIND(INPUT_NONE),
    ['l'] = KIND(INPUT_TENSORS),
    ['p'] = KIND(INPUT_TENSORS) | KIND(INPUT_NONE),
    ['s'] = NO_TENSOR,
};

static int by_name(const void *name, const void *schema)
{
    return strcmp(name, ((const struct op_schema *)schema)->name);
}

const struct op_schema *op_schema_find(const char *name)
{
    return bsearch(name, op_schema_table, n_op_schemas, sizeof *op_schema_table, by_name);
}

static bool overload_takes(const char *letter, const uint8_t *kind, size_t n, uint64_t *written)
{
    uint64_t writes = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(takes[tolower(letter[i])] & KIND(kind[i])))
            return false;
        writes |= (uint64_t)(isupper(letter[i]) != 0) << i;
    }
    *written |= writes;
    return true;
}

bool op_schema_match(const struct op_schema *s, const uint8_t *kind, size_t n, uint64_t *written)
{
    bool matches = false;
    *written = 0;
    for (const char *o = s->overloads; *o;) {
        const size_t len = strcspn(o, " ");
        const size_t n_arguments = *o == '.' ? 0 : len;
        if (n_arguments == n && overload_takes(o, kind, n, written))
            matches = true;
        o += len + strspn(o + len, " ");
    }
    return matches;
}
