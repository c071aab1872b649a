/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/options/option_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascope/recorder_options.h"
#include "raw/core_events.h"

#define C(n) (UINT32_C(1) << (n))
enum { HAS_MORE_EVENTS = 15, LAST_CHIP = 31 };
#define ON_910B      C(5) /* and A3 */
#define ON_950S      (C(15) | C(16))
#define NOT(chips)   (~(uint32_t)(chips))
#define HAS_BLOCKS   (ON_910B | C(7) | ON_950S)
#define HAS_COMMANDS (ON_910B | ON_950S) /* instructions */
#define HAS_SERVICES (ON_910B | ON_950S)

/* clang-format off */
static const struct option_word on_off[] = { { "on", 0, 0 }, { "off", 0, 0 }, { NULL, 0, 0 } };
static const struct option_word on_only[] = { { "on", 0, 0 }, { NULL, 0, 0 } };
static const struct option_word levels[] = {
    { "on", 0, 0 }, { "off", 0, 0 }, { "l0", 0, 0 }, { "l1", 0, 0 }, { "l2", 0, 1 }, { "l3", ON_910B | C(15), 1 }, { NULL, 0, 0 } };
static const struct option_word ge_levels[] = { { "off", 0, 0 }, { "l0", 0, 0 }, { "l1", 0, 0 }, { NULL, 0, 0 } };
static const struct option_word blocks[] = { { "all", 0, 0 }, { "on", ON_950S, 0 }, { "off", 0, 0 }, { NULL, 0, 0 } };
static const struct option_word read_write[] = { { "read", 0, 0 }, { "write", 0, 0 }, { NULL, 0, 0 } };
static const struct option_word host_parts[] = {
    { "cpu", 0, 0 }, { "mem", 0, 0 }, { "disk", 0, 0 }, { "network", 0, 0 }, { "osrt", 0, 0 }, { "numa", 0, 1 }, { NULL, 0, 0 } };
static const struct option_word host_usages[] = { { "cpu", 0, 0 }, { "mem", 0, 0 }, { NULL, 0, 0 } };

#define TF   ASCOPE_FRONT_END_TENSORFLOW
#define ACL  ASCOPE_FRONT_END_ACL_JSON
#define BOTH (TF | ACL)
#define WORD(list)      .type = KEY_IS_STRING, .words = (list)
#define LIST_OF(list)   WORD(list), .is_list = true
#define FROM(from, to)  .type = KEY_IS_INTEGER, .low = (from), .high = (to)
#define TEXT            .type = KEY_IS_ANY
#define ONLY(on, as)    .chips = (on), .refusal = (as)
#define HERE            .refusal = REFUSED_AS_BOTH
#define SWITCH          WORD(on_off), HERE, .absent = "off"
#define UNREFERRED      .is_unreferred = true

