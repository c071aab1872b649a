/* SPDX-License-Identifier: Apache-2.0 */
/* host_use.h - resources of the host that the sampled program used, in sums: CPU time by thread, memory, disk, network,
 * system calls by name. For the report at the end of a run; tables and timelines show the samples.
 */
#ifndef ASCOPE_ANALYSE_HOST_HOST_USE_H
#define ASCOPE_ANALYSE_HOST_HOST_USE_H

#include "base/memory/arena.h"
#include "profile/profile.h"

struct os_call_sum {
    name_id name;
    uint64_t n, sum_ns, most_ns;
};

struct host_use {
    bool has_cpu, has_memory, has_disk, has_network;
    double wall_s;               /* of the collection */
    double user_s, sys_s;        /* CPU time of all threads */
    struct thread_times threads; /* by descending CPU time; without threads that used none */
    size_t n_threads;            /* number of all threads */
    double ticks_per_s;
    uint64_t memory_most_kb, memory_all_kb;
    uint64_t disk_read, disk_written;        /* bytes */
    double disk_most_kb_s[2];                /* read, written */
    uint64_t network_received, network_sent; /* bytes, without the loopback device */
    uint64_t loopback;                       /* bytes sent over the loopback device */
    struct os_call_sum *calls;               /* by descending time */
    size_t n_call_names;
    uint64_t calls_n, calls_ns; /* of all */
};

/* The results are allocated in mem. False: no memory. */
bool host_use_sum(struct host_use *out, const struct profile *p, struct arena *mem);

#endif
