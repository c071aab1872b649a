/* SPDX-License-Identifier: Apache-2.0 */
/* run_sample.h - a request in the words of sample.json: of the collections, and of the libraries inside the program. */
#ifndef ASCOPE_RUN_RUN_SAMPLE_H
#define ASCOPE_RUN_RUN_SAMPLE_H

#include "collect/sample_json.h"
#include "run/run.h"

/* Owns its texts but for the request's own. */
struct run_sample {
    struct sample_command command;
    char *app_dir, *app_parameters, *root;
};

bool run_sample_init(struct run_sample *s, const struct run_request *r, struct error *e);
void run_sample_fini(struct run_sample *s);

/* PROFILER_SAMPLECONFIG; chip: platform number, -1 for none. To be freed; NULL: no memory, and e says so. */
char *run_sample_config(const struct run_request *r, int chip, struct error *e);

#endif
