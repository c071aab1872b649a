/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_options.h - every option of a recording, as rows: for front ends, help texts and documents.
 *
 * One row is one option: its names in each front end, what it accepts, its default, its place in profiler_info.json.
 * Front ends make their parameters from the rows, so that a new option needs no code of theirs. Rows belong to the
 * library; their lifetime is that of the process.
 */
#ifndef ASCOPE_RECORDER_OPTIONS_H
#define ASCOPE_RECORDER_OPTIONS_H

#include "ascope/session.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ascope_option_kind {
    ASCOPE_OPTION_BOOLEAN,
    ASCOPE_OPTION_CHOICE, /* one of the choices */
    ASCOPE_OPTION_LIST,   /* several of the choices, with commas between them */
    ASCOPE_OPTION_NUMBER, /* a whole number from low to high */
    ASCOPE_OPTION_MS,     /* milliseconds from 0, with a fraction, or none */
    ASCOPE_OPTION_TEXT,
    ASCOPE_OPTION_NAMES /* texts with commas between them */
};
enum ascope_option_group {
    ASCOPE_OPTIONS_WHERE,
    ASCOPE_OPTIONS_WHAT,   /* what frameworks ask for */
    ASCOPE_OPTIONS_DEVICE, /* what only acl.json, TensorFlow and the msprof command ask for */
    ASCOPE_OPTIONS_HOW
};
enum ascope_front_end { /* bits */
                        ASCOPE_FRONT_END_PYTORCH = 1,
                        ASCOPE_FRONT_END_DYNAMIC = 2, /* profiler_config.json of PyTorch's dynamic_profile */
                        ASCOPE_FRONT_END_MINDSPORE = 4,
                        ASCOPE_FRONT_END_TENSORFLOW = 8, /* keys of profiling_options */
                        ASCOPE_FRONT_END_ACL_JSON = 16,
                        ASCOPE_FRONT_END_MSPROF = 32 /* --task-time is task_time */
};
enum ascope_option_section { /* of profiler_info.json */
                             ASCOPE_SECTION_NONE,
                             ASCOPE_SECTION_COMMON,      /* common_config: parameters of profile() */
                             ASCOPE_SECTION_EXPERIMENTAL /* experimental_config: parameters of _ExperimentalConfig */
};

/* This one and struct ascope_choice are elements of arrays: they have no size and never change. */
struct ascope_option_name {
    const char *name;
    uint32_t front_ends; /* enum ascope_front_end, several; 0: ascope_options_set() alone */
};
struct ascope_choice {
    const char *name;
    uint64_t value; /* the first name of a value is the usual one, the others are accepted, too */
};

/* Filled by the library. A program that reads a field which a later version has added compares the size first. */
struct ascope_option {
    uint32_t size;        /* sizeof(struct ascope_option), as the library knows it */
    uint32_t group, kind; /* enum ascope_option_group, enum ascope_option_kind */
    uint32_t section;     /* enum ascope_option_section, of the key */
    uint32_t parameter;   /* its place among the parameters of _ExperimentalConfig, from 1; 0: not one of them */
    bool is_old;          /* a name that programs should no longer use */
    const struct ascope_option_name *names; /* end with NULL; the first one is that of the documents */
    const char *help;                       /* one line: what it records or changes */
    const struct ascope_choice *choices;    /* end with NULL; NULL: the kind has none */
    uint64_t low, high;                     /* of a number */
    const char *unit;                       /* of a number: "Hz"; NULL: none */
    const char *values;      /* in words, instead of what kind and choices say; NULL: they say everything */
    const char *more_values; /* in words, beyond the choices; NULL: no more */
    const char *otherwise;   /* in words: what holds unless it is set; NULL: the default is a value */
    const char *key;         /* in profiler_info.json; NULL: it is not there */
};

/* The rows, counted from 0.
 * Errors: NULL: there are no more. Threads: any, and signal handlers. */
ASCOPE_API const struct ascope_option *ascope_option_at(size_t i);

/* The value of an option as a text that ascope_options_set() accepts; owner: the caller, free(). Errors: NULL: nothing
 * is set (see `otherwise`), the option only changes others (task_time), there is no such name, no memory, or a size of
 * the options that is not set. Threads: any. */
ASCOPE_API char *ascope_options_get(const struct ascope_options *o, const char *name);

/* What an option accepts, and what it is unless it is set, in words: "Level0, Level1, Level2, Level_none"; "Level0".
 * Errors: none; a text that does not fit is cut off. Threads: any. */
ASCOPE_API void ascope_option_values(const struct ascope_option *option, char *text, size_t size);
ASCOPE_API void ascope_option_default(const struct ascope_option *option, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
