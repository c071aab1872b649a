/* SPDX-License-Identifier: Apache-2.0 */
/* connections.h - the connection ids of operators in the database: with their backward operators, and with calls of the
 * runtime.
 *
 * The id of a task of the queue is the framework's number of it plus CONNECTION_FRAMEWORK. Pairs of forward and
 * backward operators have the ids after these. Calls of the runtime have their own ids.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_CONNECTIONS_H
#define ASCOPE_ANALYSE_FRAMEWORK_CONNECTIONS_H

#include "profile/collection.h"

static const uint64_t CONNECTION_FRAMEWORK = UINT64_C(5) << 28; /* above every number of a call */

struct connections {
    uint32_t *op;      /* rows of framework_ops: operators, then ranges of the user whose names begin with "mstx_" */
    size_t n, n_plain; /* all of them, and those before the ranges */
    uint32_t *first;   /* by position in `op`: n + 1 positions in `id` */
    uint64_t *id;      /* of each: its pair, then the calls that it made in order of begin */
    uint32_t *dequeue; /* by row of framework.enqueue: row of framework.dequeue, or NO_ROW */
};

/* For the framework of a collection or of a part of it; allocated in mem. Operators are in file order, or sorted by
 * begin if the runtime launched anything. False: out of memory. */
bool connections_find(struct connections *c, const struct collection *s, const struct framework *f, struct arena *mem);

#endif