const struct option_key option_keys[OPTION_KEYS] = {
    [KEY_SWITCH] = { "switch", ACL, WORD(on_off), .absent = "off" },
    [KEY_OUTPUT] = { "output", BOTH, TEXT, .absent = "", .recorder = "output" },
    [KEY_STORAGE_LIMIT] = { "storage_limit", BOTH, TEXT, .absent = "unlimited" },
    [KEY_TRAINING_TRACE] = { "training_trace", TF, WORD(on_only), HERE, .absent = "off", .empty = "on", .recorder = "training_trace" },
    [KEY_TASK_TRACE] = { "task_trace", TF, WORD(levels), HERE, .absent = "", .old = "use task_time" },
    [KEY_TASK_TIME] = { "task_time", BOTH, WORD(levels), HERE, .absent = "on", .empty = "l0", .recorder = "task_time" },
    [KEY_ASCENDCL] = { "ascendcl", ACL, WORD(on_off), HERE, .absent = "on", .recorder = "ascendcl" },
    [KEY_RUNTIME_API] = { "runtime_api", BOTH, SWITCH, .absent_acl = "on", .recorder = "runtime_api" },
    [KEY_GE_API] = { "ge_api", BOTH, WORD(ge_levels), HERE, .absent = "off", .recorder = "ge_api" },
    [KEY_HCCL] = { "hccl", BOTH, SWITCH, .old = "task_time from l1 on includes it" },
    [KEY_AICPU] = { "aicpu", BOTH, SWITCH, .recorder = "aicpu" },
    [KEY_FP_POINT] = { "fp_point", TF, TEXT, .absent = "", .recorder = "fp_point" },
    [KEY_BP_POINT] = { "bp_point", TF, TEXT, .absent = "", .recorder = "bp_point" },
    [KEY_AIC_METRICS] = { "aic_metrics", BOTH, .type = KEY_IS_STRING, .absent = "none", .empty = "PipeUtilization",
                          .absent_acl = "PipeUtilization" },
    [KEY_L2] = { "l2", BOTH, SWITCH, .recorder = "l2" },
    [KEY_MSPROFTX] = { "msproftx", BOTH, SWITCH, .recorder = "msproftx" },
    [KEY_TASK_MEMORY] = { "task_memory", BOTH, SWITCH, UNREFERRED, .recorder = "task_memory" },
    [KEY_TASK_TSFW] = { "task_tsfw", BOTH, SWITCH, UNREFERRED, .recorder = "task_tsfw" },
    [KEY_TASK_BLOCK] = { "task_block", TF, WORD(blocks), .refuses_empty = true, ONLY(HAS_BLOCKS, REFUSED_AS_VALUE), UNREFERRED,
                         .absent = "off", .recorder = "task_block" },
    [KEY_HARDWARE_MEM_FREQ] = { "sys_hardware_mem_freq", BOTH, FROM(1, 10000), HERE, .absent = "off", .recorder = "sys_hardware_mem_freq" },
    [KEY_LLC] = { "llc_profiling", BOTH, WORD(read_write), .refuses_empty = true, .absent = "read", .recorder = "llc_profiling" },
    [KEY_SERVICEFLOW] = { "sys_mem_serviceflow", BOTH, .type = KEY_IS_STRING, .refuses_empty = true,
                          ONLY(HAS_SERVICES, REFUSED_AS_VALUE), UNREFERRED, .absent = "", .recorder = "sys_mem_serviceflow" },
    [KEY_IO_FREQ] = { "sys_io_sampling_freq", BOTH, FROM(1, 100), ONLY(NOT(C(4)), REFUSED_AS_BOTH), .absent = "off",
                      .recorder = "sys_io_sampling_freq" },
    [KEY_INTERCONNECTION_FREQ] = { "sys_interconnection_freq", BOTH, FROM(1, 50), ONLY(NOT(C(7)), REFUSED_AS_BOTH), .absent = "off",
                                   .recorder = "sys_interconnection_freq" },
    [KEY_CPU_FREQ] = { "sys_cpu_freq", BOTH, FROM(1, 50), ONLY(C(16), REFUSED_AS_BOTH), UNREFERRED, .absent = "off",
                       .recorder = "sys_cpu_freq" },
    [KEY_DVPP_FREQ] = { "dvpp_freq", BOTH, FROM(1, 100), HERE, .absent = "off", .recorder = "dvpp_freq" },
    [KEY_INSTR] = { "instr_profiling", BOTH, WORD(on_off), ONLY(HAS_COMMANDS, REFUSED_AS_BOTH), .absent = "off",
                    .recorder = "instr_profiling" },
    [KEY_INSTR_FREQ] = { "instr_profiling_freq", BOTH, FROM(300, 30000), ONLY(ON_910B, REFUSED_AS_FEATURE), .absent = "1000",
                         .recorder = "instr_profiling_freq" },
    [KEY_HOST_SYS] = { "host_sys", BOTH, LIST_OF(host_parts), .absent = "none", .recorder = "host_sys" },
    [KEY_HOST_USAGE] = { "host_sys_usage", BOTH, LIST_OF(host_usages), .absent = "none", .recorder = "host_sys_usage" },
    [KEY_HOST_USAGE_FREQ] = { "host_sys_usage_freq", BOTH, FROM(1, 50), HERE, .absent = "50", .recorder = "host_sys_usage_freq" },
    [KEY_LOW_POWER_FREQ] = { "sys_lp_freq", BOTH, FROM(1, 100), ONLY(ON_950S, REFUSED_AS_BOTH), UNREFERRED, .absent = "off",
                             .recorder = "sys_lp_freq" },
    [KEY_OPTYPE] = { "optype", BOTH, TEXT, ONLY(C(16), REFUSED_SILENTLY), UNREFERRED, .absent = "all", .recorder = "optype" },
};
/* clang-format on */

const char option_output_refused[] = "\n\f\r\b\t\v\x7f\"'\\%><|&$;`";

const struct option_key *option_key_find(const char *name, size_t n, uint32_t front_end)
{
    for (size_t i = 0; i < OPTION_KEYS; i++)
        if (option_keys[i].front_ends & front_end && strlen(option_keys[i].name) == n &&
            memcmp(option_keys[i].name, name, n) == 0)
            return &option_keys[i];
    return NULL;
}

