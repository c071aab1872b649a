/* SPDX-License-Identifier: Apache-2.0 */
/* collection_marks.h - the steps of a collection in which the profiler marked none: ranges of the host that repeat
 * (step_marks.h).
 *
 * They are the steps of all answers. Files of the vendor's form have no steps then, as the vendor's parser writes them.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_COLLECTION_MARKS_H
#define ASCOPE_ANALYSE_FRAMEWORK_COLLECTION_MARKS_H

#include "profile/collection.h"

/* A part of the analysis: its last but for memory. With s->steps_by they replace the steps of the profiler. False: see
 * e. */
bool collection_marks_find(struct collection *s, struct error *e);

/* Whether an operator is a step itself, of the profiler or marked. */
bool collection_op_is_step(const struct collection *s, size_t op);

#endif
