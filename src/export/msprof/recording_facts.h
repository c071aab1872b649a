/* SPDX-License-Identifier: Apache-2.0 */
/* recording_facts.h - the facts of ascope's recorder about a recording, in the results.
 *
 * The same facts under the same names are rows of a database, an event of a timeline, and lines of a README and of a
 * log. Recordings of other collectors have none.
 */
#ifndef ASCOPE_EXPORT_MSPROF_RECORDING_FACTS_H
#define ASCOPE_EXPORT_MSPROF_RECORDING_FACTS_H

#include "base/sqlite/db.h"
#include "base/text/table.h"
#include "export/trace.h"
#include "profile/collector.h"

struct recording_fact {
    const char *name, *value; /* "clock_mhz", "2400.03125" */
    bool is_number;           /* the value is a number in JSON's spelling */
};
struct recording_facts {
    LIST(struct recording_fact) list; /* in mem; incomplete if arena_failed(mem) */
};
struct recording_facts recording_facts(const struct collector *c, struct arena *mem);

/* Rows of META_DATA: "ASCOPE_CLOCK_MHZ". */
void recording_metadata(struct grid *g, const struct collector *c);
/* The table ASCOPE_STEP_COST: what recording cost in each step. Without steps there is no table. */
bool recording_steps_db(struct db *db, const struct collector *c, struct arena *mem, struct error *e);
/* A metadata event in the process of the last event, with a name that viewers ignore. */
void recording_trace(struct trace *t, const struct recording_facts *facts);

#endif
