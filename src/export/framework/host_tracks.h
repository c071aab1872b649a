/* SPDX-License-Identifier: Apache-2.0 */
/* host_tracks.h - the data of a framework on the timeline: what trace_view.c needs to know of it. One for each framework.
 *
 * It is the largest part of the largest file and is therefore written in parts, by several threads. All parts have at least one event.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_HOST_TRACKS_H
#define ASCOPE_EXPORT_FRAMEWORK_HOST_TRACKS_H

#include "export/framework/collection_export.h"
#include "export/lanes.h"

struct host_tracks {
    void *(*take)(const struct collection_export *x); /* allocated in x->mem; NULL: out of memory */
    size_t (*n_parts)(const void *tracks);
    /* Part i; t has no lanes: the slices are not in order, and know their rows. */
    void (*write)(const void *tracks, size_t i, struct trace *t);
    /* What follows everything else: flow events to the device, and what is derived from it. `lanes`: where slices of the device were
     * drawn; NULL: there is no device. False: no memory. */
    bool (*finish)(const struct collection_export *x, const void *tracks, struct trace *t, const struct lanes *lanes);
    int64_t (*begin_ns)(const struct framework *f); /* when the first of it all began; INT64_MAX: there is nothing */
};

/* What they share. Rows are written in parts of a limited size. */
size_t host_parts(size_t n_rows);
bool host_part(size_t n_rows, size_t *i, size_t *first,
               size_t *end); /* rows of part *i; false: it is in a later section, as part *i */
void host_arg_if_there(struct trace *t, const char *key, name_id name); /* none: NO_NAME */
int64_t host_earliest(const int64_t *begin_ns, size_t n, int64_t least);

#endif
