/* SPDX-License-Identifier: Apache-2.0 */
/* counter_tracks.h - samples of a device as counters of the timeline, as tables of the database, and as reports.
 *
 * A family of samples is described by tables: its source, the cells of each column, and the counters in its process of
 * the timeline. The functions below iterate over them. The families are in memory_counters.c, link_counters.c,
 * soc_counters.c, power_counters.c and core_samples.c.
 */
#ifndef ASCOPE_EXPORT_SAMPLERS_COUNTER_TRACKS_H
#define ASCOPE_EXPORT_SAMPLERS_COUNTER_TRACKS_H

#include "export/export.h"

/* The samples of one device that an output shows. */
struct counter_view {
    const struct export *x;
    const struct device *device;
    const struct samples *s;
    size_t n;              /* rows to show */
    size_t first;          /* the first of them, if order is NULL */
    const uint32_t *order; /* the rows, if they are only some or in another order; NULL: all from first on */
};

static inline size_t view_row(const struct counter_view *v, size_t i)
{
    return v->order ? v->order[i] : v->first + i;
}

/* A column of a table, or an argument of a counter: its name, and the cell for a sample. */
struct counter_value {
    const char *name;
    struct cell (*get)(const struct counter_view *v, size_t row, unsigned column);
    uint8_t column;   /* of the samples, passed to get */
    const char *type; /* as the database declares it; NULL elsewhere */
};

struct cell value_device(const struct counter_view *v, size_t row, unsigned column);
struct cell value_time(const struct counter_view *v, size_t row, unsigned column);
struct cell value_uint(const struct counter_view *v, size_t row, unsigned column);
struct cell value_real(const struct counter_view *v, size_t row, unsigned column);
struct cell value_bytes(const struct counter_view *v, size_t row,
                        unsigned column); /* MB as bytes, MB/s as B/s: rounded down */
struct cell value_bytes_real(const struct counter_view *v, size_t row,
                             unsigned column); /* the same with its fraction */

/* The samples of a family: one or two samplers, shown one after the other. */
struct family_source {
    enum sampler from[2];
    uint8_t n_from;
    bool of_rates;                                      /* the samples are counters.rate, not counters.raw */
    bool (*keeps)(const struct samples *s, size_t row); /* false: the sample is not shown anywhere; NULL: all are */
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { COUNTER_MOST_ARGS = 4, ANY_SAMPLE = 255 };

/* One counter of a process: one event for each sample that it applies to. */
struct counter {
    const char *before, *after; /* parts of its name; if `after` is set, the number of the unit is between them */
    struct cell (*name)(const struct counter_view *v, size_t row); /* gives the name instead of them, as CELL_NAME */
    uint8_t when; /* it applies to samples whose column `when` has the value `is`; ANY_SAMPLE: to all */
    uint8_t is;
    struct counter_value arg[COUNTER_MOST_ARGS]; /* ends with one without a name if there are fewer */
};

/* A process of the timeline that shows samples. */
struct counter_process {
    const char *name;
    const char *generic_name; /* in the generic presentation; NULL: the same */
    uint8_t sort;             /* its sort index; in the generic presentation see counter_sort() */
    bool needs_all; /* not shown when only a part of the collection is exported: the reference reads no such records
                      then */
    bool only_generic;
    struct family_source source;
    const struct family_source *part; /* the source when only a part of the collection is exported; NULL: the same */
    uint8_t unit;                     /* the column with the number of the unit, for the names of counters */
    const struct counter *counter, *generic; /* generic: the counters of that presentation; NULL: the same */
    size_t n_counters;
    void (*draw)(const struct export *x, const struct counter_view *v, struct trace *t,
                 uint32_t pid); /* draws instead of counters */
    /* Instead of samples, whatever else has a place among them: */
    bool (*is_there)(const struct device *d);
    void (*draw_device)(const struct export *x, const struct device *d, struct trace *t, uint32_t pid);
};

/* A process with the word by which a -reports file switches it on. */
struct counter_track {
    const char *process;
    const struct counter_process *counters;
};
extern const struct counter_track counter_tracks[];
extern const size_t n_counter_tracks;

bool counters_draw(const struct export *x, const struct counter_process *c, struct trace *t, struct error *e);

/* The sort index of a process of a device in the generic presentation, which numbers the processes that exist from 20
 * on, device by device: `name` is that of a counter process, or "Overlap Analysis", which follows them. */
unsigned counter_sort(const struct export *x, const struct device *d, const char *name);

/* A table of the database over the samples of all devices. */
struct family_table {
    const char *name;
    struct family_source source;
    const struct counter_value *column;
    size_t n_columns;
};

bool counters_db(const struct export *x, struct db *db, struct error *e);

/* A report with one row for each sample, device by device or, with a key, by key and time over all devices. False: no
 * memory. */
bool counters_report(const struct export *x, const struct family_source *from,
                     uint64_t (*key)(const struct samples *s, size_t row), const struct counter_value *column,
                     size_t n_columns, struct table *out, struct error *e);

/* The samples of a device that a family shows, from its sampler `which`, without those from before the collection
 * began. */
bool view_open(const struct export *x, const struct family_source *from, unsigned which, const struct device *d,
               struct counter_view *out, struct error *e);

/* Whether counters of the cores were sampled by time instead of being read for each task. */
bool samples_cores(const struct profile *p);

#endif
