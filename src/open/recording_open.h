/* SPDX-License-Identifier: Apache-2.0 */
/* recording_open.h - an input, read and analysed: a collection of a framework, a PROF directory, or a file (a trace, a
 * database), which is a trace from then on. */
#ifndef ASCOPE_OPEN_RECORDING_OPEN_H
#define ASCOPE_OPEN_RECORDING_OPEN_H

#include "answers/run/run_rank.h"
#include "open/trace_open.h"

struct recording {
    struct profile own; /* of a PROF directory */
    struct collection of_framework;
    struct opened_trace of_file;
    struct names *step_names;            /* of a trace; NULL: not a trace */
    const struct profile *profile;       /* NULL: a trace */
    const struct collection *collection; /* NULL: a PROF directory, or a trace */
    struct losses lost;
    bool is_lossy; /* some records could not be used, or the device's part */
};

/* The struct must not be moved before recording_close(), which must be called in any case. False: see e. */
/* `without`: enum profile_part. */
bool recording_open(struct recording *l, const struct input *input, unsigned without, unsigned n_threads,
                    struct error *e);
void recording_close(struct recording *l);

/* The devices of a recording. A trace, and a collection without devices, count as one whose device is NULL. */
size_t recording_n_devices(const struct recording *l);
const struct device *recording_device(const struct recording *l, size_t i); /* NULL: no device */
struct run_rank recording_rank(const struct recording *l, size_t i);
uint64_t recording_bytes(const struct recording *l); /* of memory */
bool recording_is_simulated(const struct recording *l);
/* If it is lossy: a line that describes what is missing. NULL: no memory. */
const char *recording_loss(const struct recording *l, const char *path, struct arena *mem);

#endif
