/* SPDX-License-Identifier: Apache-2.0 */
/* machine_samples.h - CPU time and memory of the machine and of every process on it (the option host_sys_usage).
 *
 * The format has a file for each process, and there may be thousands: their samples are put into one stream, with who they are of in
 * front (struct process_bytes), and process_files.h makes files of them when the recording ends.
 */
#ifndef ASCOPE_COLLECT_MACHINE_SAMPLES_H
#define ASCOPE_COLLECT_MACHINE_SAMPLES_H

#include "collect/host_sampler.h"

extern const struct host_source machine_source;

#endif
