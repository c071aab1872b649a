/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_load.h - reads a trace in Chrome's JSON form: .json or .json.gz, an object with traceEvents or a bare array;
 * or .pftrace, which is converted into it (pftrace_read.h).
 *
 * The file is mapped and read once, from its beginning to its end; memory is what the columns need. Numbers are read as
 * decimals, so that times are exact to the nanosecond. An event that is no JSON is read again by the rule for texts
 * that were not escaped, and counted as repaired; one that cannot be read is counted as lost, with its place, and
 * reading continues at the next. The cost is linear for any input.
 */
#ifndef ASCOPE_LOAD_TRACE_CHROME_LOAD_H
#define ASCOPE_LOAD_TRACE_CHROME_LOAD_H

#include "profile/chrome_trace.h"

/* False: *e has the reason, and there is nothing to free. Losses are in t->lost. `path` must outlive t, whose address
 * must not change: the file stays mapped until t is freed. */
bool chrome_load(struct chrome_trace *t, const char *path, struct error *e);
/* Reads only the events in about the first so many bytes of text; the rest counts as cut short. */
bool chrome_load_first(struct chrome_trace *t, const char *path, uint64_t most_bytes, struct error *e);
/* The same of a text in memory, which must outlive t. */
bool chrome_parse(struct chrome_trace *t, const char *text, size_t n_bytes, const char *path, struct error *e);
/* The same of the text in an unnamed file. `text` must not be moved before chrome_trace_free() and memory_unmap(), in
 * this order, also after a failure. */
bool chrome_parse_unnamed(struct chrome_trace *t, struct mapped *text, int fd, const char *path, struct error *e);
/* Whether a file is a trace, as far as its first megabyte shows: quick, also for large files. False: *e has the reason. */
bool chrome_look(const char *path, struct error *e);
bool chrome_is_name(const char *path); /* the name of a file ends as those of traces do */

#endif