bool chip_is_among(uint32_t chips, int chip)
{
    return chips == 0 || (chip >= 0 && chip <= LAST_CHIP && (chips >> chip & 1) != 0);
}

bool option_key_has_word(const struct option_key *k, int chip, const char *text, const struct option_word **word)
{
    for (const struct option_word *w = k->words; w->word; w++)
        if (strcmp(w->word, text) == 0 && chip_is_among(w->chips, chip)) {
            *word = w;
            return true;
        }
    return false;
}

/* ---- in words ---- */

static void option_keys_add(char *text, size_t size, const char *before, const char *word)
{
    const size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s", n > 0 ? before : "", word);
}

static void metrics_accepted(int chip, char *text, size_t size)
{
    const char *name;
    for (size_t i = 0; (name = core_events_name(i)); i++)
        if (core_events_asked(name, chip_of(chip)))
            option_keys_add(text, size, ", ", name);
    if (chip_is_among(ON_910B | ON_950S, chip))
        option_keys_add(text, size, ", ", "PipeUtilizationExct");
    option_keys_add(text, size, ", ",
                    chip >= HAS_MORE_EVENTS ? "or Custom: and up to 10 events"
                                            : "or Custom: and up to 8 events (Custom:0x8,0xa)");
}

void option_key_accepted(const struct option_key *k, int chip, char *text, size_t size)
{
    *text = '\0';
    if (k->type == KEY_IS_INTEGER) {
        const bool is_low = k == &option_keys[KEY_HARDWARE_MEM_FREQ] && chip < HAS_MORE_EVENTS;
        snprintf(text, size, "an integer from %u to %u", k->low, is_low ? 100 : k->high);
    } else if (k == &option_keys[KEY_AIC_METRICS]) {
        metrics_accepted(chip, text, size);
    } else if (k->words) {
        if (k->is_list)
            option_keys_add(text, size, "", "one or more of ");
        for (const struct option_word *w = k->words; w->word; w++)
            if (chip_is_among(w->chips, chip))
                option_keys_add(text, size, w == k->words ? "" : ", ", w->word);
        if (k->is_list)
            option_keys_add(text, size, "", " with commas between them and no blanks");
        else if (!k->refuses_empty)
            option_keys_add(text, size, "", ", or an empty text");
    } else {
        snprintf(text, size, "a text that is not empty");
    }
}

/* ---- values of their own ---- */

static bool is_event(const char *text, size_t n)
{
    char digits[24];
    if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        for (size_t i = 2; i < n; i++)
            if (!strchr("0123456789abcdefABCDEF", text[i]) || !text[i])
                return false;
        return true;
    }
    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    return strspn(digits, "0123456789") == n && strtoull(digits, NULL, 10) <= INT32_MAX;
}

static bool events_copy(const char *list, size_t most, char *out)
{
    size_t n = 0;
    for (const char *at = list;;) {
        const size_t part = strcspn(at, ",");
        const char *first = at, *end = at + part;
        while (first < end && *first == ' ')
            first++;
        while (end > first && end[-1] == ' ')
            end--;
        if (++n > most || !is_event(first, (size_t)(end - first)))
            return false;
        out += sprintf(out, "%s%.*s", n > 1 ? "," : "", (int)(end - first), first);
        if (!at[part])
            return true;
        at += part + 1;
    }
}

bool option_key_metrics(int chip, const char *value, const char **group, char *events)
{
    enum { LONGEST = 70, EVENTS = 8, MORE_EVENTS = 10 };
    static const char custom[] = "Custom:", extended[] = "PipeUtilizationExct";
    *group = NULL;
    if (strlen(value) > LONGEST)
        return false;
    if (strncmp(value, custom, sizeof custom - 1) == 0)
        return events_copy(value + sizeof custom - 1, chip >= HAS_MORE_EVENTS ? MORE_EVENTS : EVENTS, events);
    if (strcmp(value, extended) == 0 && chip_is_among(ON_910B | ON_950S, chip))
        value = "PipeUtilization"; /* the cores count the same events; files use this name */
    const char *name;
    for (size_t i = 0; (name = core_events_name(i)); i++)
        if (strcmp(name, value) == 0 && core_events_asked(name, chip_of(chip)))
            *group = name;
    return *group != NULL;
}

bool option_key_limit(const char *value, uint64_t *mb)
{
    enum { MOST_DIGITS = 10 };
    const size_t n = strspn(value, "0123456789");
    *mb = n > 0 && n <= MOST_DIGITS ? strtoull(value, NULL, 10) : UINT64_MAX;
    return strcmp(value + n, "MB") == 0 && *mb <= UINT32_MAX;
}
