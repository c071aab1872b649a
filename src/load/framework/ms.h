/* SPDX-License-Identifier: Apache-2.0 */
/* ms.h - loads a *_ascend_ms directory: recognition, settings, clocks, and all data in it. */
#ifndef ASCOPE_LOAD_FRAMEWORK_MS_H
#define ASCOPE_LOAD_FRAMEWORK_MS_H

#include "load/framework/collection_load.h"

/* True of a directory of a collection whose name ends with _ascend_ms, or that holds files of MindSpore. False with
 * *why not 0: unknown; *why is the errno value. */
bool ms_is_one(const char *path, int *why);

/* Lists its files without reading more than its settings. Call collection_free() in any case. */
bool ms_look(struct collection *s, const char *path, struct collection_look *out, struct error *e);
/* False: nothing in it can be used, with the reason in e. Call collection_free() in both cases. */
bool ms_load(struct collection *s, const char *path, const struct collection_request *r, struct error *e);

#endif
