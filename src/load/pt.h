/* pt.h - a *_ascend_pt directory: finding it, its settings and clocks, and everything that lies in it. */
#ifndef ASCOPE_LOAD_PT_H
#define ASCOPE_LOAD_PT_H

#include "profile/collection.h"

/* True when the directory holds a FRAMEWORK folder or a PROF directory and no host or device_N folder of its own. False with
 * *why not 0: nobody knows, and that is why. */
bool collection_is_one(const char *path, int *why);

/* What lies in it, without reading more than its settings. collection_free() is due in any case. */
struct collection_look {
    const char *prof;               /* path of the PROF directory; NULL: none */
    int64_t bytes[FRAMEWORK_FILES]; /* -1: not there */
};
bool collection_look(struct collection *s, const char *path, struct collection_look *out, struct error *e);

struct collection_request {
    bool keeps_tensors; /* for the memory timeline */
    unsigned n_threads;
};

/* False: nothing in it can be used, and e says why; collection_free() is due in any case. */
bool collection_load(struct collection *s, const char *path, const struct collection_request *r, struct error *e);
void collection_free(struct collection *s);

#endif
