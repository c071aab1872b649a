/* SPDX-License-Identifier: Apache-2.0 */
/* pt.h - loads a *_ascend_pt directory: recognition, settings, clocks, and all data in it. */
#ifndef ASCOPE_LOAD_FRAMEWORK_PT_H
#define ASCOPE_LOAD_FRAMEWORK_PT_H

#include "load/framework/collection_load.h"

/* True when the directory holds a FRAMEWORK folder or a PROF directory and no host or device_N folder of its own. False
 * with *why not 0: unknown; *why is the errno value. */
bool pt_is_one(const char *path, int *why);

/* Lists its files without reading more than its settings. Call collection_free() in any case. */
bool pt_look(struct collection *s, const char *path, struct collection_look *out, struct error *e);
/* False: nothing in it can be used, with the reason in e. Call collection_free() in both cases. */
bool pt_load(struct collection *s, const char *path, const struct collection_request *r, struct error *e);

#endif
