/* SPDX-License-Identifier: Apache-2.0 */
/* counter_tracks.h - samples of a device as counters of the timeline, as tables of the database, and as reports.
 *
 * A family of samples is described by tables: its source, the cells of each column, and the counters in its process of the
 * timeline. The functions below iterate over them. The families are in memory_counters.c, link_counters.c, soc_counters.c,
 * power_counters.c and core_samples.c.
 */
#ifndef ASCOPE_EXPORT_SAMPLERS_COUNTER_TRACKS_H
#define ASCOPE_EXPORT_SAMPLERS_COUNTER_TRACKS_H

#include "export/export.h"

/* Samples of one device, as outputs see them. */
struct view {
    const struct export *x;
    const struct device *device;
    const struct samples *s;
    size_t n;              /* rows to show */
    size_t first;          /* row of the samples that is the first of them */
    const uint32_t *order; /* or the rows in another order, or some of them; NULL: all from first on */
};

static inline size_t view_row(const struct view *v, size_t i)
{
    return v->order ? v->order[i] : v->first + i;
}

/* What a column of a table, or an argument of a counter, shows of a sample. */
struct value {
    const char *name;
    struct cell (*get)(const struct view *v, size_t row, unsigned column);
    uint8_t column;   /* of the samples, handed to get */
    const char *type; /* as the database declares it; NULL elsewhere */
};

struct cell value_device(const struct view *v, size_t row, unsigned column);
struct cell value_time(const struct view *v, size_t row, unsigned column);
struct cell value_uint(const struct view *v, size_t row, unsigned column);
struct cell value_real(const struct view *v, size_t row, unsigned column);
struct cell value_bytes(const struct view *v, size_t row, unsigned column);      /* of MB, or B/s of MB/s: whole ones */
struct cell value_bytes_real(const struct view *v, size_t row, unsigned column); /* with their fraction */

/* Where a family comes from. */
struct family_source {
    enum sampler from[2];
    uint8_t n_from;
    bool of_rates;                                      /* from counters.rate instead of raw */
    bool (*keeps)(const struct samples *s, size_t row); /* false: not shown anywhere; NULL: all are */
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { COUNTER_MOST_ARGS = 4, ANY_SAMPLE = 255 };

/* One counter of a process: one event for each sample that it applies to. */
struct counter {
    const char *before, *after; /* parts of its name; with `after`, the unit stands between them */
    struct cell (*name)(const struct view *v, size_t row); /* instead of them */
    uint8_t when; /* only samples whose column `when` holds `is`; ANY_SAMPLE: all */
    uint8_t is;
    struct value arg[COUNTER_MOST_ARGS]; /* until one without a name */
};

/* A process of the timeline that shows samples. */
struct counter_process {
    const char *name;
    uint8_t sort;   /* its place in the timeline; in the generic presentation see counter_sort() */
    bool needs_all; /* not there when a part of the collection is wanted: the reference reads no such records then */
    bool only_generic;
    struct family_source source;
    const struct family_source *part; /* instead of it when only a part of the collection is wanted; NULL: the same */
    uint8_t unit;                     /* column whose value stands in the names of counters */
    const struct counter *counter, *generic; /* generic: in that presentation; NULL: the same */
    size_t n_counters;
    void (*draw)(const struct export *x, const struct view *v, struct trace *t, uint32_t pid); /* instead of counters */
};

/* Which of them are drawn, by the word for them in a -reports file. */
struct counter_track {
    const char *process;
    const struct counter_process *counters;
};
extern const struct counter_track counter_tracks[];
extern const size_t n_counter_tracks;

bool counters_draw(const struct export *x, const struct counter_process *c, struct trace *t, struct error *e);

/* The sort index of a process of a device. The generic presentation numbers the processes that have no place of their
 * own from 20 on, as they come: `name` is one of these, or "Overlap Analysis", which follows them. */
unsigned counter_sort(const struct export *x, const struct device *d, const char *name);

/* A table of the database over the samples of all devices. */
struct family_table {
    const char *name;
    struct family_source source;
    const struct value *column;
    size_t n_columns;
};

bool counters_db(const struct export *x, struct db *db, struct error *e);

/* A report with one row for each sample. sort may put the samples of a device in another order: false, no memory. */
bool counters_report(const struct export *x, const struct family_source *from,
                     bool (*sort)(const struct samples *s, uint32_t *order, size_t n, struct arena *mem),
                     const struct value *column, size_t n_columns, struct table *out, struct error *e);

/* The samples of a device that a family shows, without those from before the beginning. */
bool view_open(const struct export *x, const struct family_source *from, unsigned which, const struct device *d,
               struct view *out, struct error *e);

/* Whether the cores were sampled, instead of counting for each task. */
bool samples_cores(const struct profile *p);

#endif
