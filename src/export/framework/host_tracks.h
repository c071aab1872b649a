/* SPDX-License-Identifier: Apache-2.0 */
/* host_tracks.h - the interface through which trace_view.c writes the data of a framework on the timeline. One for each
 * framework.
 *
 * These events are the largest part of the largest file. They are therefore written in parts, by several threads. Every
 * part has at least one event, so that a comma before a part is always right.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_HOST_TRACKS_H
#define ASCOPE_EXPORT_FRAMEWORK_HOST_TRACKS_H

#include "export/framework/collection_export.h"
#include "export/lanes.h"

struct host_tracks {
    void *(*take)(const struct collection_export *x); /* allocated in x->mem; NULL: out of memory */
    size_t (*n_parts)(const void *tracks);
    /* Writes part i. t has no lanes, because slices are not written in the order of time: they know their tids. */
    void (*write)(const void *tracks, size_t i, struct trace *t);
    /* Writes the end of the timeline: flow events to the device, and what is derived from device data. `lanes` knows
     * where slices of the device were drawn; NULL: there is no device. False: no memory. */
    bool (*finish)(const struct collection_export *x, const void *tracks, struct trace *t, const struct lanes *lanes);
    int64_t (*begin_ns)(const struct framework *f); /* the begin of the first event; INT64_MAX: there is none */
};

/* Functions for both frameworks. A section of n_rows rows is written in host_parts() parts. */
size_t host_parts(size_t n_rows);
/* The rows of part *i, first up to end. False: the part is in a later section, and *i is now counted from its begin. */
bool host_part(size_t n_rows, size_t *i, size_t *first, size_t *end);
void host_arg_name(struct trace *t, const char *key, name_id name);      /* NO_NAME: the argument is left out */
int64_t host_earliest(const int64_t *begin_ns, size_t n, int64_t least); /* the least of them and `least` */

#endif
