/* SPDX-License-Identifier: Apache-2.0 */
/* communication.h - registry: collectives as a process of the timeline and as the table communication_statistic.
 * communication_db.c has them in the database. */
#ifndef ASCOPE_EXPORT_COMM_COMMUNICATION_H
#define ASCOPE_EXPORT_COMM_COMMUNICATION_H

#include "analyse/comm/comm_analysis.h"
#include "base/files/out.h"
#include "base/sqlite/db.h"
#include "export/export.h"

bool communication_track(const struct export *x, struct trace *t, struct error *e);
bool communication_statistic(const struct export *x, struct table *out, struct error *e);

/* collectives.c: the collectives of all devices with their events, and the cost of each.
 *
 * For `ascope communication`, and for the communication files of a framework's collection. Everything is in the
 * caller's arena. */

struct collective {
    name_id name, group;         /* group: the hash of its name as digits; of a GPU its name */
    const struct device *device; /* the last device that ran it: its events give the cost */
    size_t first, n_all, n_own;  /* its events in `event`; the last n_own are those of the device */
};

struct collectives {
    LIST(struct collective) list; /* in the order of their first events */
    struct comm_event *event;     /* sorted by collective */
    size_t most_events;           /* the greatest number of events of one collective */
    bool are_kernels;             /* they are kernels of a GPU: each has one event, a row of the device's comm.ops */
    struct names *names;
    struct comm_sorter sorter;
    struct comm_event *copy; /* room for the events of one collective while they are sorted */
    struct arena *mem;
};

extern const char *const link_kind_name[LINK_KINDS];

/* False: out of memory; also of the next two. */
bool collectives_find(struct collectives *c, const struct profile *p, struct arena *mem);
bool collective_cost(struct collectives *c, const struct collective *of, struct comm_cost *cost);
bool collective_links(struct collectives *c, const struct collective *of, struct comm_links *links);

/* Only the begin, in ns of the device's clock. False: no task ran on the master stream, so that its time is unknown. */
bool collective_begin(const struct collectives *c, const struct collective *of, double *begin_ns);
double collective_start_us(const struct collective *of,
                           double begin_ns); /* the same as wall-clock time, as files show it */

/* communication_db.c: collectives in the database: COMMUNICATION_OP and COMMUNICATION_TASK_INFO. */

bool communication_db(const struct export *x, struct db *db, struct error *e);

/* analyze_rows.c: costs of collectives and traffic between ranks, as JSON and as tables of a database. */

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
