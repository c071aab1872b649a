/* SPDX-License-Identifier: Apache-2.0 */
/* usage_load.h - registry: loads samples of an operating system, the host's or a device's, into tables. */
#ifndef ASCOPE_LOAD_SAMPLERS_USAGE_LOAD_H
#define ASCOPE_LOAD_SAMPLERS_USAGE_LOAD_H

#include "load/prof/text.h"
#include "profile/profile.h"
#include "profile/usage.h"

/* False only without memory: lines that do not follow their grammar are counted in s->lost and stepped over. */
bool usage_load(struct profile *p, struct source *s, struct usage *u, struct error *e);

/* cpu_samples.c: loads samples of the device's ARM cores into tables. */
bool cpu_samples_load(struct profile *p, struct source *s, struct usage *u, struct error *e); /* perf, tscpu.data */

/* dvpp.c: loads samples of the DVPP engines into tables. */
bool dvpp_load(struct profile *p, struct source *s, struct usage *u, struct error *e);

/* host_counts.c: counters of the host's memory nodes and RDMA ports, as ascope records them (host_numa.data,
 * host_roce.data). */
bool host_counts_load(struct profile *p, struct source *s, struct usage *u, struct error *e);

/* os_calls.c: loads calls of the operating system into a table. */
bool os_calls_load(struct profile *p, struct source *s, struct usage *u, struct error *e); /* perf trace, ltrace */

/* snapshots.c: loads snapshots of /proc into tables. */
bool snapshots_load(struct profile *p, struct source *s, struct usage *u, struct error *e); /* blocks of /proc text */

/* gauges.c: what the readers of the host's gauges share: heads of samples, times, percentages, rows. */

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

/* host_cpu.c: loads the utilisation of the host's CPUs into a table. */

/* Reads host_cpu.data. False: no memory. */
bool gauge_load_cpu(struct source *s, struct text *t, struct gauge *g);

/* host_counts.c: parses texts of /proc, as collectors copy them. */

/* The line of /proc/<pid>/stat, or of one of its threads. Names may hold blanks and parentheses: fields are counted
 * from the last closing one. */
struct proc_stat {
    uint64_t id;
    struct word name;
    uint64_t user, sys, child_user, child_sys; /* clock ticks */
    uint32_t cpu;                              /* on which it ran last; 0 unless requested */
};
bool proc_stat(struct word line, bool wants_cpu, struct proc_stat *out);

/* Which CPUs of a device do what: lists of numbers in its info.json, "1,2,3". */
enum { CPUS_MOST = 1024 };
struct cpu_list {
    uint64_t bits[CPUS_MOST / 64];
};
void cpu_list_read(const char *list, struct cpu_list *out);
static inline bool cpu_list_has(const struct cpu_list *l, uint64_t cpu)
{
    return cpu < CPUS_MOST && (l->bits[cpu / 64] >> cpu % 64 & 1);
}

#endif
