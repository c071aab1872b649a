/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - registry: checks of a machine as rows of tables: a function that examines it, and what each state means for a
 * recording.
 *
 * A check starts no recording and leaves no file behind. Files of the system are read below `root`, and system calls
 * are made through `tries`, so that tests can describe a machine of their own.
 */
#ifndef ASCOPE_DOCTOR_CHECK_H
#define ASCOPE_DOCTOR_CHECK_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/finding.h"

/* system_tries.c: system calls whose support only a try can show: each is made once, on this process, and undone. */

/* The count of an event while this process caused `made` of them. That an event can be opened proves nothing: on
 * some machines it stays at 0. */
struct perf_count {
    int why; /* errno value of perf_event_open(); 0: it was opened */
    uint64_t made, counted;
};

struct system_tries {
    struct perf_count (*perf_faults)(void); /* counts page faults in user space, which every user may count */
    bool (*kernel_calls)(
        const char **why);   /* kernel_calls_permitted(): whether system calls can be traced; *why: the reason if not */
    int (*task_stats)(void); /* 0, or errno */
    int (*membarrier)(void);
    int (*populate)(void);
    double (*clock_ns)(void); /* duration of a reading of CLOCK_MONOTONIC_RAW */
};
extern const struct system_tries system_tries_real;

struct python_answer;

struct examined {
    const char *root; /* "" for this machine */
    const struct system_tries *tries;
    const char *out;                    /* the directory of recordings */
    const struct python_answer *python; /* filled by python_ask() */
};

struct machine_check {
    const char *name;
    bool is_needed; /* if its state is missing, the host cannot be recorded */
    /* Sets the fact and the places that were examined; also effect and advice, if they depend on more than the
     * state. */
    enum finding_state (*look)(const struct examined *m, struct machine_finding *f);
    const char *effect[FINDING_STATES], *advice[FINDING_STATES]; /* used if look() has set none */
};

void check_run(const struct machine_check *c, const struct examined *m, struct machine_finding *f);

/* Set the texts of a finding, or append to them; texts that are too long end with "...". place_add() separates
 * places by ", ". */
void fact_set(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fact_add(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void effect_set(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void advice_set(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void place_add(struct machine_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Reads a small file of /proc or /sys, without trailing line feeds. False: *why is the errno value. */
bool text_of(const struct examined *m, const char *path, char *out, size_t size, int *why);
bool number_of(const struct examined *m, const char *path, int64_t *out, int *why);

/* Lists the names in a directory that have the prefix, sorted and separated by blanks. Returns their number; 0 also
 * if the directory cannot be read. */
size_t names_in(const struct examined *m, const char *path, const char *prefix, char *out, size_t size);

/* Whether the process has a capability, by its number: CapEff of /proc/self/status. */
enum { CAPABILITY_NET_ADMIN = 12, CAPABILITY_SYS_PTRACE = 19, CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };
bool has_capability(const struct examined *m, unsigned number);
bool status_field(const struct examined *m, const char *field, char *out, size_t size); /* of /proc/self/status */

/* Finds an executable file in the absolute directories of PATH. False: there is none, and `out` is empty. */
bool program_find(const char *name, char out[PATH_MAX]);

/* framework_checks.c: checks of the Python interpreter, and of the frameworks and front ends that it finds.
 *
 * The interpreter runs once, in a separate process, because frameworks load drivers, print, hang and crash. It prints
 * its answers in parts, the quick ones first, so that a framework that hangs during its import does not hide the
 * others. */

struct python_answer {
    char path[PATH_MAX]; /* of the interpreter; "": none was found */
    char trouble[300];   /* why answers are missing; "": all are there */
    json_t *said;        /* the answers, an object; see the script in framework_checks.c */
};

/* name: a path, or the name of a program in the PATH. */
void python_ask(struct python_answer *a, const char *name, unsigned limit_ms);
void python_forget(struct python_answer *a);

extern const struct machine_check framework_checks[]; /* the last one has no name */

/* Writes "PyTorch 1.13.0 with listener" to `out`, for the verdict; "" without PyTorch. Returns `out`. */
const char *frameworks_text(const struct python_answer *a, char *out, size_t size);

/* program_output.c: runs a program within a time limit and returns its output.
 *
 * The program is not trusted: it may hang, print without end, leave children that keep its output open, or not be
 * executable. Its standard input is /dev/null. It and its process group are killed at the time limit, and it is killed
 * when the calling thread ends. */

enum { PROGRAM_OUTPUT_MOST = 64 << 10 };

struct program_output {
    int why;        /* errno value if it could not be started; 0: it was started */
    bool is_late;   /* it was killed at the time limit */
    bool is_cut;    /* it was killed because it printed too much */
    int exit_code;  /* -1: it was killed, by us or by another signal */
    size_t n_bytes; /* of standard output and standard error */
    char text[PROGRAM_OUTPUT_MOST + 1];
};

void program_run(char *const argv[], unsigned limit_ms, struct program_output *out); /* argv[0]: a path */

/* The checks of this machine. */

/* hardware_checks.c: checks of CPUs, memory, NUMA nodes and network cards, and of their limits: cgroups,
 * containers, resource limits. */
extern const struct machine_check hardware_checks[]; /* the last one has no name */

/* host_checks.c: checks of what this machine shows about programs: /proc, kernel events, clocks. */
extern const struct machine_check host_checks[]; /* the last one has no name */

/* place_checks.c: checks of the output directory: permissions, file system, free space. */
extern const struct machine_check place_checks[]; /* the last one has no name */

/* Parts of the checks, for tests: the finding for a file system type of statfs(), and for a number of free bytes. */
enum finding_state file_system_finding(uint32_t type, struct machine_finding *f);
enum finding_state room_finding(uint64_t bytes, struct machine_finding *f);

/* tool_checks.c: checks of the parts of ascope, and of the msprof in PATH. */
extern const struct machine_check tool_checks[]; /* the last one has no name */

#endif
