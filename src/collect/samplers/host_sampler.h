/* SPDX-License-Identifier: Apache-2.0 */
/* host_sampler.h - registry: how busy a process and its host are: what the options host_sys and host_sys_usage ask for.
 *
 * A thread of its own reads the sources, each at its own rate, and puts samples into the rings, in the form of their
 * files. It uses at most a fifth of a CPU: if reading takes longer, it reads less often.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_HOST_SAMPLER_H
#define ASCOPE_COLLECT_SAMPLERS_HOST_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ascope/session.h"
#include "base/text/error.h"

enum { HOST_SAMPLED = ASCOPE_HOST_CPU | ASCOPE_HOST_MEM | ASCOPE_HOST_NETWORK | ASCOPE_HOST_DISK };

struct host_target {
    pid_t pid, owner;  /* the process that is looked at, with its descendants; the one that looks */
    const char *name;  /* of the first one */
    bool has_device;   /* options for devices are not only about the host */
    const char *sysfs; /* NULL: /sys; a test has a folder of its own */
};

/* One kind of thing to look at; its functions run one at a time. */
struct host_source {
    uint64_t (*period_ns)(const struct ascope_options *o);                        /* 0: not asked for */
    void *(*start)(const struct host_target *of, const struct ascope_options *o); /* NULL: no memory */
    void (*look)(void *source, bool is_last);
    void (*stop)(void *source);
};

struct host_sampler;

/* After rings_open(). When it returns every source was looked at once. NULL: nothing is asked for, or e says why. */
struct host_sampler *host_sampler_start(const struct host_target *of, const struct ascope_options *o, struct error *e);
void host_sampler_stop(struct host_sampler *h); /* looks a last time; before the writer stops; NULL is fine */

/* roce_samples.c: counters of the host's RDMA ports, InfiniBand or RoCE, where sysfs has them (the option sys_io).
 *
 * host_roce.data is a format of ours: the reference samples the ports of NPUs only. Interfaces are in
 * host_network.data (host_sys network). Of PCIe sysfs has the speed of links and counts of errors, and no traffic:
 * nothing is recorded of it. */

extern const struct host_source roce_source;

/* numa_samples.c: on which memory nodes the pages of a process and its descendants are (the option host_sys numa).
 *
 * Once a second, and at most a hundredth of a CPU: the kernel walks all pages to answer. host_numa.data is a format of
 * ours: the reference's is that of a tool that nobody has published. */

extern const struct host_source numa_source;

/* call_samples.c: the system calls that a process is seen to wait in: /proc/PID/task/N/syscall of each thread, looked
 * at now and then.
 *
 * For processes that we may look at and neither trace nor prepare. A call that is the same in several samples is one
 * record, from the first to the last of them; what is shorter than the time between two samples is mostly missed. */

struct call_samples;

bool call_samples_permitted(pid_t pid);
struct call_samples *call_samples_new(pid_t pid); /* NULL: no memory */
void call_samples_look(struct call_samples *s);   /* of all threads, once; records of calls that are over */
void call_samples_free(struct call_samples *s);   /* records of those that go on; NULL is fine */

/* machine_samples.c: CPU time and memory of the machine and of every process on it (the option host_sys_usage).
 *
 * The format has a file for each process, and there may be thousands. So the samples of all processes are in one
 * stream, each preceded by the process it belongs to (struct process_bytes). process_files.c splits it into the files
 * when the recording ends. */

extern const struct host_source machine_source;

/* process_samples.c: what a process and its descendants use: threads, memory, disk, network (the option host_sys). */

extern const struct host_source process_source;

#endif
