/* SPDX-License-Identifier: Apache-2.0 */
/* pftrace.h - a timeline in Perfetto's own format: a tenth of the JSON, with names written once.
 *
 * Packets are protobuf messages, written without a library: a tag, then a number, or a length and bytes. A slice is a
 * begin and an end event on a track; slices that overlap without nesting are on lanes, which are tracks of the same
 * name. Flows refer to slices, so that viewers need not find the slice by time. Packets are compressed in batches.
 */
#ifndef ASCOPE_EXPORT_PFTRACE_H
#define ASCOPE_EXPORT_PFTRACE_H

#include "base/files/out.h"
#include "profile/chrome_trace.h"

/* Pairs of slices, sorted by `from`: see analyse/flow/chrome_flows.c. */
struct pftrace_flows {
    size_t n;
    const uint32_t *from, *to;
};

/* Writes the whole trace to `o`, which the caller closes. False: out of memory. */
bool pftrace_write(struct out *o, const struct chrome_trace *t, const struct pftrace_flows *flows, struct error *e);

#endif
