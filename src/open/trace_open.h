/* SPDX-License-Identifier: Apache-2.0 */
/* trace_open.h - the file of an input (open/inputs.h) as a trace in memory: Chrome's JSON format, or a database of
 * results, which is converted.
 *
 * Which rank it is of is the fact "distributedInfo" of the trace, as in files of torch.profiler, also where another
 * file of the results or the name of the file says so.
 */
#ifndef ASCOPE_OPEN_TRACE_OPEN_H
#define ASCOPE_OPEN_TRACE_OPEN_H

#include "open/inputs.h"
#include "profile/chrome_trace.h"

struct opened_trace {
    struct chrome_trace trace;
    struct mapped text; /* of a database that was converted */
};

/* The struct must not be moved before trace_close(), which must be called in any case; one that is all zero is fine.
 * False: see e. */
bool trace_open(struct opened_trace *t, const struct input *input, struct error *e);
void trace_close(struct opened_trace *t);
/* Moves the columns out, which are the caller's then. Their text stays mapped until trace_close(). */
struct chrome_trace trace_take(struct opened_trace *t);

#endif
