/* SPDX-License-Identifier: Apache-2.0 */
/* device_analysis.h - registry: what is computed of one device, apart from its tasks and their counters. */
#ifndef ASCOPE_ANALYSE_DEVICE_DEVICE_ANALYSIS_H
#define ASCOPE_ANALYSE_DEVICE_DEVICE_ANALYSIS_H

#include <stdint.h>

#include "analyse/device/kernel_work.h"
#include "profile/gpu_facts.h"
#include "profile/gpu_tasks.h"
#include "profile/profile.h"
#include "profile/task_types.h"
#include "raw/chip.h"

/* ccu_events.c: instructions of collective communication units with the plans of the host and the delays of their
 * channels. */

/* Fills d->ccu.stream and d->ccu.events. False: no memory. */
bool ccu_analyse(struct profile *p, struct device *d, struct error *e);

/* iterations.c: iterations, from the stamps that a device writes while a model runs.
 *
 * A model's run is stamped at its begin and end, and every iteration in it at the begin of the forward pass, at the
 * end of the backward pass and at its own end. Pipeline stages overlap, so that stamps are first assigned to the
 * iterations that wait for them; then a run is divided into iterations. Frameworks stamp their training steps, too. */

/* Fills d->steps but its marks. Everything is taken from the device's arena; stamps that fit nowhere are counted in its
 * losses. False only without memory. */
bool steps_analyse(struct profile *p, struct device *d, struct error *e);

/* rates.c: bandwidths, rates and curves, computed from samples.
 *
 * Each function reads one table of samples and makes one table of rates, in the columns of profile/counters.h,
 * allocated in `mem`. They do not depend on files. False: out of memory. */

/* Fills d->counters.rate and what else follows from the samples of a device. */
bool counters_analyse(struct profile *p, struct device *d, struct error *e);

bool rates_hbm(const struct samples *in, struct arena *mem, struct samples *out);
/* The first sample covers the time since begin_ns. `width` is that of the bus, in bits. */
bool rates_ddr(const struct samples *in, int64_t begin_ns, unsigned width, struct arena *mem, struct samples *out);
bool rates_llc(const struct samples *in, unsigned n_units, bool is_write, struct arena *mem, struct samples *out);
bool rates_hccs(const struct samples *in, struct arena *mem, struct samples *out);
bool rates_port(const struct samples *in, struct arena *mem, struct samples *out);
bool rates_netdev(const struct samples *in, struct arena *mem, struct samples *out);
bool rates_sio(const struct samples *in, struct ticks tick, struct arena *mem,
               struct samples *out); /* `tick`: of SOC_TIME */
bool rates_qos(const struct samples *in, size_t n_events, struct arena *mem, struct samples *out);
/* Both tables as one, by time. */
bool rates_acc(const struct samples *a, const struct samples *b, struct arena *mem, struct samples *out);
/* The value at begin_ns, when the device's clock was read, and every later change. `otherwise`: the value if there is
 * none before. */
bool rates_changes(const struct samples *in, int64_t begin_ns, uint64_t otherwise, struct arena *mem,
                   struct samples *out);

/* copies.c: size and direction of memory copies. */

/* Tasks of a device that may be copies, and the columns to fill. */
struct copying {
    size_t n;
    const uint32_t *host;   /* rows of host_tasks, or NO_ROW */
    const uint16_t *stream; /* as the device knows it */
    uint64_t *bytes;
    uint16_t *kind; /* unchanged for tasks that are not copies */
};
bool copies_measure(const struct profile *p, const struct device *d, const struct copying *c); /* false: no memory */

/* After tasks_analyse(): fills tasks.copy_bytes and copy_kind of MEMCPY_ASYNC tasks. */
bool copies_analyse(struct profile *p, struct device *d, struct error *e);

/* device_peaks.c: the peak performance of a device: matrix operations per second, bytes of its memory per second.
 *
 * Computed from the cores and clocks that the device reported and from published figures. Nothing is estimated: an
 * unknown peak is 0. */

struct device_facts {
    const struct chip *chip;
    uint32_t n_cores; /* AI cores */
    double core_mhz;
    const struct gpu_facts *gpu; /* NULL: it is no GPU */
};

double device_peak_operations(const struct device_facts *d, enum number_kind numbers);
double device_peak_bytes(const struct device_facts *d);

/* device_peaks.c: theoretical occupancy of a kernel: the warps that an SM can run of it at once, in percent of those
 * that it can run of any kernel. Limits are threads, blocks, registers and shared memory, in the units in which the
 * hardware allocates them. */

struct gpu_needs {
    uint64_t block_threads, registers, shared_bytes; /* registers: of a thread; shared_bytes: of a block */
};

uint32_t gpu_blocks_per_sm(const struct gpu_facts *f, const struct gpu_needs *n); /* 0: unknown, or it cannot run */
/* Below 0: unknown. */
double gpu_occupancy_percent(const struct gpu_facts *f, const struct gpu_tasks *g, uint32_t row);

/* overlap.c: the time in which a device computes, communicates, does both, or waits. */

/* Which rows count. NULL: all of them. */
struct overlap_part {
    const bool *task; /* of the device's tasks */
    const bool *op;   /* of the tasks that are operators */
    const bool *comm; /* of the communication operators */
    bool is_by_type;  /* tasks that task_does() knows by their types compute, too: no file of the vendor's form has
                       that */
};

/* False: out of memory. The intervals are in `mem`. */
bool overlap_build(const struct profile *p, const struct device *d, const struct overlap_part *part, struct arena *mem,
                   struct overlap *out);
/* For tasks with an operator. False: it is a collective on vector cores, or schedules one. */
bool task_is_computing(const struct profile *p, const struct tasks *t, size_t row);
/* What a task does. Where nothing of the host was recorded, by the type that the device gave it; then it has no
 * operator. */
enum task_does task_does(const struct profile *p, const struct tasks *t, size_t row);
bool overlap_analyse(struct profile *p, struct device *d, struct error *e);

#endif
