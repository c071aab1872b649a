/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - distinguishes tasks whose 16-bit ids were reused.
 *
 * Each time the ids of a stream wrap around (or the stream is destroyed and its number reused), a flip is recorded. The
 * batch of a task is the number of flips before it, corrected around the flip by comparing task ids, because the clocks
 * of tasks and flips are read at slightly different times.
 */
#ifndef ASCOPE_ANALYSE_HOST_BATCH_H
#define ASCOPE_ANALYSE_HOST_BATCH_H

#include <stddef.h>
#include <stdint.h>

/* The device's rule. Tasks are the rows order[0..n) of one stream by ascending time; flips are those of the stream. */
void batch_of_device(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                     size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task);

/* The host's rule, which looks at the flip's number too. */
void batch_of_host(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                   size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task, const uint16_t *flip_number);

/* The rule of the older presentation for devices: as the host's, but a task at the very time of a flip comes after
 * it. */
void batch_of_older(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                    size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task, const uint16_t *flip_number);

/* The AI CPUs' rule: a flip has the number of the round that it begins, and a destroyed stream begins a round of its
 * own. Nothing is corrected around a flip. */
void batch_by_number(const uint32_t *order, size_t n, const uint64_t *time, uint16_t *batch, size_t n_flips,
                     const uint64_t *flip_time, const uint16_t *flip_number);

#endif
