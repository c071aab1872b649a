/* SPDX-License-Identifier: Apache-2.0 */
/* rates.h - bandwidths, rates and curves, computed from samples.
 *
 * Each function reads one table of samples and makes one table of rates, in the columns of profile/counters.h,
 * allocated in `mem`. They do not depend on files. False: out of memory.
 */
#ifndef ASCOPE_ANALYSE_DEVICE_RATES_H
#define ASCOPE_ANALYSE_DEVICE_RATES_H

#include "profile/profile.h"

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

#endif
