/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - registry: records a program, a running process or the machine from outside: `ascope run` and `msprof` after parsing the
 * command line.
 *
 * The session, with its writer and samplers, is in this process; the samplers observe the program and its descendants.
 * The program finds the session through its environment (collect/session/handover.h) and gets no thread and no
 * descriptor. The vendor's libraries inside the program read their settings from the environment, too, and write their
 * own PROF directories, which are collected at the end.
 */
#ifndef ASCOPE_RUN_RUN_H
#define ASCOPE_RUN_RUN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "ascope/session.h"
#include "base/memory/arena.h"
#include "base/text/error.h"
#include "collect/describe/recording_files.h"

/* Notifications while recording. All functions are called on the caller's thread; any may be NULL. */
struct run_listener {
    void (*started)(const char *path); /* a collection is being recorded */
    void (*stopped)(const char *path); /* the collection is complete */
    void (*answer)(const char *text);  /* a line of the interactive mode */
    void (*prompt)(void);              /* the interactive mode waits for a command */
};

struct recorded_run {
    struct ascope_options recorder; /* what is recorded and where; layout PROF */
    char *const *program;           /* its argv; NULL: no program */
    const char *environment;        /* more variables for it: "K=V;K2=V2"; NULL: none */
    const char *sample_config;      /* PROFILER_SAMPLECONFIG, for the vendor's libraries in it; NULL: none */
    pid_t host_pid;                 /* the process that is sampled; 0: the program */
    bool ends_with_host;            /* without a program: the recording ends when that process does */
    uint32_t delay_s, duration_s;   /* of the recording; 0: from the start, to the end */
    uint32_t period_s;              /* without a program: length of the recording; 0: until it is interrupted */
    bool is_interactive;            /* start, stop, quit are read from standard input */
    const pid_t *pids;              /* interactive, without a program: the processes to attach to */
    size_t n_pids;
    const struct run_listener *listener; /* NULL: none */
};

struct run_result {
    char **collections; /* paths, in the order in which they were made */
    size_t n_collections;
    bool has_program;
    int status;        /* of the program, as from waitpid(); -1: it is still running */
    struct rusage use; /* of the program and of the children that it waited for, once it has ended */
    double wall_s;     /* from its start to its end */
    bool was_interrupted;
};

/* False: see e; FAULT_ASKED: the program cannot be started. Collections made before the failure are kept and listed
 * in *out. */
bool run_collect(const struct recorded_run *r, struct run_result *out, struct error *e);
void run_result_free(struct run_result *r);

/* run_cuda.c: records unchanged programs that use CUDA: the driver loads libascope.so into them
 * (CUDA_INJECTION64_PATH). Of programs that are linked with ACL, Ascend NPUs are recorded in the same way: libmspti.so
 * and libascope.so are in LD_PRELOAD, in this order.
 *
 * Each process of the program makes its own collection, with its kernels, copies and calls. */

#define CUDA_INJECTION "CUDA_INJECTION64_PATH"
#define NVTX_INJECTION "NVTX_INJECTION64_PATH"

struct run_cuda {
    char library[PATH_MAX]; /* value of CUDA_INJECTION, and of NVTX_INJECTION */
    bool has_nvtx;          /* set NVTX_INJECTION, too: no other tool uses it */
    char where
        [PATH_MAX]; /* value of ASCOPE_CUDA_INJECTION: pid of this process, a colon, the directory of the collections */
};

/* False: GPUs are not to be recorded, or cannot be, which is reported as a warning. */
bool run_cuda_choose(const struct recorded_run *r, struct run_cuda *out);

struct run_mspti {
    char preload[2 * PATH_MAX]; /* both libraries, with a colon between them */
    char where[PATH_MAX];       /* value of ASCOPE_MSPTI_INJECTION */
};
bool run_mspti_choose(const struct recorded_run *r, struct run_mspti *out); /* the same for NPUs */

/* After the program has ended: calls found(to, path) for the collections of its processes. Those of killed processes
 * are recovered. */
void run_cuda_take(const struct recorded_run *r, void (*found)(void *to, const char *path), void *to);

/* run_events.c: the events that a collector waits for: signals, the end of the program, a deadline, a line of input.
 *
 * Used by one thread. Between begin and end SIGINT, SIGTERM, SIGHUP and SIGCHLD are blocked and read from a
 * descriptor. */

enum run_event { RUN_PROGRAM_ENDED, RUN_INTERRUPTED, RUN_TIME, RUN_LINE, RUN_END_OF_INPUT };

struct run_events {
    int signals;   /* descriptor of signalfd() */
    sigset_t mask; /* before run_events_begin(); the program gets it */
    struct sigaction child_was;
    pid_t program;  /* 0: none */
    bool has_ended; /* the program has ended; its entry in /proc remains until run_events_reap() */
    int other;      /* pidfd of a process that we did not start, whose end is RUN_PROGRAM_ENDED; 0: none */
    int status;     /* of the program, once it has ended */
    struct rusage use;
    uint64_t ended_ns;
    int number;     /* of the last signal */
    bool is_sent;   /* a process sent it to this process only; false: the terminal sent it to the program, too */
    bool forwards;  /* set before begin: signals that programs use among themselves are read, too, to be forwarded */
    bool has_input; /* lines are read from standard input, until it ends */
    char input[256], line[256];
    size_t n_input;
};

bool run_events_begin(struct run_events *v, struct error *e); /* before the program is started */
void run_events_reap(struct run_events *v);                   /* after the program has ended: fills in status and use */
bool run_events_end(struct run_events *v);                    /* true: a signal that ends a recording was pending */

