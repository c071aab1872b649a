/* SPDX-License-Identifier: Apache-2.0 */
/* advise_checks.h - registry: the checks of `ascope advise`, by what they look at. */
#ifndef ASCOPE_ANSWERS_CHECKS_ADVISE_CHECKS_H
#define ASCOPE_ANSWERS_CHECKS_ADVISE_CHECKS_H

#include "answers/checks/advise.h"

/* collective_checks.c: checks of which collectives a step has: many small ones, those of batch normalisation, gradients
 * that are reduced too often, one that hangs. They need no transfers, as those of comm_checks.h do. */
enum check_state check_small_collectives(const struct advise_subject *s, struct finding *out);
enum check_state check_sync_batchnorm(const struct advise_subject *s, struct finding *out);
enum check_state check_no_sync(const struct advise_subject *s, struct finding *out);
enum check_state check_hanging(const struct advise_subject *s, struct finding *out);

/* By row of the series: the time of collectives in which nothing computes. Exchanges of two ranks (stages of a
 * pipeline) do not count, nor what is known to be waiting for other ranks. NULL: no memory. */
double *exposed_collectives(const struct advise_subject *s);

/* What a check of collectives answers where there are none: they do not apply to a job of one process; in a job of
 * several there was nothing to find; or they were not recorded. */
enum check_state state_without_collectives(const struct advise_subject *s);

/* comm_checks.c: checks of what collectives moved over links: sizes, alignment, bandwidth, retransmissions. */
enum check_state check_small_packets(const struct advise_subject *s, struct finding *out);
enum check_state check_byte_alignment(const struct advise_subject *s, struct finding *out);
enum check_state check_slow_link(const struct advise_subject *s, struct finding *out);
enum check_state check_retransmission(const struct advise_subject *s, struct finding *out);

/* copy_checks.c: checks of copies between memories that nothing overlaps. */
enum check_state check_pageable(const struct advise_subject *s, struct finding *out);
enum check_state check_offload(const struct advise_subject *s, struct finding *out);
enum check_state check_copies(const struct advise_subject *s, struct finding *out);

/* device_checks.c: checks of what the cores of a device did: their clock, AI CPU operators, block numbers. */
enum check_state check_frequency(const struct advise_subject *s, struct finding *out);
enum check_state check_ai_cpu(const struct advise_subject *s, struct finding *out);
enum check_state check_block_dim(const struct advise_subject *s, struct finding *out);

/* kernel_checks.c: checks of the kernels themselves: what units they use, what they are for, how fast all of them run. */
/* Fills pays_ns: by how much the step gets shorter if a kernel takes no time. That is nothing if the device has to wait
 * for the host after it anyway: what the host launches next does not begin earlier. False: no memory. */
bool kernel_pays_find(struct advise_subject *s);

enum check_state check_tensor_cores(const struct advise_subject *s, struct finding *out);
enum check_state check_optimizer(const struct advise_subject *s, struct finding *out);
enum check_state check_conversions(const struct advise_subject *s, struct finding *out);
enum check_state check_waves(const struct advise_subject *s, struct finding *out);
enum check_state check_throttling(const struct advise_subject *s, struct finding *out);

/* launch_checks.c: checks of how the host launches work: whether it waits after each launch, waits in between, is too
 * slow, or hangs once. */
enum check_state check_launch_blocking(const struct advise_subject *s, struct finding *out);
enum check_state check_synchronisation(const struct advise_subject *s, struct finding *out);
enum check_state check_launch_bound(const struct advise_subject *s, struct finding *out);
enum check_state check_launch_outlier(const struct advise_subject *s, struct finding *out);

/* serving_checks.c: checks of the iterations of inference engines. */
enum check_state check_scheduling(const struct advise_subject *s, struct finding *out);
enum check_state check_post_processing(const struct advise_subject *s, struct finding *out);
enum check_state check_between_iterations(const struct advise_subject *s, struct finding *out);
enum check_state check_sampling(const struct advise_subject *s, struct finding *out);
enum check_state check_long_prompt(const struct advise_subject *s, struct finding *out);
enum check_state check_preemption(const struct advise_subject *s, struct finding *out);
enum check_state check_decode_launches(const struct advise_subject *s, struct finding *out);
enum check_state check_decode_host(const struct advise_subject *s, struct finding *out);
enum check_state check_graph_fallback(const struct advise_subject *s, struct finding *out);

/* stall_checks.c: checks of what the host does while the device has nothing to do: Python, compilation, checkpoints,
 * pauses. */
enum check_state check_slow_python(const struct advise_subject *s, struct finding *out);
enum check_state check_recompilation(const struct advise_subject *s, struct finding *out);
enum check_state check_checkpoint(const struct advise_subject *s, struct finding *out);
enum check_state check_unrecorded(const struct advise_subject *s, struct finding *out);
enum check_state check_gil(const struct advise_subject *s, struct finding *out);
enum check_state check_host_starved(const struct advise_subject *s, struct finding *out);

/* waiting_checks.c: checks of what the device waits for on the host. */
enum check_state check_gc(const struct advise_subject *s, struct finding *out);
enum check_state check_data_loader(const struct advise_subject *s, struct finding *out);
enum check_state check_memory_operators(const struct advise_subject *s, struct finding *out);
enum check_state check_free_time(const struct advise_subject *s, struct finding *out);

#endif
