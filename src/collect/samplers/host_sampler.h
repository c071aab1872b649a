/* SPDX-License-Identifier: Apache-2.0 */
/* host_sampler.h - how busy a process and its host are: what the options host_sys and host_sys_usage ask for.
 *
 * A thread of its own reads the sources, each at its own rate, and puts samples into the rings, in the form of their
 * files. It uses at most a fifth of a CPU: if reading takes longer, it reads less often.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_HOST_SAMPLER_H
#define ASCOPE_COLLECT_SAMPLERS_HOST_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text/error.h"
#include "ascope/session.h"

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

#endif
