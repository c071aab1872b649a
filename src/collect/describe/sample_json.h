/* SPDX-License-Identifier: Apache-2.0 */
/* sample_json.h - sample.json of a PROF directory: what the recording was asked for, as the reference's collector says
 * it. The same object, as a variable of the environment, is what the vendor's libraries in a program read.
 */
#ifndef ASCOPE_COLLECT_DESCRIBE_SAMPLE_JSON_H
#define ASCOPE_COLLECT_DESCRIBE_SAMPLE_JSON_H

#include "collect/describe/json_text.h"
#include "collect/session/recorder_session.h"
#include "raw/chip.h"

/* What a command that records from outside adds: the program, and how long. Texts that are NULL are empty. */
struct sample_command {
    const char *app, *app_dir, *app_parameters, *app_env;
    const char *root; /* directory of the results */
    const char *mode; /* "system": without a program */
    uint32_t delay_s, duration_s, period_s;
    pid_t collector, host_pid;
    bool is_system;
};

void sample_json_put(struct json_text *t, const struct ascope_session *s, const struct session_device *d);

/* As PROFILER_SAMPLECONFIG has it. */
void sample_json_request(struct json_text *t, const struct ascope_options *o, const struct chip *chip,
                         const struct sample_command *c);

#endif
