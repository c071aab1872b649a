/* SPDX-License-Identifier: Apache-2.0 */
/* flight_load.h - reads dumps of PyTorch's flight recorder, of NCCL and HCCL: a file for each rank, a pickle or JSON. */
#ifndef ASCOPE_LOAD_PLAIN_FLIGHT_LOAD_H
#define ASCOPE_LOAD_PLAIN_FLIGHT_LOAD_H

#include "base/text/error.h"
#include "profile/flight_job.h"

/* Adds the dump of a rank. Its bytes must outlive the job. The rank is the one that it names, or else the number at the
 * end of the file's name. False: it is no such dump, or one of a rank that is there already; the job has no part of
 * it. */
bool flight_load(struct flight_job *job, const uint8_t *bytes, size_t n, const char *path, struct arena *mem,
                 struct error *e);

#endif
