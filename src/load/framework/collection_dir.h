/* SPDX-License-Identifier: Apache-2.0 */
/* collection_dir.h - the parts that collections of all frameworks have: settings as JSON, metadata, a PROF directory. */
#ifndef ASCOPE_LOAD_FRAMEWORK_COLLECTION_DIR_H
#define ASCOPE_LOAD_FRAMEWORK_COLLECTION_DIR_H

#include <jansson.h>
#include <limits.h>

#include "load/framework/collection_load.h"
#include "load/framework/framework_load.h"

/* The contents of the directory; of several PROF directories or settings, the first by name. */
struct collection_dir {
    bool has_framework, has_collection; /* a host or device_N folder: this is a PROF directory itself */
    char prof[NAME_MAX + 1], info[NAME_MAX + 1];
    bool has_metadata;
    int why; /* not 0: the errno value of an entry that could not be examined */
};

/* True when the directory holds a FRAMEWORK folder, or a PROF directory and profiler_info*.json, and no host or
 * device_N folder of its own. False with *why not 0: unknown; *why is the errno value. */
bool collection_dir_is_one(const char *path, int *why);

/* Begins a collection: lists the directory in d, and reads the metadata of the job and *info, the contents of
 * profiler_info*.json (NULL: it is missing or unreadable), which the caller releases in any case. */
bool collection_dir_open(struct collection *s, enum framework_id framework, const char *path, struct collection_dir *d,
                         json_t **info, struct error *e);
bool collection_dir_look(struct collection *s, const struct collection_dir *d, const struct framework_format *format,
                         struct collection_look *out, struct error *e);

/* Sets has_cpu and has_npu from the data that exists. `list` has the requested activities, named by the words `cpu` and
 * `npu`; requested data that is missing is counted. */
void collection_activities(struct collection *s, const struct collection_dir *d, const json_t *list, const char *cpu,
                           const char *npu);
/* Loads the PROF directory; without one, or where it cannot be used, the profile is empty. False: out of memory, or
 * nothing is left. */
bool collection_parts_load(struct collection *s, const struct collection_dir *d, const struct collection_request *r,
                           struct error *e);

bool json_flag(const json_t *object, const char *key, bool otherwise);
bool json_lists(const json_t *list, const char *word); /* the list, or the one text, contains the word */

#endif
