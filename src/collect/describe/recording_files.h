/* SPDX-License-Identifier: Apache-2.0 */
/* recording_files.h - registry: the files of a collection that describe the recording. */
#ifndef ASCOPE_COLLECT_DESCRIBE_RECORDING_FILES_H
#define ASCOPE_COLLECT_DESCRIBE_RECORDING_FILES_H

#include <stddef.h>

#include "collect/describe/json_text.h"
#include "collect/session/recorder_session.h"
#include "raw/chip.h"

/* profiler_info.c: profiler_info.json: the options and clocks of a collection of PyTorch. */

bool profiler_info_write(const struct ascope_session *s, struct error *e);

/* facts.c: ascope.json: what the recorder says of a recording. */

bool facts_write(const struct ascope_session *s, struct error *e);
/* The last time: all files of the collection are durable before it says that the recording has ended, and so does it. */
bool facts_end(const struct ascope_session *s, struct error *e);
void facts_remove(const struct ascope_session *s);

/* mindspore_info.c: profiler_info_{rank}.json of a collection of MindSpore: the parameters of its Profiler, rank,
 * device, versions.
 *
 * Each member has a row: its value follows from the options of the session, unless the front end has said it
 * (framework_info). */

bool mindspore_info_write(const struct ascope_session *s, struct error *e);

/* facts.c: facts about the machine from /proc, and the vendor and name of its CPU, as the reference's collector
 * writes them.
 *
 * On x86, /proc/cpuinfo has vendor and name as texts. On aarch64 it has numbers for both. */

/* "vendor_id	: AuthenticAMD" of /proc/cpuinfo, "MemTotal:  24682416 kB" of /proc/meminfo: the first one's value. "": there is
 * none. */
void proc_field(const char *path, const char *name, char *value, size_t size);

struct cpu_names {
    char maker[80];
    char type[160];
};
struct cpu_names cpu_names(const char *cpuinfo); /* the path of /proc/cpuinfo; "" for an unknown vendor or name */

/* metadata.c: profiler_metadata.json: what the program adds to a collection. */

/* The first n of noted_variables with their values, as an object. */
void metadata_environment(struct json_text *t, size_t n);

bool metadata_write(const struct ascope_session *s, struct error *e);
void metadata_fini(struct ascope_session *s);

/* sample_json.c: sample.json of a PROF directory: what the recording was asked for, as the reference's collector says
 * it. The same object, as a variable of the environment, is what the vendor's libraries in a program read. */

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

/* prof_info.c: info.json, start and end of a PROF directory: the machine, its devices and clocks. */

bool info_begin(const struct ascope_session *s, struct error *e);
bool info_end(const struct ascope_session *s, struct error *e); /* and rewrites frequencies as measured */
double info_device_mhz(const struct session_device *d);         /* as well as it is known */

const struct chip *info_chip(
    const struct ascope_session *s); /* of the devices; one that stands for it where there are none */
bool info_is_simulated(const struct ascope_session *s);
void info_first_line(const char *path, char *text, size_t size); /* of a small file; "": none */

#endif
