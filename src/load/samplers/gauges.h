/* SPDX-License-Identifier: Apache-2.0 */
/* gauges.h - what the readers of the host's gauges share: heads of samples, times, percentages, rows. */
#ifndef ASCOPE_LOAD_SAMPLERS_GAUGES_H
#define ASCOPE_LOAD_SAMPLERS_GAUGES_H

#include "load/prof/text.h"
#include "profile/usage.h"
#include "load/samplers/usage_load.h"

typedef unsigned __int128 u128;

/* A row of a gauge that has room for it; returns its number. */
static inline size_t gauge_add(struct gauge *g, int64_t begin_ns, double percent)
{
    g->begin_ns[g->n] = begin_ns;
    g->percent[g->n] = percent;
    return g->n++;
}

/* "time <ns>", the head of a sample. False: another line. A head without a time gives NO_TIME. */
static const int64_t NO_TIME = INT64_MIN;
bool gauge_head(const struct source *s, struct word line, int64_t *at_ns);

/* 100 * part / whole (not 0) to 6 decimals, halves to even: what the reference's decimal arithmetic gives. */
double gauge_percent(u128 part, u128 whole);

/* A setting of info.json that must be above 0, and at most `most`; otherwise 0, and counted as a loss. */
uint64_t gauge_setting(struct source *s, const char *key, int64_t value, int64_t most);

/* Loads all gauges of the host. */
bool gauges_load(struct source *s, struct usage *u, struct error *e); /* host_{cpu,mem,…}.data */

#endif
