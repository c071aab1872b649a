/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - estimates for an export by the size of its collection: shares of its stages and size of its results, for
 * the progress display, and a useful number of threads.
 *
 * Measured with simulated jobs of 60,000 and 150,000 kernels; for others the estimates are less exact. Results of a
 * framework have about as many bytes per recorded byte as those of a device.
 */
#ifndef ASCOPE_PIPELINE_STAGES_H
#define ASCOPE_PIPELINE_STAGES_H

#include <stdbool.h>
#include <stdint.h>

static const double STAGE_READ = 0.11,
                    STAGE_ANALYSED =
                        0.25; /* ends of reading and analysing, as shares of the whole; the rest is writing */

static inline uint64_t stage_output_bytes(uint64_t raw_bytes, bool timeline, bool tables, bool db)
{
    const double for_each = (timeline ? 1.65 : 0) + (tables ? 0.43 : 0) + (db ? 0.74 : 0);
    return (uint64_t)(for_each * (double)raw_bytes);
}

/* A thread with less than 2 MiB costs more than it saves: 8 MB took 40 ms with three threads and 47 ms with sixteen. */
static inline unsigned stage_threads(uint64_t raw_bytes, unsigned most)
{
    static const uint64_t bytes_of_thread = 2 << 20;
    return raw_bytes / bytes_of_thread < most ? (unsigned)(raw_bytes / bytes_of_thread) + 1 : most;
}

#endif
