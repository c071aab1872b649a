/* SPDX-License-Identifier: Apache-2.0 */
/* option_table.h - command lines as tables.
 *
 * An option is one row: its names, its kind of value, where the value is stored, its help. A command lists its options.
 * getopt, --help, the man page and the completions all use these rows, so that they cannot disagree.
 */
#ifndef ASCOPE_CLI_OPTIONS_OPTION_TABLE_H
#define ASCOPE_CLI_OPTIONS_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/memory/arena.h"
#include "export/output_options.h"
#include "sim/job/generate.h"

/* The name under which the command was called; each has its own command line syntax and exit codes. */
enum face { FACE_ASCOPE, FACE_MSPROF_PY, FACE_MSPROF, FACES };

enum option_id {
    OPT_DIR,
    OPT_REPORTS,
    OPT_ITERATION,
    OPT_MODEL,
    OPT_ITERATION_COUNT,
    OPT_FORMAT,
    OPT_CSV_SAFE,
    OPT_MAX_SIZE,
    OPT_GZIP,
    OPT_CLEAR,
    OPT_CLUSTER,
    OPT_DEVICE_ID,
    OPT_DATA_TYPE,
    OPT_OUT,
    OPT_DIALECT,
    OPT_TIME_BASE,
    OPT_KEEP_OVERLAPS,
    OPT_THREADS,
    OPT_MEMORY,
    OPT_JSON,
    OPT_NO_SYNC,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_TOP,
    OPT_STEPS_BY,
    OPT_HELP,
    OPT_MAN,
    OPT_RECORDER_OPTIONS,
    /* of analyse only */
    OPT_EXPORT_TYPE,
    OPT_MAX_PROCESSES,
    OPT_ONLY_STEPS,
    OPT_PRETTY,
    OPT_SIMPLIFY,
    OPT_SUMMARY,
    /* of export-memory-timeline only */
    OPT_DEVICE,
    /* of export-stacks only */
    OPT_METRIC,
    /* of compare only */
    OPT_COMPARE_OUT,
    /* of gate only */
    OPT_GATE_ALLOW,
    OPT_GATE_MARKDOWN,
    OPT_GATE_GITHUB,
    OPT_GATE_JUNIT,
    OPT_GATE_SARIF,
    /* of memory only */
    OPT_MEMORY_FOLDED,
    /* of why only */
    OPT_WHY_STEP,
    OPT_WHY_RANK,
    OPT_WHY_REQUEST,
    /* of view only */
    OPT_VIEW_RANKS,
    OPT_VIEW_STEP,
    OPT_TOP_ONCE,
    OPT_TOP_WINDOW,
    OPT_MONITOR_LISTEN,
    OPT_MONITOR_TOKEN,
    OPT_MONITOR_HOOK,
    OPT_MONITOR_FLIGHT,
    OPT_MONITOR_REPLAY,
    OPT_VIEW_PORT,
    OPT_VIEW_HOST,
    OPT_VIEW_NO_OPEN,
    OPT_VIEW_EXPORT,
    OPT_VIEW_RANGE,
    /* of sql only */
    OPT_SQL_TABLE,
    OPT_SQL_CSV,
    OPT_SQL_LIMIT,
    OPT_SQL_COLUMNS,
    OPT_SQL_TABLES,
    /* of advise only */
    OPT_ADVISE_HTML,
    /* of install-msprof only */
    OPT_SCRIPT_DIALECT,
    OPT_FORCE,
    OPT_REMOVE,
    /* of sim only */
    OPT_SIM_OUT,
    OPT_SEED,
    OPT_NOISE_SEED,
    OPT_JITTER,
    OPT_KERNELS,
    OPT_FRAMEWORK,
    OPT_MS_GENERATION,
    OPT_JIT,
    OPT_OPERATORS,
    OPT_STEPS,
    OPT_DEVICES,
    OPT_PROCESSES,
    OPT_TP,
    OPT_PP,
    OPT_DP,
    OPT_HOST_RANKS,
    OPT_SLOW_STEP,
    OPT_SLOW_RANK,
    OPT_SLOW_OPERATOR,
    OPT_SLOW_LINK,
    OPT_STALL,
    OPT_LATE_HOST,
    OPT_MISSING_RANK,
    OPT_CLOCK_OFFSET,
    OPT_CHIP,
    OPT_MHZ,
    OPT_METRICS,
    OPT_SLICE_KIB,
    OPT_COMM,
    OPT_KFC,
    OPT_GRAPHS,
    OPT_LATE,
    OPT_COPIES,
    OPT_MARKS,
    OPT_SAMPLERS,
    OPT_SAMPLE_BASED,
    OPT_TILING,
    OPT_LEVEL0,
    /* of doctor only */
    OPT_DOCTOR_OUT,
    OPT_PROVE,
    OPT_PYTHON,
    /* of options only */
    OPT_OPTIONS_CHIP,
    OPT_OPTIONS_FORM,
    /* of run only */
    OPT_RUN_OUT,
    OPT_RUN_HOST_SYS,
    OPT_RUN_DEVICE,
    OPT_RUN_LEVEL,
    OPT_RUN_METRICS,
    OPT_RUN_MARKS,
    OPT_RUN_DELAY,
    OPT_RUN_DURATION,
    OPT_RUN_PERIOD,
    OPT_RUN_HANG_AFTER,
    OPT_RUN_PID,
    OPT_RUN_INTERACTIVE,
    OPT_RUN_ENVIRONMENT,
    OPT_RUN_STORAGE_LIMIT,
    OPT_RUN_NO_EXPORT,
    OPT_RUN_MONITOR,
    OPT_RUN_ACL_JSON,
    OPT_RUN_SKIP_FIRST,
    OPT_RUN_SKIP_FIRST_WAIT,
    OPT_RUN_WAIT,
    OPT_RUN_WARMUP,
    OPT_RUN_ACTIVE,
    OPT_RUN_REPEAT,
    /* of dyn only */
    OPT_DYN_STEPS,
    OPT_DYN_WARMUP,
    OPT_DYN_START_STEP,
    OPT_DYN_RANKS,
    OPT_DYN_LEVEL,
    OPT_DYN_STACK,
    OPT_DYN_SHAPES,
    OPT_DYN_ANALYSE,
    OPT_DYN_OUT,
    OPT_DYN_TIMEOUT,
    OPT_SAMPLE_HZ,
    OPT_SAMPLE_SECONDS,
    OPT_DYN_LAST,
    OPT_DYN_WHEN,
    /* of cluster only */
    OPT_CLUSTER_MODE,
    OPT_CLUSTER_OUT,
    OPT_CLUSTER_TYPE,
    OPT_CLUSTER_RANKS,
    OPT_CLUSTER_STEP,
    OPT_CLUSTER_TOP,
    OPT_CLUSTER_BASE,
    OPT_CLUSTER_RANK_ID,
    OPT_CLUSTER_PARALLEL,
    OPT_CLUSTER_NO_NAMES,
    OPT_CLUSTER_RANK_DATABASES,
    OPT_CLUSTER_SHARD,
    OPT_CLUSTER_MANIFEST,
    OPT_CLUSTER_JOIN,
    OPT_CLUSTER_SHARDS,
    OPT_CLUSTER_LAUNCHER,
    OPT_CLUSTER_LAUNCHER_ARGS,
    OPT_CLUSTER_PROCESSES,
    /* of msprof only */
    OPT_OUTPUT,
    OPT_EXPORT,
    OPT_PARSE,
    OPT_QUERY,
    OPT_ANALYZE,
    OPT_TYPE,
    OPT_RULE,
    OPT_SUMMARY_FORMAT,
    OPT_CLEAR_SWITCH,
    OPT_PYTHON_PATH,
    OPTIONS
};

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_SWITCH, /* bool, written as on or off; without a value: on */
    OPTION_COUNT,  /* unsigned: how often it was given */
    OPTION_TEXT,   /* const char *; choices are suggestions, other texts may be valid, too */
    OPTION_FILE,   /* const char *: a path; a leading "=" is removed and "~" expanded */
    OPTION_DIR,    /* the same, of a directory */
    OPTION_CHOICE, /* unsigned: the position among the choices */
    OPTION_WORD,   /* const char *: one of the choices */
    OPTION_NUMBER, /* uint32_t or uint64_t: see width */
    OPTION_SIZE,   /* uint64_t: bytes, written as 512M or 2G */
};

