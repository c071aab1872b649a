/* usage_load.h - what was sampled of an operating system, the host's or a device's, into tables. */
#ifndef ASCOPE_LOAD_USAGE_LOAD_H
#define ASCOPE_LOAD_USAGE_LOAD_H

#include "profile/profile.h"

/* False only without memory: lines that do not follow their grammar are counted in s->lost and stepped over. */
bool usage_load(struct profile *p, struct source *s, struct usage *u, struct error *e);

/* Its parts, each in a file of its own. */
bool gauges_load(struct source *s, struct usage *u, struct error *e);                      /* host_{cpu,mem,…}.data */
bool os_calls_load(struct profile *p, struct source *s, struct usage *u, struct error *e); /* perf trace, ltrace */
bool snapshots_load(struct profile *p, struct source *s, struct usage *u, struct error *e);   /* blocks of /proc text */
bool cpu_samples_load(struct profile *p, struct source *s, struct usage *u, struct error *e); /* perf, tscpu.data */
bool dvpp_load(struct profile *p, struct source *s, struct usage *u, struct error *e);

#endif
