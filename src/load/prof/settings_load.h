/* SPDX-License-Identifier: Apache-2.0 */
/* settings_load.h - loads the settings that collectors write as JSON: one file, or all of a directory. */
#ifndef ASCOPE_LOAD_PROF_SETTINGS_LOAD_H
#define ASCOPE_LOAD_PROF_SETTINGS_LOAD_H

#include <jansson.h>

#include "base/memory/arena.h"
#include "profile/settings.h"

/* "", or the given default, if the key is missing or has another type. Numbers may be written as text. */
const char *setting_text(const json_t *object, const char *key);
int64_t setting_number(const json_t *object, const char *key, int64_t otherwise);

/* Of info.json and sample.json; either may be NULL. Texts are copied into mem. False: no memory. */
bool settings_load(struct settings *out, const json_t *info, const json_t *sample, struct arena *mem);

#endif
