/* SPDX-License-Identifier: Apache-2.0 */
/* roce_samples.h - counters of the host's RDMA ports, InfiniBand or RoCE, where sysfs has them (the option sys_io).
 *
 * host_roce.data is a format of ours: the reference samples the ports of NPUs only. Interfaces are in host_network.data
 * (host_sys network). Of PCIe sysfs has the speed of links and counts of errors, and no traffic: nothing is recorded of
 * it.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_ROCE_SAMPLES_H
#define ASCOPE_COLLECT_SAMPLERS_ROCE_SAMPLES_H

#include "collect/samplers/host_sampler.h"

extern const struct host_source roce_source;

#endif
