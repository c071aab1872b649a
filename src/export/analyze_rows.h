/* analyze_rows.h - costs of collectives as JSON and as tables, one collective after the other: only analyze.c needs this. */
#ifndef ASCOPE_EXPORT_ANALYZE_ROWS_H
#define ASCOPE_EXPORT_ANALYZE_ROWS_H

#include "analyse/comm_cost.h"
#include "analyse/comm_links.h"
#include "base/db.h"
#include "base/out.h"

struct collective {
    name_id name, group;         /* group: its digits */
    const struct device *device; /* the last one that ran it */
    size_t first, n_all, n_own;  /* its events; those of the device are the last ones */
};

struct collectives {
    LIST(struct collective) list;
    struct comm_event *event; /* by collective */
    size_t most_events;       /* of one collective */
    struct names *names;
    struct comm_sorter sorter;
    struct comm_event *copy; /* of one collective's events, to be sorted */
    struct arena *mem;
};

bool collectives_ready(struct collectives *c, const struct profile *p); /* false only without memory, as the next two */

bool costs_json(struct collectives *c, struct out *o, uint64_t *n_untimed);
bool matrix_json(struct collectives *c, struct out *o);
bool costs_db(struct collectives *c, struct db *db, struct error *e);
bool matrix_db(struct collectives *c, struct db *db, struct error *e);

#endif
