/* pt.h - a *_ascend_pt directory: finding it, its settings and clocks, and everything that lies in it. */
#ifndef ASCOPE_LOAD_PT_H
#define ASCOPE_LOAD_PT_H

#include "profile/collection.h"

/* True when the directory holds a FRAMEWORK folder or a PROF directory and no host or device_N folder of its own. False with
 * *why not 0: nobody knows, and that is why. */
bool session_is_one(const char *path, int *why);

/* What lies in it, without reading more than its settings. session_free() is due in any case. */
struct session_look {
    const char *prof;               /* path of the PROF directory; NULL: none */
    int64_t bytes[FRAMEWORK_FILES]; /* -1: not there */
};
bool session_look(struct session *s, const char *path, struct session_look *out, struct error *e);

struct session_request {
    bool keeps_tensors; /* for the memory timeline */
    unsigned n_threads;
};

/* False: nothing in it can be used, and e says why; session_free() is due in any case. */
bool session_load(struct session *s, const char *path, const struct session_request *r, struct error *e);
void session_free(struct session *s);

#endif