enum { MOST_CHOICES = 12 }; /* and a NULL after the last */

struct option_row {
    const char *name, *also; /* without dashes; `also` is a second name, or NULL */
    char letter;             /* -q; 0: none */
    bool has_one_dash;       /* shown as -dir, which is how the reference spells it; --dir works too */
    enum option_kind kind;
    const char *value; /* placeholder in usage texts: "DIR"; NULL: no value, or the choices are shown instead */
    const char *choice[MOST_CHOICES + 1];
    const char *(*choices)(
        size_t i);           /* instead of `choice`: the words of another table, NULL after the last; or NULL */
    const char *first_alias; /* another word for choice[0], accepted and not shown; or NULL */
    uint64_t least, most;
    uint32_t unit;           /* factor of a number; 0: 1 */
    uint8_t width;           /* of a number, in bytes */
    bool is_time;            /* a number of seconds, which may have a unit: 90s, 5m, 2h */
    size_t at;               /* offset in struct arguments */
    const char *environment; /* a variable that gives the value when the option is absent, or NULL */
    const char *help;
};

/* The i-th word that an option accepts; NULL after the last. */
static inline const char *option_choice(const struct option_row *o, size_t i)
{
    return o->choices ? o->choices(i) : o->choice[i];
}

extern const struct option_row option_rows[OPTIONS];

