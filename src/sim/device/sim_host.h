/* SPDX-License-Identifier: Apache-2.0 */
/* sim_host.h - the files of the simulated host: calls, names, records beside them. */
#ifndef ASCOPE_SIM_DEVICE_SIM_HOST_H
#define ASCOPE_SIM_DEVICE_SIM_HOST_H

#include "sim/job/sim_run.h"

/* Adds a text to the dictionary and returns its hash. Call it once per text. */
uint64_t host_name(struct sim_process *p, const char *text);
void host_open(struct sim_process *p);
void host_close(struct sim_process *p);
void host_call(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread, uint64_t begin,
               uint64_t end, uint64_t item);
void host_event(struct sim_process *p, enum host_file f, uint16_t level, uint32_t type, uint32_t thread,
                uint32_t request, uint64_t time, uint64_t item);
uint8_t *host_record(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time);
uint8_t *host_record_of(struct sim_process *p, enum host_file f, uint32_t thread, uint64_t time, size_t bytes);
void host_track(struct sim_device *d, enum host_file f, uint32_t thread, uint64_t time, enum sim_stream stream,
                uint16_t task, const struct sim_launch *l);
void host_put32(uint8_t *at, uint32_t value);

#endif
