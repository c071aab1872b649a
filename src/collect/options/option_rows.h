/* SPDX-License-Identifier: Apache-2.0 */
/* option_rows.h - registry: the table of the recorder's options. A new option is a field of struct ascope_options and a row here;
 * names, parsing, checks of one value, profiler_info.json, the Python front end, `python3 -m ascope run` and the table
 * in docs/collector.md are made from it.
 */
#ifndef ASCOPE_COLLECT_OPTIONS_OPTION_ROWS_H
#define ASCOPE_COLLECT_OPTIONS_OPTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ascope/recorder_options.h"
#include "base/text/error.h"

struct recorder_option {
    struct ascope_option is;
    uint16_t at, bytes; /* of the field */
    /* NULL: as its kind says. False: no such value. */
    bool (*set)(struct ascope_options *o, const struct recorder_option *r, const char *value);
    uint64_t (*get)(const struct ascope_options *o); /* NULL: the field */
    uint64_t initial;                                /* the field's, unless it is 0 */
    const char *initial_text;
    uint64_t bits;                     /* what its set() needs: bits of the data mask, a rate */
    const struct ascope_choice *filed; /* names in profiler_info.json; NULL: those of the choices */
    bool changes_others;               /* it sets other options instead of a field of its own */
};

extern const struct recorder_option recorder_options[];
extern const size_t n_recorder_options;

/* Finds an option by any of its names; "--task-time" is accepted for task_time. NULL: there is no such option. */
const struct recorder_option *recorder_option_find(const char *name);

/* Names of values that other tables need. */
extern const struct ascope_choice option_levels[], option_metrics[], option_acl_metrics[], option_host_systems[];

/* option_keys.c: the keys of profiling_options (TensorFlow, PROFILING_OPTIONS) and of the profiler part of acl.json:
 * one row each.
 *
 * A row says which type and values the vendor's checks accept, on which chips, what holds without the key, and which
 * option of the recorder it sets. The parser (option_json.c), `ascope options check` and the tests walk these rows. */

enum option_key_id {
    KEY_SWITCH,
    KEY_OUTPUT,
    KEY_STORAGE_LIMIT,
    KEY_TRAINING_TRACE,
    KEY_TASK_TRACE,
    KEY_TASK_TIME,
    KEY_ASCENDCL,
    KEY_RUNTIME_API,
    KEY_GE_API,
    KEY_HCCL,
    KEY_AICPU,
    KEY_FP_POINT,
    KEY_BP_POINT,
    KEY_AIC_METRICS,
    KEY_L2,
    KEY_MSPROFTX,
    KEY_TASK_MEMORY,
    KEY_TASK_TSFW,
    KEY_TASK_BLOCK,
    KEY_HARDWARE_MEM_FREQ,
    KEY_LLC,
    KEY_SERVICEFLOW,
    KEY_IO_FREQ,
    KEY_INTERCONNECTION_FREQ,
    KEY_CPU_FREQ,
    KEY_DVPP_FREQ,
    KEY_INSTR,
    KEY_INSTR_FREQ,
    KEY_HOST_SYS,
    KEY_HOST_USAGE,
    KEY_HOST_USAGE_FREQ,
    KEY_LOW_POWER_FREQ,
    KEY_OPTYPE,
    OPTION_KEYS
};

enum option_key_type {
    KEY_IS_STRING,
    KEY_IS_INTEGER, /* of JSON: neither "50" nor 50.0 */
    KEY_IS_ANY,     /* values of other types count as "" */
};

/* How the vendor's collector refuses a key that the chip does not have. */
enum option_key_refusal { REFUSED_AS_VALUE, REFUSED_AS_BOTH, REFUSED_AS_FEATURE, REFUSED_SILENTLY };

struct option_word {
    const char *word;
    uint32_t chips;     /* that accept it, a bit for each platform number; 0: all */
    bool is_unreferred; /* the option reference does not have it */
};

