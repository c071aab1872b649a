/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - the meaning of the counters of a core.
 *
 * A collection has one group of metrics for each kind of core (PipeUtilization, Memory, …) and a list of the events of
 * the eight counters. A group is a list of columns, each of them a formula over some of the events. All groups are
 * tables in metric_groups.c; "Custom:0x9,0x302" is a group of raw counts, defined by the user.
 */
#ifndef ASCOPE_PROFILE_METRICS_H
#define ASCOPE_PROFILE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "raw/chip.h"

enum core { CORE_AIC, CORE_AIV, CORES };
enum { METRIC_EVENTS = 5, METRIC_COUNTERS = 8, METRIC_MOST_COUNTERS = 10 }; /* most: of chips that count ten */

/* Which event each counter counted. */
struct event_list {
    unsigned n;
    uint16_t id[METRIC_MOST_COUNTERS];
};

/* From text like "0x8,0xa". Parsing stops at the first part that is not an event, and after `most` events. */
struct event_list event_list_parse(const char *text, unsigned most);
bool event_list_find(const struct event_list *l, uint16_t event, uint8_t *counter);

enum metric_kind {
    METRIC_TOTAL_TIME, /* µs: how long the kernel kept its cores busy */
    METRIC_CYCLES,
    METRIC_RATIO,      /* events per cycle */
    METRIC_TIME,       /* µs: ratio of the total time */
    METRIC_RATE,       /* the first event per second event */
    METRIC_BANDWIDTH,  /* GB/s (2^30): events of weight[0] bits each */
    METRIC_BANDWIDTHS, /* the sum of such bandwidths, one for each event */
    METRIC_OPS,        /* weighted sum of events; 0 without cycles */
    METRIC_AMOUNT,     /* KB: weighted sum of events */
    METRIC_COUNT,      /* the events themselves */
};

struct metric {
    const char *name;
    enum metric_kind kind;
    bool hidden_of
        [CORES];       /* cores of this kind have no such unit: op_summary leaves the column out, the database has it */
    bool is_of_vector; /* some chips with one kind of core cannot report it */
    enum { ANY_VECTOR, WIDE_VECTOR, NARROW_VECTOR } vector; /* only chips with such a vector unit have the metric */
    unsigned n_events;
    uint16_t event[METRIC_EVENTS];
    double weight[METRIC_EVENTS];
};

/* One column of the results. */
struct metric_column {
    struct metric metric;
    enum core core;
    const char *name;  /* "aic_mac_time": in the database */
    const char *label; /* "aic_mac_time(us)": in tables */
    bool is_hidden;
    bool is_unknown;                /* the chip cannot report it: reports show N/A */
    bool is_custom;                 /* the user chose the event */
    uint8_t counter[METRIC_EVENTS]; /* where each event was counted */
};

struct metric_columns {
    size_t n;
    struct metric_column *column;
};

/* Adds the columns of a group for one kind of core: its total time, its cycles and those metrics whose events were all
 * counted. `events` is text like "0x8,0xa". On chips with one kind of core, which is CORE_AIC, they have no prefix.
 * False: no such group, or no memory. */
bool metric_columns_add(struct metric_columns *to, const struct chip *chip, enum core core, const char *group,
                        const char *events, struct arena *mem);

/* What one kind of core counted for one task. */
struct core_counts {
    uint64_t cycles;
    const uint8_t *counters; /* one u64 for each event, as in the record; not aligned */
    double spent_us;         /* the time that the record has; negative: it follows from the rest */
    uint32_t blocks;         /* how many pieces the task was cut into */
    uint32_t n_cores;        /* that the device has for them */
    double mhz;              /* when the task ended */
    double nominal_mhz;
};

/* With coarse times the total is rounded to hundredths of a µs before anything is computed from it: the older one of
 * the reference's two ways, which op_summary shows for steps and graphs, and everywhere for custom events. */
double metric_value(const struct metric_column *c, const struct core_counts *counts, bool coarse_times);

#endif
