/* SPDX-License-Identifier: Apache-2.0 */
/* recording_facts.h - the facts of ascope's recorder about a recording, in the results.
 *
 * Rows of a database, an event of a timeline, lines of a README and of a log. All have the same facts under the same names,
 * and none for recordings of other collectors.
 */
#ifndef ASCOPE_EXPORT_MSPROF_RECORDING_FACTS_H
#define ASCOPE_EXPORT_MSPROF_RECORDING_FACTS_H

#include "base/db.h"
#include "base/table.h"
#include "export/trace.h"
#include "profile/collector.h"

struct recording_fact {
    const char *name, *value; /* "clock_mhz", "2400.03125" */
    bool is_number;           /* as JSON writes numbers */
};
struct recording_facts {
    LIST(struct recording_fact) list; /* in mem; short of memory: arena_failed() */
};
struct recording_facts recording_facts(const struct collector *c, struct arena *mem);

/* Rows of META_DATA: "ASCOPE_CLOCK_MHZ". */
void recording_metadata(struct grid *g, const struct collector *c);
/* ASCOPE_STEP_COST: what the profiler itself cost in each step. No table without steps. */
bool recording_steps_db(struct db *db, const struct collector *c, struct arena *mem, struct error *e);
/* A metadata event of a name that viewers pass over, in the process of the event before it. */
void recording_trace(struct trace *t, const struct recording_facts *facts);

#endif
