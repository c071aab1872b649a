/* SPDX-License-Identifier: Apache-2.0 */
#include "open/framework_kinds.h"

#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "load/framework/collection_load.h"

/* MindSpore comes before PyTorch: it recognises its files by their names, whatever the name of the directory. */
const struct framework_kind framework_kinds[] = {
    { .id = FRAMEWORK_MINDSPORE, .is_one = ms_is_one, .look = ms_look, .load = ms_load, .analyse = ms_analyse },
    { .id = FRAMEWORK_PYTORCH, .is_one = pt_is_one, .look = pt_look, .load = pt_load, .analyse = collection_analyse },
};
const size_t n_framework_kinds = sizeof framework_kinds / sizeof *framework_kinds;

static bool has_suffix(const struct framework_kind *k, const char *path)
{
    const char *const suffix = framework_names[k->id].suffix;
    const size_t len = strlen(path), n = strlen(suffix);
    return len >= n && strcmp(path + len - n, suffix) == 0;
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
