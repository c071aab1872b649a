/* SPDX-License-Identifier: Apache-2.0 */
/* loaded.h - a target of the command line, read and analysed: a collection of a framework, a PROF directory, or a trace. */
#ifndef ASCOPE_CLI_LOADED_H
#define ASCOPE_CLI_LOADED_H

#include "answers/run_rank.h"
#include "cli/targets.h"

struct loaded {
    struct profile own; /* of a PROF directory */
    struct collection of_framework;
    struct chrome_trace trace;
    struct names *step_names;            /* of a trace; NULL: not a trace */
    const struct profile *profile;       /* NULL: a trace */
    const struct collection *collection; /* NULL: a PROF directory, or a trace */
    struct losses lost;
    bool is_lossy; /* some records could not be used, or the device's part */
};

/* The struct must not be moved before loaded_close(), which must be called in any case. False: see e. */
bool loaded_open(struct loaded *l, const struct target *target, unsigned n_threads, struct error *e);
void loaded_close(struct loaded *l);

/* The devices of a target. A trace, and a collection without devices, count as one whose device is NULL. */
size_t loaded_n_devices(const struct loaded *l);
const struct device *loaded_device(const struct loaded *l, size_t i); /* NULL: no device */
struct run_rank loaded_subject(const struct loaded *l, size_t i);
bool loaded_is_simulated(const struct loaded *l);
/* If it is lossy: a line that describes what is missing. NULL: no memory. */
const char *loaded_loss(const struct loaded *l, const char *path, struct arena *mem);

#endif
