/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_rows.h - costs of collectives and traffic between ranks, as JSON and as tables of a database. */
#ifndef ASCOPE_EXPORT_COMM_ANALYZE_ROWS_H
#define ASCOPE_EXPORT_COMM_ANALYZE_ROWS_H

#include "base/sqlite/db.h"
#include "base/files/out.h"
#include "export/comm/collectives.h"

/* The step and kind of a collective, in a collection of a framework. */
struct collective_place {
    name_id step, kind; /* "step3", "p2p" */
    bool is_known;      /* false: it is in none of the steps, and is left out */
};

/* The files of `ascope communication`. *n_untimed counts the collectives that are left out because their time is
 * unknown. False: no memory. */
bool costs_json(struct collectives *c, struct out *o, uint64_t *n_untimed);
bool matrix_json(struct collectives *c, struct out *o);

/* The same as tables. With `place`, one for each collective, the tables have two more columns, for step and kind. */
bool costs_db(struct collectives *c, const struct collective_place *place, struct db *db, struct error *e);
bool matrix_db(struct collectives *c, struct db *db, struct error *e);

/* Parts of the above, for files that are divided by step. */
enum { COMM_TIMES = 7, COMM_TIMES_WITHOUT_RATIOS = 5 };
extern const char *const comm_time_name[COMM_TIMES];
struct amount comm_time(const struct comm_cost *c, size_t i);

void json_key(struct out *o, const char *name, bool is_first);
void json_amount(struct out *o, struct amount a);
void json_collective(const struct collectives *c, const struct collective *of, struct out *o,
                     bool is_first); /* as a key */
void json_cost(const struct comm_cost *c, struct amount start, struct out *o);
void json_packets(const struct link_cost *l, struct out *o); /* the distribution of packet sizes, as an object */
void json_link(const struct comm_link *l, struct out *o);    /* an object without its closing brace */
/* Writes a table, also one without rows. */
bool grid_written(struct db *db, const struct grid *g, const char *name, const struct db_column *column,
                  struct error *e);

#endif
