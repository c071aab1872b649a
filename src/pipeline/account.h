/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - the result of a job: files written, failures, time. */
#ifndef ASCOPE_PIPELINE_ACCOUNT_H
#define ASCOPE_PIPELINE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/text/error.h"

struct written {
    const char *path;
    const char *about;
    uint64_t n_rows, n_bytes; /* events of a timeline, rows of a table or of all tables of a database */
    bool is_timeline;
};

struct account {
    LIST(struct written) files;
    LIST(const char *) problems; /* one line each: what could not be done, and why */
    size_t n_omitted;            /* problems that are not in the list for want of memory */
    double load_s, analyse_s, write_s;
    struct arena *mem;
};

void account_problem(struct account *a, const char *text); /* text is copied; NULL: there was no memory for it */
double account_clock_s(void);                              /* CLOCK_MONOTONIC, for load_s, analyse_s and write_s */
/* Whether the results lack something that was collected, or something went wrong. */
bool account_is_lossy(const struct account *a, const struct losses *lost);

#endif
