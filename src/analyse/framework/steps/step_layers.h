/* SPDX-License-Identifier: Apache-2.0 */
/* step_layers.h - divides the time of steps by what happened in it, without overlaps: the parts of a step add up to it.
 *
 * There are several layers, the most important first. The spans of a layer take time that no earlier layer has taken.
 * The spans of a layer are passed by ascending begin; where two overlap, the first one has the time. The time that no
 * layer takes is SPENT_NOTHING. The caller passes the spans: from columns of a collection (step_division.h), or from
 * slices of a trace.
 *
 *     layers_begin(), { layers_take() ..., layers_next() or layers_nest() } ..., layers_finish()
 */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_LAYERS_H
#define ASCOPE_ANALYSE_FRAMEWORK_STEPS_STEP_LAYERS_H

#include "analyse/framework/steps/step_series.h"

enum spent_kind {
    SPENT_OPERATOR,   /* of the device; of the host where there is no device */
    SPENT_WAIT,       /* of a collective, for other ranks */
    SPENT_TRANSFER,   /* of a collective, without that */
    SPENT_COPY,       /* of memory, by the device */
    SPENT_GC,         /* Python's */
    SPENT_DATA,       /* the host, or the device's input queue, waited for data */
    SPENT_REQUESTS,   /* the host of a server waited for requests, which is no fault */
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
    SHOWN_TRACE, /* number: track of a trace */
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

int spent_compare(const struct spent *a, const struct spent *b); /* the order of a profile */

struct step_division {
    struct step_profile usual; /* mean of the steps that are neither slow nor wanted */
    size_t n_usual;            /* how many they are; 0: there is nothing to compare with */
    struct step_profile *of;   /* of each wanted step */
};

/* A collective whose members were read: until the last one had joined, it waited. */
struct known_wait {
    int64_t begin_ns, joined_ns, end_ns;
    int64_t step;         /* number of the step that launched it; INT64_MIN: none */
    const char *for_whom; /* "rank 1" */
    bool is_for_rank;     /* it is certain that it waits for that one */
    uint32_t row;         /* of the device's collectives, of the slices of a trace, or of the operators of a host */
};
struct known_waits {
    size_t n, n_unknown; /* n_unknown: collectives that may wait and transfer, because not all members were read */
    const struct known_wait *at; /* by begin */
};

/* Something that took time. The time spent on it may be less than its duration: spans inside it have their own time. */
struct spent_span {
    enum spent_kind kind;
    name_id name;
    int64_t begin_ns, end_ns;
    struct spent_place place;
    double mhz;
};

struct step_layers;

/* `wanted`: rows of the series, each once. Series and names are lent until layers_finish(); names that are added after
 * this have no time. NULL: no memory. */
struct step_layers *layers_begin(const struct step_series *s, const struct names *names, const uint32_t *wanted,
                                 size_t n_wanted);
struct arena *layers_mem(struct step_layers *v); /* for memory of the caller until layers_finish(), which checks it */

/* What the host does in something of this name: SPENT_DATA, SPENT_REQUESTS, SPENT_ALLOCATION, or else SPENT_HOST. */
enum spent_kind spent_kind_of_name(const char *name);
enum spent_kind layers_host_kind(struct step_layers *v, name_id name);

void layers_count(struct step_layers *v, const struct spent_span *x); /* counts a run, in the step in which it begins */
void layers_spend(struct step_layers *v, const struct spent_span *x); /* adds its time */
void layers_take(struct step_layers *v, const struct spent_span *x);  /* both */
void layers_next(struct step_layers *v);                              /* ends a layer */

/* A whole layer of nested spans. Time belongs to the innermost open span; with several threads, to the span that began
 * last. Spans inside SPENT_DATA or SPENT_REQUESTS count as that. `span` fills *out with the span of a row and returns
 * false if the row is to be skipped. `order` is a result of nesting_order(). `skips_idle_threads`: without threads that
 * had less than a tenth of the busiest thread's spans in earlier nests (or, if there are none, in this one): they
 * mostly wait for queues, locks and processes. place.number is the thread. False only without memory. */
struct layer_nest {
    bool (*span)(const void *context, size_t row, struct spent_span *out);
    const void *context;
    const uint32_t *order;
    size_t n;
    bool skips_idle_threads;
};
bool layers_nest(struct step_layers *v, const struct layer_nest *nest);
uint32_t *layers_order(struct step_layers *v, const int64_t *begin_ns, size_t n); /* by begin; NULL: no memory */

/* Frees v, which may be NULL. False only without memory, then or before. */
bool layers_finish(struct step_layers *v, struct step_division *out, struct arena *mem);

#endif