/* The options of `ascope run`; cmd_run.c translates them into those of msprof. */
struct run_words {
    const char *out, *host_sys, *device, *level, *metrics, *pid, *environment, *acl_json, *monitor;
    uint32_t delay_s, duration_s, period_s, hang_after_s;
    uint64_t storage_bytes;
    bool marks, is_interactive, no_export;
    uint32_t skip_first, skip_first_wait, wait, warmup, active, repeat; /* the schedule of a Python front end */
    LIST(const char *) more;                                            /* options of msprof, as given: "--l2=on" */
    LIST(const char *) front_end; /* options of Python front ends, as given: "--with-stack" */
};

/* The options of `ascope dyn`. */
struct dyn_words {
    const char *ranks, *level, *out, *last, *when;
    uint64_t steps, warmup, start_step;
    uint32_t timeout_s;
    bool stack, shapes, analyse;
    LIST(const char *) more; /* keys of profiler_config.json: "--l2_cache=true" */
};

/* The options of `ascope top` and `ascope monitor`. */
struct monitor_words {
    bool once, replay;
    uint64_t window_s;
    const char *listen, *token_file, *hook, *flight;
};

/* The options of `ascope cluster`. */
struct cluster_words {
    const char *modes, *ranks, *base, *parallel_types, *shard, *manifest, *join;
    const char *launcher, *launcher_args, *shards;
    uint64_t step, top, rank_id, processes;
    bool no_op_names, rank_databases;
};

/* The values of a command line. Filled with the defaults first. */
struct arguments {
    enum face face;
    const struct command *command;
    bool given[OPTIONS]; /* whether an option was on the command line */
    const char *step;    /* of why, and of view */
    const char *request; /* of why */
    const char *steps_by;
    int64_t rank;
    const char *html;                             /* of advise */
    const char *allow, *markdown, *junit, *sarif; /* of gate */
    bool github;
    const char *folded;    /* of memory */
    const char *prove_dir; /* of doctor; NULL: it examines */
    const char *dir, *reports, *output, *rule, *python_path, *python, *export_type, *device, *steps, *form, *chip;
    uint64_t memory, data_type, max_processes, top;
    const char *query_id;
    unsigned type, verbose, metric;
    bool as_table, as_csv; /* of sql */
    uint64_t rows;
    const char *columns, *tables;
    uint64_t port; /* of view */
    bool no_open;
    const char *host, *report, *range;
    bool cluster, summary, json, quiet, help, man, recorder_options, simplify, force, remove, no_sync;
    bool exports, parses, queries, analyzes; /* the switches of msprof */
    struct output_options options;           /* of an export; n_threads is of every command */
    struct sim_options sim;
    struct run_words run;
    struct dyn_words dyn;
    struct {
        uint32_t hz, seconds;
    } sample;
    struct monitor_words monitor;
    struct cluster_words job;
    json_t *more;      /* additional members of the JSON report; NULL: none */
    const char **word; /* arguments that are not options */
    size_t n_words;
    bool has_dashes;        /* there was a "--" */
    size_t n_behind_dashes; /* the last words: those behind it */
    char **argv;            /* the command line after the command's name; getopt has moved options to the front */
    size_t n_argv;
    struct arena *mem;
};

_Static_assert(sizeof(enum dialect) == sizeof(unsigned), "a choice is set as an unsigned");

/* The defaults, before a command line is parsed. */
struct arguments arguments_new(enum face face); /* mem is NULL without memory */
void arguments_end(struct arguments *a);

static inline bool arguments_have(const struct arguments *a, enum option_id id)
{
    return a->given[id];
}

struct command {
    const char
        *heading; /* heading in the overview, for this command and the following ones; NULL: the same as before */
    const char *name;
    const char *usage; /* arguments in the usage line: "[timeline|summary|db|all] -dir DIR" */
    const char *about; /* one line */
    const char *text;  /* paragraphs, with an empty line between them */
    const uint8_t *option;
    size_t n_options;
    const char *words;       /* completions of its first word: "timeline summary db all"; NULL: directories */
    bool words_are_second;   /* `words` complete the second word; the first is a directory */
    bool has_files;          /* other words may be files as well as directories */
    bool value_follows_sign; /* msprof: values only as --name=value; the first other word ends the options */
    bool ends_at_word;       /* the first other word ends the options: a program, and its arguments */
    /* Accepts options without a row, "--l2=on" or "--active 2", and returns the number of words that it took. 0:
     * unknown. NULL: there are no such options. */
    size_t (*other)(struct arguments *a, char *const *given);
    int (*run)(struct arguments *a);
};

/* Reads argv[1] onwards; argv[0] is the command itself. False: the error was reported on stderr. */
bool options_parse(const struct command *c, int argc, char **argv, struct arguments *a);

/* Writes the help of an option to `out`, with its choices if the usage does not show them. Returns `out`. */
enum { OPTION_HELP_BYTES = 1500 };
const char *option_help(const struct option_row *o, char *out, size_t size);

/* The path without a leading "=" and with "~" expanded, in a->mem. NULL: the error was reported on stderr. */
const char *path_expand(struct arguments *a, const char *what, const char *path);

#endif
