/* SPDX-License-Identifier: Apache-2.0 */
/* loaded.h - a target of the command line, read and analysed: a collection of a framework, a PROF directory, or a trace. */
#ifndef ASCOPE_CLI_LOADED_H
#define ASCOPE_CLI_LOADED_H

#include "answers/subject.h"
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

/* It stays where it is until it is closed. False: with the reason in e. In any case loaded_close() releases it. */
bool loaded_open(struct loaded *l, const struct target *target, unsigned n_threads, struct error *e);
void loaded_close(struct loaded *l);

/* Its devices one by one; where there are none, the host of a collection is one without a device. */
size_t loaded_n_devices(const struct loaded *l);
const struct device *loaded_device(const struct loaded *l, size_t i); /* NULL: there is none */
struct subject loaded_subject(const struct loaded *l, size_t i);
bool loaded_is_simulated(const struct loaded *l);
/* Of one that is lossy: a line that says what is missing. NULL: no memory. */
const char *loaded_loss(const struct loaded *l, const char *path, struct arena *mem);

#endif
