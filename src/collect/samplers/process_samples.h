/* SPDX-License-Identifier: Apache-2.0 */
/* process_samples.h - what a process and its descendants use: threads, memory, disk, network (the option host_sys). */
#ifndef ASCOPE_COLLECT_SAMPLERS_PROCESS_SAMPLES_H
#define ASCOPE_COLLECT_SAMPLERS_PROCESS_SAMPLES_H

#include "collect/samplers/host_sampler.h"

extern const struct host_source process_source;

#endif
