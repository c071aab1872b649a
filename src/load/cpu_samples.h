/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_samples.h - loads samples of the device's ARM cores into tables. */
#ifndef ASCOPE_LOAD_CPU_SAMPLES_H
#define ASCOPE_LOAD_CPU_SAMPLES_H

#include "load/usage_load.h"

bool cpu_samples_load(struct profile *p, struct source *s, struct usage *u, struct error *e); /* perf, tscpu.data */

#endif
