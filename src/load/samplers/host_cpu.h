/* SPDX-License-Identifier: Apache-2.0 */
/* host_cpu.h - loads the utilisation of the host's CPUs into a table. */
#ifndef ASCOPE_LOAD_SAMPLERS_HOST_CPU_H
#define ASCOPE_LOAD_SAMPLERS_HOST_CPU_H

#include "load/samplers/gauges.h"

/* Reads host_cpu.data. False: no memory. */
bool gauge_load_cpu(struct source *s, struct text *t, struct gauge *g);

#endif
