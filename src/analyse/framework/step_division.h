/* SPDX-License-Identifier: Apache-2.0 */
/* step_division.h - what the time of a step was spent on, without overlaps: the parts of a step add up to it.
 *
 * Each moment of a step belongs to the first of these that was there: an operator of the device; a collective that waited for
 * other ranks; one that transferred data; a copy; a garbage collection; the host waiting for data, or allocating memory; an
 * operator of the host, a Python function, a range of the user; nothing that was recorded. Of several of one kind it belongs to
 * the one that began first on a device, and to the innermost one on the host. Work that spans two steps is split.
 *
 * Without a device the operators of the host are in the place of those of a device.
 *
 * Built on demand from columns, after the analysis. Names are texts of the profile's set, or of `mem`.
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEP_DIVISION_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEP_DIVISION_H

#include "analyse/framework/step_series.h"

enum spent_kind {
    SPENT_OPERATOR,   /* of the device; of the host where there is no device */
    SPENT_WAIT,       /* of a collective, for other ranks */
    SPENT_TRANSFER,   /* of a collective, without that */
    SPENT_COPY,       /* of memory, by the device */
    SPENT_GC,         /* Python's */
    SPENT_DATA,       /* the host, or the device's input queue, waited for data */
    SPENT_ALLOCATION, /* the host allocated or freed memory of the device */
    SPENT_HOST,       /* an operator or a call of the host; the device had nothing to do */
    SPENT_PYTHON,     /* a Python function, without those that it called */
    SPENT_RANGE,      /* that the user marked */
    SPENT_NOTHING,    /* nothing was recorded then */
    SPENT_KINDS
};

/* Where the timeline shows something. */
enum spent_track {
    SHOWN_NONE,
    SHOWN_STREAM,        /* of the device; number: stream */
    SHOWN_COMMUNICATION, /* of the device */
    SHOWN_STEPS,         /* of the device */
    SHOWN_FRAMEWORK,     /* of the host; number: thread, as are those that follow */
    SHOWN_GC,
    SHOWN_CALLS,
    SHOWN_MARKS,
    SHOWN_PLACES
};

struct spent_place {
    enum spent_track track;
    uint32_t number;
    const char *group; /* of a collective */
    const char *event; /* its name there; NULL: there is nothing to see */
    int64_t begin_ns, dur_ns;
};

struct spent {
    enum spent_kind kind;
    const char *name;         /* "" of garbage collections, and of nothing */
    double ns, runs;          /* means, of several steps */
    double mhz;               /* mean clock of the device meanwhile; 0: unknown */
    struct spent_place place; /* of the longest */
};

struct step_profile {
    size_t n;         /* by kind, then by name */
    struct spent *at; /* each kind and name once */
    double time_ns;   /* the sum */
};

struct step_division {
    struct step_profile usual; /* mean of the steps that are neither slow nor wanted */
    size_t n_usual;            /* how many they are; 0: there is nothing to compare with */
    struct step_profile *of;   /* of each wanted step */
};

/* `wanted`: rows of the series, each once. `collection` is NULL of a PROF directory. False only without memory. */
bool step_division_find(struct step_division *out, const struct step_series *s, const struct profile *p,
                        const struct device *d, const struct collection *collection, const uint32_t *wanted,
                        size_t n_wanted, struct arena *mem);

int spent_compare(const struct spent *a, const struct spent *b); /* the order of a profile */

#endif
