/* SPDX-License-Identifier: Apache-2.0 */
/* phases.h - what an inference engine does in an interval: schedules, samples, detokenises, waits for requests.
 *
 * Each moment of an interval belongs to the first of these that was there: a garbage collection; the innermost
 * annotation, operator or Python function whose name tells the phase; the device at work (or that first of all); an
 * operator or a call of the host; a Python function; nothing that was recorded. Threads that do little are not asked
 * for Python.
 */
#ifndef ASCOPE_ANSWERS_SERVING_PHASES_H
#define ASCOPE_ANSWERS_SERVING_PHASES_H

#include "answers/run/rank_spans.h"

/* The phase that a name tells: "scheduling"; NULL: it tells none. */
const char *phase_of_name(const char *name);

/* `of`: one for each interval. Intervals are disjoint and ascending. Of a phase the kind is SPENT_RANGE (waiting for
 * requests: SPENT_REQUESTS), the name that of the phase; of the device's work the name is empty. Names last as long as
 * the recording. False: no memory. */
bool phases_find(struct step_profile **of, const struct rank_spans *v, const int64_t *begin_ns, const int64_t *end_ns,
                 size_t n, bool device_first, struct arena *mem);

/* "scheduling", "Python: f", "garbage collection": what something was, for people; lent, or in `mem`. */
const char *phase_words(const struct spent *x, struct arena *mem);

#endif
