/* SPDX-License-Identifier: Apache-2.0 */
/* advise_report.h - the findings of `ascope advise` as text and as JSON. */
#ifndef ASCOPE_REPORT_ADVISE_REPORT_H
#define ASCOPE_REPORT_ADVISE_REPORT_H

#include <jansson.h>

#include "answers/checks/advise.h"
#include "report/term.h"

struct advise_report {
    const struct advise_rank *rank;
    size_t n_ranks;
    const struct advice *advice;     /* of all checks, in the order of advise_job(): findings first */
    const struct explained_run *run; /* what is slow; NULL: the caller reports that itself */
    const char *page;                /* path of the page that was written; NULL: none */
    struct arena *mem;               /* for texts about `run` */
};

size_t advise_n_found(const struct advise_report *r);
const char *advice_change(const struct advice *a); /* what to change, for NPUs or GPUs */
const char *advice_needs(const struct advice *a);  /* how to record what the check needs, for NPUs or GPUs */
bool advice_is_for(const struct advice *a);        /* whether the check applies to the kind of device */

/* Writes "rank 3", "device 1" or "directory 2" to out; "" for a single rank. Returns out. */
enum { RANK_TEXT = 40 };
const char *advise_rank_text(const struct advise_report *r, uint32_t rank, char out[RANK_TEXT]);

/* Writes "saves up to 4.1 ms of 9.2 ms a step (44.5 %)" to out, and returns it. */
enum { SAVES_TEXT = 320 };
const char *advice_saves(const struct advise_report *r, const struct advice *a, char out[SAVES_TEXT]);

/* The largest findings, a line each, with the numbers behind `number`; without those about slow steps, and with
 * `has_ranks` without those about slow ranks: they are verdicts, reported with their causes. Returns the last number. */
size_t advise_put_short(const struct term *t, const struct advise_report *r, size_t number, bool has_ranks);
void advise_print(const struct term *t, const struct advise_report *r);
json_t *advise_json(const struct advise_report *r);        /* the findings; NULL: no memory */
json_t *advise_checks_json(const struct advise_report *r); /* all checks */

#endif
