/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/framework_kinds.h"

#include <stdio.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "load/pt.h"
#include "pipeline/framework_outputs.h"

const struct framework_kind framework_kinds[] = {
    { .name = PT_NAME,
      .suffix = "_ascend_pt",
      .is_one = pt_is_one,
      .look = pt_look,
      .load = pt_load,
      .analyse = collection_analyse,
      .output = framework_outputs,
      .n_outputs = &n_framework_outputs },
};
const size_t n_framework_kinds = sizeof framework_kinds / sizeof *framework_kinds;

static bool has_suffix(const struct framework_kind *k, const char *path)
{
    const size_t len = strlen(path), suffix = strlen(k->suffix);
    return len >= suffix && strcmp(path + len - suffix, k->suffix) == 0;
}

const struct framework_kind *framework_kind_of(const char *path, int *why)
{
    const struct framework_kind *found = NULL;
    *why = 0;
    for (size_t i = 0; i < n_framework_kinds && *why == 0; i++)
        if (framework_kinds[i].is_one(path, why) && (!found || has_suffix(&framework_kinds[i], path)))
            found = &framework_kinds[i];
    return *why == 0 ? found : NULL;
}

bool framework_has_name(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < n_framework_kinds && !found; i++)
        found = strstr(name, framework_kinds[i].suffix) != NULL; /* copies may have more behind it */
    return found;
}

const char *framework_names(char out[FRAMEWORK_NAMES])
{
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < n_framework_kinds && at < FRAMEWORK_NAMES; i++)
        at += (size_t)snprintf(out + at, FRAMEWORK_NAMES - at, "%s*%s", i > 0 ? ", " : "", framework_kinds[i].suffix);
    return out;
}