struct option_key {
    const char *name;
    uint32_t front_ends; /* ASCOPE_FRONT_END_TENSORFLOW, ASCOPE_FRONT_END_ACL_JSON */
    enum option_key_type type;
    const struct option_word *words; /* accepted values, ends with NULL; NULL: not a word */
    bool is_list;                    /* several of them, with commas between them */
    bool refuses_empty;              /* "" is not the same as absent */
    uint32_t low, high;              /* of an integer */
    uint32_t chips;                  /* that have it; 0: all */
    enum option_key_refusal refusal;
    bool is_unreferred;         /* the option reference does not have the key */
    const char *absent, *empty; /* the value without the key; of "", NULL: the same */
    const char *absent_acl;     /* in acl.json; NULL: as elsewhere */
    const char *recorder;       /* the option of the recorder that takes the value as it is; NULL: none */
    const char *old;            /* deprecated: what to use instead; NULL: it is not */
};
extern const struct option_key option_keys[OPTION_KEYS];

const struct option_key *option_key_find(const char *name, size_t n, uint32_t front_end); /* NULL: none */

bool chip_is_among(uint32_t chips, int chip); /* 0 is all */

/* What a key accepts, in words: `"on", "off"`. Errors: a text that does not fit is cut off. */
void option_key_accepted(const struct option_key *k, int chip, char *text, size_t size);
bool option_key_has_word(const struct option_key *k, int chip, const char *text, const struct option_word **word);

/* Counters of the AI cores: a group that the chip has, or "Custom:" and events, which are copied to `events` (as long
 * as the value) without blanks. *group: the name of a group of the recorder; NULL: events. */
bool option_key_metrics(int chip, const char *value, const char **group, char *events);
bool option_key_limit(const char *value, uint64_t *mb); /* "200MB"; false: not of that form */

enum { OPTION_OUTPUT_REFERRED = 7 }; /* how many of the refused characters the option reference lists */
extern const char option_output_refused[];

/* option_json.c: profiling_options and acl.json: from a text to the options of a session.
 *
 * Accepts and refuses what the vendor's two checks (graph engine, collector) accept and refuse; docs/tensorflow.md has
 * the rules. Every fault is reported, not only the first, with its place; so are differences between the vendor's code
 * and its option reference. */

/* One line about the text. Its members are valid during the call only. */
struct options_remark {
    enum ascope_severity severity; /* ASCOPE_ERROR: the text is refused */
    unsigned line, column;         /* 0: the remark is about something that is not in the text */
    const char *key;               /* NULL: the remark is about the whole text */
    const char *code;              /* of the vendor's message: "EK0001"; "": none */
    const char *text;              /* without key and place */
};

/* "source:line:column: key: text [code]" into `line`, whose text is returned. */
struct remark_line {
    char text[900];
};
const char *options_remark_line(struct remark_line *line, const char *source, const struct options_remark *r);

struct options_request {
    uint32_t
        front_end; /* ASCOPE_FRONT_END_TENSORFLOW, ..._ACL_JSON; 0: acl.json if it has a member "profiler", else the
                      first */
    int chip;      /* platform number; -1: as 910B */
    const char *program_dir;             /* results of acl.json without a usable output; NULL: that of this program */
    const struct ascope_options *before; /* what the text does not set; NULL: the defaults */
    void (*say)(void *to, const struct options_remark *r); /* NULL: nobody listens */
    void *to;
};

struct options_json {
    uint32_t front_end; /* as which it was read */
    bool is_on;         /* false: the text is fine, and profiling stays off */
    struct {
        const char *value; /* the value in effect; NULL: this front end does not have the key */
        bool is_given, has_no_effect;
    } key[OPTION_KEYS];
    struct ascope_options o; /* texts are this structure's, or the request's */
    struct kept_text *kept;
};

/* False: the text is refused, and every problem has been reported. Call options_json_fini() in both cases. */
bool options_json_read(struct options_json *out, const char *text, size_t n, const struct options_request *r);
void options_json_fini(struct options_json *j);

/* The data mask, as the vendor's collector writes it: task time L1 with L0, communication only when it was asked for by
 * name, and no marks, which have another switch there. */
uint64_t options_json_mask(const struct options_json *j);

/* A file, at most 10 MiB; to be freed. NULL: e says why. */
char *options_file_read(const char *path, size_t *n, struct error *e);

#endif
