/* SPDX-License-Identifier: Apache-2.0 */
/* collection_dir.h - what the directories of all frameworks' collections have in common: their parts by name, the settings as JSON, and
 * the PROF directory in them. */
#ifndef ASCOPE_LOAD_COLLECTION_DIR_H
#define ASCOPE_LOAD_COLLECTION_DIR_H

#include <jansson.h>
#include <limits.h>

#include "load/collection_load.h"
#include "load/framework_load.h"

/* What lies in the directory: the first of each by name, whatever order the directory keeps. */
struct collection_dir {
    bool has_framework, has_collection; /* a host or device_N folder: this is a PROF directory itself */
    char prof[NAME_MAX + 1], info[NAME_MAX + 1];
    bool has_metadata;
    int why; /* something in it could not be looked at */
};

/* True when the directory holds a FRAMEWORK folder, or a PROF directory and profiler_info*.json, and no host or device_N folder of its
 * own. False with *why not 0: unknown; *why is the errno value. */
bool collection_dir_is_one(const char *path, int *why);

/* Begins a collection: its parts, what the job noted of itself, and *info, the contents of profiler_info*.json (NULL: none that can be
 * read), to be released by the caller in any case. Lists what lies there in d. */
bool collection_dir_open(struct collection *s, enum framework_id framework, const char *path, struct collection_dir *d,
                         json_t **info, struct error *e);
bool collection_dir_look(struct collection *s, const struct collection_dir *d, const struct framework_format *format,
                         struct collection_look *out, struct error *e);

/* Sets has_cpu and has_npu: by the data that exists and the list of activities with these words. What is missing is counted. */
void collection_activities(struct collection *s, const struct collection_dir *d, const json_t *list, const char *cpu,
                           const char *npu);
/* Loads the PROF directory; without one, or where it cannot be used, the profile is empty. False: out of memory, or nothing is left. */
bool collection_parts_load(struct collection *s, const struct collection_dir *d, unsigned n_threads, struct error *e);

bool json_flag(const json_t *object, const char *key, bool otherwise);
bool json_lists(const json_t *list, const char *word); /* a list of texts, or one */

#endif
