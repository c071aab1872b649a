/* SPDX-License-Identifier: Apache-2.0 */
/* collection_load.h - registry: what the loaders of all frameworks share: the request, the first look, and releasing a
 * collection. */
#ifndef ASCOPE_LOAD_FRAMEWORK_COLLECTION_LOAD_H
#define ASCOPE_LOAD_FRAMEWORK_COLLECTION_LOAD_H

#include <jansson.h>
#include <limits.h>

#include "load/framework/framework_load.h"
#include "profile/collection.h"

struct collection_request {
    bool keeps_tensors; /* for the memory timeline */
    unsigned without;   /* enum profile_part */
    unsigned n_threads;
};

/* The files of a collection, found without reading more than its settings. */
struct collection_look {
    const char *prof;                  /* path of the PROF directory; NULL: none */
    const char *name[FRAMEWORK_FILES]; /* NULL: the framework has no such file */
    int64_t bytes[FRAMEWORK_FILES];    /* -1: not there */
};

void collection_free(struct collection *s); /* required after every loader, also after a failure */

/* ms.c: loads a *_ascend_ms directory: recognition, settings, clocks, and all data in it. */

/* True of a directory of a collection whose name ends with _ascend_ms, or that holds files of MindSpore. False with
 * *why not 0: unknown; *why is the errno value. */
bool ms_is_one(const char *path, int *why);

/* Lists its files without reading more than its settings. Call collection_free() in any case. */
bool ms_look(struct collection *s, const char *path, struct collection_look *out, struct error *e);
/* False: nothing in it can be used, with the reason in e. Call collection_free() in both cases. */
bool ms_load(struct collection *s, const char *path, const struct collection_request *r, struct error *e);

/* pt.c: loads a *_ascend_pt directory: recognition, settings, clocks, and all data in it. */

/* True when the directory holds a FRAMEWORK folder or a PROF directory and no host or device_N folder of its own. False
 * with *why not 0: unknown; *why is the errno value. */
bool pt_is_one(const char *path, int *why);

/* Lists its files without reading more than its settings. Call collection_free() in any case. */
bool pt_look(struct collection *s, const char *path, struct collection_look *out, struct error *e);
/* False: nothing in it can be used, with the reason in e. Call collection_free() in both cases. */
bool pt_load(struct collection *s, const char *path, const struct collection_request *r, struct error *e);

/* collection_dir.c: the parts that collections of all frameworks have: settings as JSON, metadata, a PROF directory. */

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