uint64_t run_now_ns(void); /* CLOCK_MONOTONIC */
enum run_event run_events_next(struct run_events *v,
                               uint64_t until_ns); /* until_ns: RUN_TIME at this time of run_now_ns(); 0: no deadline */

/* attached.c: records running processes on commands from standard input (start, stop, quit).
 *
 * A session belongs to one process, so each attached process gets a collector: a child of this process that owns its
 * session. */

/* run_collect() for requests with pids. Calls found(out, path) for every collection. */
bool attached_collect(const struct recorded_run *r, struct run_result *out, struct run_events *v,
                      void (*found)(void *to, const char *path), struct error *e);

/* launch.c: starts a program in two steps, so that its process id is known and recording has begun before it runs.
 *
 * launch_hold() forks; the child waits before exec(). launch_go() releases it. If this process ends in between, the
 * child ends, too. */

struct run_launch {
    pid_t pid;
    int go, trouble; /* a byte sent to `go` releases the child; `trouble` is a pipe with the errno of exec() */
};

struct launch_of {
    char *const *program, *const *environment; /* both end with NULL */
    const sigset_t *mask;                      /* signal mask of the program */
    bool no_input; /* the program reads /dev/null: the command reads standard input itself */
};

bool launch_hold(struct run_launch *l, const struct launch_of *of, struct error *e);
bool launch_go(struct run_launch *l, const char *name,
               struct error *e);           /* false, FAULT_ASKED: it cannot be started; the child has been waited for */
void launch_abandon(struct run_launch *l); /* instead of launch_go(): the program never runs */

/* run_environment.c: builds the environment of a recorded program. */

/* Combines three sources; of variables with the same name the first source wins:
 * - `ours`: pairs of name and value, NULL after the last; pairs whose value is NULL are skipped;
 * - `more`: "K=V;K2=V2"; pieces without "=" are ignored; NULL: none;
 * - `callers`: an environment, such as environ.
 * Released by environment_free(). NULL: no memory. */
char **environment_make(char *const *callers, const char *more, const char *const *ours, struct error *e);
void environment_free(char **environment);

/* dynamic_client.c: starts and stops the vendor's profiling library in a running program (PROFILING_MODE=dynamic).
 *
 * The library listens on a socket in the user's home directory. Programs without it have no such socket. */

enum { DYNAMIC_NONE = -1 };
enum dynamic_request { DYNAMIC_START = 1, DYNAMIC_STOP = 3, DYNAMIC_QUIT = 5 };

/* Connects to the library in the process and sends it the parameters, a JSON text. Returns a descriptor, or
 * DYNAMIC_NONE: with an error in e, or without one if the process has no such library. `home`: the directory of the
 * socket; NULL: the home directory in the user database. */
int dynamic_connect(pid_t pid, const char *home, const char *parameters, struct error *e);

/* Sends a request and waits for the answer. False: e has the error that the library reports, or why there is no
 * answer. */
bool dynamic_request(int fd, pid_t pid, enum dynamic_request what, struct error *e);

/* run_sample.c: a request as the keys of sample.json, for collections and for the vendor's libraries inside the
 * program. */

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

/* python_program.c: recognises command lines that start a Python script, and rewrites them to run the script under the
 * front end. */

/* A parsed command line. Words belong to the command line or to the arena. */
struct python_program {
    const char *interpreter; /* as execvp() takes it */
    char *const *option;     /* of the interpreter */
    size_t n_options;
    char *const *launcher; /* torchrun or msrun and its options, without the "-m" of the script */
    size_t n_launcher;     /* 0: no launcher */
    const char *script;
    bool is_module;
    char *const *argument; /* of the script; NULL after the last */
};

/* Parses "python3 [OPTION...] SCRIPT|-m MODULE ...", a script whose first line names Python, torchrun or msrun.
 * False: another program, or no memory. */
bool python_read(struct python_program *out, char *const *program, struct arena *mem);

/* The request of `ascope run`. */
struct python_run {
    const struct ascope_options *recorder;
    char *const *options;    /* of the front end, as given: "--active", "2"; NULL after the last. NULL: none */
    const char *environment; /* more variables: "K=V;K2=V2"; NULL: none */
    const char *outside;     /* an option that only the collector has; NULL: none was given */
    const char *dialect;     /* of the results; NULL: the default */
    const char *monitor;     /* a directory: nothing is recorded but the monitor's values; NULL: it is recorded */
    bool is_raw;             /* the collection is not analysed at the end */
    bool is_quiet;           /* errors only */
    uint32_t hang_after_s;   /* without progress, to report a hang; 0: never */
};

/* Whether a word is an option of the front ends, by its full name: "--with-stack", "--export-type=db". */
enum python_option { PYTHON_OPTION_UNKNOWN, PYTHON_OPTION_LACKS_VALUE, PYTHON_OPTION_COMPLETE };
enum python_option python_option(const char *word, struct arena *mem);

/* The command line "python3 [OPTION...] -m ascope record [OPTION...] SCRIPT ...", or run --monitor; launchers start it in each rank.
 * NULL: no memory. */
char **python_command(const struct python_program *p, const struct python_run *r, struct arena *mem);

/* A growing command line, initialised as { .mem = mem }. `at` ends with NULL; it is NULL if the arena has failed. */
struct words {
    char **at;
    size_t n, room;
    struct arena *mem;
};
void words_add(struct words *w, const char *word);

#endif
