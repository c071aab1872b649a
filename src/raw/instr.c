/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/instr.h"

#include <string.h>

const struct layout instr_layout = {
    .name = "instr", .size = 4, .n = INSTR_FIELDS,
    .field = {
        [INSTR_LOW] = { 0, W16, "low" },
        [INSTR_HIGH] = { 2, W16, "high" },
    },
};

bool instr_family(const char *family, unsigned *group, const char **core)
{
    const size_t prefix = sizeof INSTR_PREFIX - 1;
    if (strncmp(family, INSTR_PREFIX, prefix) != 0)
        return false;
    const size_t digits = strspn(family + prefix, "0123456789");
    const char *rest = family + prefix + digits;
    if (digits == 0 || *rest != '_' || rest[1] == 0)
        return false;
    *group = (unsigned)(rest[-1] - '0');
    *core = rest + 1;
    return true;
}
