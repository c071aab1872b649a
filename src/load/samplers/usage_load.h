/* SPDX-License-Identifier: Apache-2.0 */
/* usage_load.h - registry: loads samples of an operating system, the host's or a device's, into tables. */
#ifndef ASCOPE_LOAD_SAMPLERS_USAGE_LOAD_H
#define ASCOPE_LOAD_SAMPLERS_USAGE_LOAD_H

#include "profile/profile.h"

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

#endif
