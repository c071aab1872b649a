/* SPDX-License-Identifier: Apache-2.0 */
/* collection_load.h - what the loaders of all frameworks share: the request, the first look, and releasing a
 * collection. */
#ifndef ASCOPE_LOAD_FRAMEWORK_COLLECTION_LOAD_H
#define ASCOPE_LOAD_FRAMEWORK_COLLECTION_LOAD_H

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

#endif
