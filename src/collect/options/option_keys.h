/* SPDX-License-Identifier: Apache-2.0 */
/* option_keys.h - the keys of profiling_options (TensorFlow, PROFILING_OPTIONS) and of the profiler part of acl.json:
 * one row each.
 *
 * A row says which type and values the vendor's checks accept, on which chips, what holds without the key, and which
 * option of the recorder it sets. The parser (option_json.h), `ascope options check` and the tests walk these rows.
 */
#ifndef ASCOPE_COLLECT_OPTIONS_OPTION_KEYS_H
#define ASCOPE_COLLECT_OPTIONS_OPTION_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    KEY_IS_ANY,     /* what is no string counts as "" */
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

enum { OPTION_OUTPUT_REFERRED = 7 }; /* so many of the characters that it refuses are in the option reference */
extern const char option_output_refused[];

#endif
