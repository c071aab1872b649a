/* SPDX-License-Identifier: Apache-2.0 */
/* why.h - why steps are slow, or a rank: the difference to the usual step or to another rank, cause by cause.
 *
 * Texts are copied into `mem`: the answer outlives the collection that it is about.
 */
#ifndef ASCOPE_ANSWERS_JUDGE_WHY_H
#define ASCOPE_ANSWERS_JUDGE_WHY_H

#include "analyse/framework/steps/step_causes.h"
#include "answers/run/run_rank.h"
#include "answers/run/step_thread_time.h"
#include "base/text/readable.h"

/* Where to look in the timeline: names as it shows them. */
struct why_place {
    const char *process, *thread, *event; /* NULL: there is nothing to see; event: the gap itself */
    int64_t begin_ns, dur_ns;
    const char *step;                    /* in which it begins; NULL: none */
    int64_t in_step_ns, in_recording_ns; /* since the begin of the step; since that of the recording, -1: unknown */
    bool is_gap;                         /* nothing was recorded of the host */
    const char *host_before, *host_after, *device_before, *device_after; /* of a gap: its neighbours; NULL: none */
};

/* `s`: the steps of the rank; NULL: not known. */
struct why_place why_place_of(const struct spent_place *at, const struct step_series *s, const struct run_rank *q,
                              struct arena *mem);

struct why_answer {
    struct step_difference difference; /* items: the largest `most` */
    struct why_place *place;           /* of each item */
    double others_ns;                  /* of the items that were left out */
    size_t n_others, n_usual; /* n_usual: steps that the usual one is the mean of; 0: nothing to compare with */
    bool lacks_python;        /* nothing was recorded of most of it; Python functions could have been, and were not */
    struct step_thread_time thread_usual, thread; /* where the thread of the usual steps and of these was */
    bool knows_waits; /* of collectives; else CAUSE_TRANSFER may be waiting for other ranks, too */
    bool is_host;     /* there is no device */
    const char
        *because; /* "waiting for data +18.897 ms (100 %): next": the largest causes; NULL: there is no large one */
};

/* "longer runs" */
const char *why_cause_words(const struct why_answer *a, enum step_cause cause);
/* "waits for rank 1", if most of the waiting in these items is for one rank; else as why_cause_words(). NULL: no
 * memory. */
const char *why_waiting_words(const struct why_answer *a, const struct step_difference *d, enum step_cause cause,
                              struct arena *mem);
/* What an item is about: its name, or "nothing was recorded of the host". */
const char *why_item_words(const struct step_item *m);
/* "+18.9 ms": with its sign. */
const char *why_more_words(char out[READABLE_MOST + 2], double ns);

/* Some steps that are explained together, by their mean: rows of the series. */
struct why_rows {
    const uint32_t *row;
    size_t n;
    unsigned without; /* kinds of time that are not compared (bits of spent_kind) */
};

/* Each set against the usual step: the mean of the steps that are in no set and not slow. False only without memory. */
bool why_steps(struct why_answer *out, const struct step_series *s, const struct run_rank *q,
               const struct why_rows *set, size_t n_sets, size_t most, struct arena *mem);

/* The usual step of a rank, for the comparison with another one. */
bool why_usual(struct step_profile *out, const struct run_rank *q, struct arena *mem);

/* The usual step of this rank without its communication, against that of another rank. */
bool why_rank(struct why_answer *out, const struct run_rank *q, const struct step_profile *other, size_t most,
              struct arena *mem);

#endif
