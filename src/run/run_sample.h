/* SPDX-License-Identifier: Apache-2.0 */
/* run_sample.h - a request as the keys of sample.json, for collections and for the vendor's libraries inside the
 * program. */
#ifndef ASCOPE_RUN_RUN_SAMPLE_H
#define ASCOPE_RUN_RUN_SAMPLE_H

#include "collect/describe/recording_files.h"
#include "run/run.h"

/* Owns its three texts; all others belong to the request. */
struct run_sample {
    struct sample_command command;
    char *app_dir, *app_parameters, *root;
};

bool run_sample_init(struct run_sample *s, const struct recorded_run *r, struct error *e);
void run_sample_fini(struct run_sample *s);

/* The value of PROFILER_SAMPLECONFIG; owner: the caller, free(). chip: platform number, -1: unknown. NULL: no
 * memory, reported in e. */
char *run_sample_config(const struct recorded_run *r, int chip, struct error *e);

#endif
