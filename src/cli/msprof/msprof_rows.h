/* SPDX-License-Identifier: Apache-2.0 */
/* msprof_rows.h - the options of msprof as a table: accepted values, the modes in which an option has an effect, the
 * chips that lack it, and the option of the recorder that it sets. Parsing, checks, help, requests and tests use this
 * table.
 */
#ifndef ASCOPE_CLI_MSPROF_MSPROF_ROWS_H
#define ASCOPE_CLI_MSPROF_MSPROF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum msprof_option {
    MSPROF_OUTPUT,
    MSPROF_APPLICATION,
    MSPROF_ENVIRONMENT,
    MSPROF_STORAGE_LIMIT,
    MSPROF_PYTHON_PATH,
    MSPROF_TYPE,
    MSPROF_REPORTS,
    MSPROF_DELAY,
    MSPROF_DURATION,
    MSPROF_DYNAMIC,
    MSPROF_PID,
    MSPROF_HELP,
    MSPROF_ASCENDCL,
    MSPROF_MODEL_EXECUTION,
    MSPROF_RUNTIME_API,
    MSPROF_GE_API,
    MSPROF_TASK_TIME,
    MSPROF_AICORE_SHAPE,
    MSPROF_TASK_MEMORY,
    MSPROF_TASK_TSFW,
    MSPROF_AICPU,
    MSPROF_HCCL,
    MSPROF_MSPROFTX,
    MSPROF_DOMAIN_INCLUDE,
    MSPROF_DOMAIN_EXCLUDE,
    MSPROF_OPTYPE,
    MSPROF_L2,
    MSPROF_NPU_EVENTS,
    MSPROF_TASK_BLOCK,
    MSPROF_INSTR_PROFILING,
    MSPROF_INSTR_FREQ,
    MSPROF_NTS_METRICS,
    MSPROF_AI_CORE,
    MSPROF_AIC_MODE,
    MSPROF_AIC_FREQ,
    MSPROF_AIC_METRICS,
    MSPROF_AI_VECTOR_CORE,
    MSPROF_AIV_MODE,
    MSPROF_AIV_FREQ,
    MSPROF_AIV_METRICS,
    MSPROF_SYS_PERIOD,
    MSPROF_SYS_DEVICES,
    MSPROF_HARDWARE_MEM,
    MSPROF_HARDWARE_MEM_FREQ,
    MSPROF_LLC,
    MSPROF_SERVICEFLOW,
    MSPROF_CPU,
    MSPROF_CPU_FREQ,
    MSPROF_SYS,
    MSPROF_SYS_FREQ,
    MSPROF_SYS_PID,
    MSPROF_SYS_PID_FREQ,
    MSPROF_IO,
    MSPROF_IO_FREQ,
    MSPROF_INTERCONNECTION,
    MSPROF_INTERCONNECTION_FREQ,
    MSPROF_DVPP,
    MSPROF_DVPP_FREQ,
    MSPROF_LOW_POWER,
    MSPROF_LOW_POWER_FREQ,
    MSPROF_HOST_SYS,
    MSPROF_HOST_SYS_PID,
    MSPROF_HOST_USAGE,
    MSPROF_HOST_USAGE_FREQ,
    MSPROF_PARSE,
    MSPROF_QUERY,
    MSPROF_EXPORT,
    MSPROF_ANALYZE,
    MSPROF_RULE,
    MSPROF_CLEAR,
    MSPROF_ITERATION_ID,
    MSPROF_MODEL_ID,
    MSPROF_SUMMARY_FORMAT,
    MSPROF_DIALECT, /* ours */
    MSPROF_OPTIONS
};

/* What a command line does. Each mode is a bit, for sets of modes. */
enum msprof_mode {
    MSPROF_IN_APPLICATION = 1,
    MSPROF_IN_SYSTEM = 2,
    MSPROF_IN_PARSE = 4,
    MSPROF_IN_QUERY = 8,
    MSPROF_IN_EXPORT = 16,
    MSPROF_IN_EXPORT_DB = 32,
    MSPROF_IN_ANALYZE = 64,
    MSPROF_COLLECTS = MSPROF_IN_APPLICATION | MSPROF_IN_SYSTEM,
    MSPROF_EXPORTS = MSPROF_IN_EXPORT | MSPROF_IN_EXPORT_DB,
    MSPROF_PARSES = MSPROF_IN_PARSE | MSPROF_IN_QUERY | MSPROF_EXPORTS | MSPROF_IN_ANALYZE,
};

enum msprof_kind {
    MSPROF_SWITCH, /* on, off */
    MSPROF_CHOICE, /* one of the words */
    MSPROF_LIST,   /* several of the words, with commas between them */
    MSPROF_NUMBER, /* decimal digits, from low to high */
    MSPROF_NAMES,  /* with commas between them, none empty */
    MSPROF_TEXT,   /* any, up to `high` bytes */
    MSPROF_FLAG,   /* no value */
};

struct msprof_word {
    const char *word;
    uint32_t chips; /* that accept it, a bit for each number; 0: all */
};

struct msprof_line;
struct msprof_row {
    const char *name;     /* without dashes */
    const char *friendly; /* its name as an option of `ascope run`; NULL: the same, or it has none */
    enum msprof_kind kind;
    const char *value;              /* in usage texts; NULL: as the kind and the words say */
    const struct msprof_word *word; /* ends with NULL */
    uint64_t low, high;
    uint32_t modes;       /* enum msprof_mode: the modes in which it has an effect */
    uint32_t refused;     /* chips that do not have it, a bit for each number */
    const char *recorder; /* the option of the recorder that takes the value as it is; NULL: none */
    uint8_t with;         /* the switch that must be on for that; 0: none */
    bool may_be_empty;    /* an empty value is the same as none */
    /* Checks more than the kind does; may replace the value. False: reported. NULL: no further check. */
    bool (*check)(struct msprof_line *l, const struct msprof_row *r, const char **value);
    const char *help;
};
extern const struct msprof_row msprof_rows[MSPROF_OPTIONS];

/* The row of "--name=value" by its whole name; NULL: there is none. */
const struct msprof_row *msprof_find(const char *word);
bool msprof_is_refused(const struct msprof_row *r, int chip); /* chip: -1 if unknown */

#endif
