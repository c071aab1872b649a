/* SPDX-License-Identifier: Apache-2.0 */
/* numa_samples.h - on which memory nodes the pages of a process and its descendants are (the option host_sys numa).
 *
 * Once a second, and at most a hundredth of a CPU: the kernel walks all pages to answer. host_numa.data is a format of
 * ours: the reference's is that of a tool that nobody has published.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_NUMA_SAMPLES_H
#define ASCOPE_COLLECT_SAMPLERS_NUMA_SAMPLES_H

#include "collect/samplers/host_sampler.h"

extern const struct host_source numa_source;

#endif
