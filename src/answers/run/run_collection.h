/* SPDX-License-Identifier: Apache-2.0 */
/* run_collection.h - measures of a rank from a collection of a framework or a PROF directory. */
#ifndef ASCOPE_ANSWERS_RUN_RUN_COLLECTION_H
#define ASCOPE_ANSWERS_RUN_RUN_COLLECTION_H

#include "answers/run/run_measures.h"
#include "profile/collection.h"

/* All but the path. d is NULL of a collection without a device; `collection` of a PROF directory. False: no memory. */
bool run_of_collection(struct measured_rank *out, const struct profile *p, const struct device *d,
                       const struct collection *collection, struct names *names, struct arena *mem, struct error *e);

#endif
