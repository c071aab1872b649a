/* SPDX-License-Identifier: Apache-2.0 */
/* settings_of.h - settings of a source that a test makes by hand. */
#ifndef ASCOPE_TESTS_SETTINGS_OF_H
#define ASCOPE_TESTS_SETTINGS_OF_H

#include "load/prof/prof.h"

/* As the loader reads them from info.json and sample.json; both references are taken over, NULL is an empty file. */
static inline struct settings settings_of(json_t *info, json_t *sample, struct arena *mem)
{
    struct settings t = { 0 };
    settings_load(&t, info, sample, mem);
    json_decref(info);
    json_decref(sample);
    return t;
}

#endif
