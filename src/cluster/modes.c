/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/modes.h"

#include <string.h>

const struct mode *const modes[] = {
#define ROW(name) &mode_##name,
    MODES(ROW)
#undef ROW
        NULL,
};

const struct mode *mode_find(const char *name, size_t len)
{
    for (size_t i = 0; modes[i]; i++)
        if (strlen(modes[i]->name) == len && strncmp(modes[i]->name, name, len) == 0)
            return modes[i];
    return NULL;
}
