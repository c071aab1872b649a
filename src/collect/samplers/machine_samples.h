/* SPDX-License-Identifier: Apache-2.0 */
/* machine_samples.h - CPU time and memory of the machine and of every process on it (the option host_sys_usage).
 *
 * The format has a file for each process, and there may be thousands. So the samples of all processes are in one
 * stream, each preceded by the process it belongs to (struct process_bytes). process_files.h splits it into the files
 * when the recording ends.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_MACHINE_SAMPLES_H
#define ASCOPE_COLLECT_SAMPLERS_MACHINE_SAMPLES_H

#include "collect/samplers/host_sampler.h"

extern const struct host_source machine_source;

#endif
