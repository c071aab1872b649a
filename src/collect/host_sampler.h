/* SPDX-License-Identifier: Apache-2.0 */
/* host_sampler.h - how busy a process, its disk and the network are, looked at 50 times a second: what the option host_sys asks for.
 *
 * A thread of its own copies what /proc says, in the form that the format has for it. It takes at most a fifth of a CPU: in a process
 * of very many threads it looks less often.
 */
#ifndef ASCOPE_COLLECT_HOST_SAMPLER_H
#define ASCOPE_COLLECT_HOST_SAMPLER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "ascope/session.h"

enum { HOST_SAMPLED = ASCOPE_HOST_CPU | ASCOPE_HOST_MEM | ASCOPE_HOST_NETWORK | ASCOPE_HOST_DISK };

struct host_sampler;

/* After rings_open(). pid: the process that is looked at. what: enum ascope_host_system, several; others than HOST_SAMPLED are passed over. NULL: e says why. */
struct host_sampler *host_sampler_start(uint32_t what, pid_t pid, struct error *e);
void host_sampler_stop(struct host_sampler *h); /* before the writer stops; NULL is fine */

#endif
