/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "collect/options/option_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/json_items.h"
#include "collect/options/option_values.h"
#include "collect/options/options.h"
#include "collect/options/sized.h"

enum { TF = ASCOPE_FRONT_END_TENSORFLOW, ACL = ASCOPE_FRONT_END_ACL_JSON };
enum { TEXT_MOST = 2047, FILE_MOST = 10 << 20, SECTION_MOST = 1 << 20, USUAL_CHIP = 5 };
#define DATA_OP_TYPES UINT64_C(0x200000000)

struct kept_text {
    struct kept_text *next;
    char text[];
};

/* A text being read. */
struct option_json_reading {
    struct options_json *out;
    const struct options_request *request;
    const char *text;
    int chip;
    struct json_walk place;                               /* the position of the last remark */
    struct json_item key[OPTION_KEYS], item[OPTION_KEYS]; /* if a key occurs twice, the last one counts */
    bool is_refused[OPTION_KEYS];
    bool is_bad, is_short; /* refused; of memory */
};

/* ---- remarks ---- */

enum { NOWHERE = -1 };

__attribute__((format(printf, 6, 7))) static void say(struct option_json_reading *r, enum ascope_severity severity,
                                                      long at, const char *key, const char *code, const char *fmt, ...)
{
    char text[700];
    struct options_remark remark = { severity, 0, 0, key, code, text };
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *c = text; *c; c++)
        /* keys may contain control characters; the message stays one line */
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    r->is_bad |= severity == ASCOPE_ERROR;
    if (at != NOWHERE)
        json_place_next(&r->place, r->text, (size_t)at, &remark.line, &remark.column);
    if (r->request->say)
        r->request->say(r->request->to, &remark);
}

const char *options_remark_line(struct remark_line *line, const char *source, const struct options_remark *r)
{
    char place[32] = "";
    if (r->line)
        snprintf(place, sizeof place, ":%u:%u", r->line, r->column);
    snprintf(line->text, sizeof line->text, "%.100s%s: %s%s%s%s%s%s", source, place, r->key ? r->key : "",
             r->key ? ": " : "", r->text, *r->code ? " [" : "", r->code, *r->code ? "]" : "");
    return line->text;
}

#define ERROR_AT(r, id, code, ...)                                                                                     \
    ((r)->is_refused[id] = true, say(r, ASCOPE_ERROR, (long)(r)->item[id].at, option_keys[id].name, code, __VA_ARGS__))
/* Warns about a key unless it is refused: most warnings begin with "accepted". */
#define WARN_AT(r, id, ...)                                                                                            \
    ((r)->is_refused[id] ? (void)0                                                                                     \
                         : say(r, ASCOPE_WARNING, (long)(r)->item[id].at, option_keys[id].name, "", __VA_ARGS__))

/* Of a value. */
static const char *code_of(const struct option_json_reading *r)
{
    return r->out->front_end == ACL ? "EK0003" : "EK0001";
}

static bool is_given(const struct option_json_reading *r, enum option_key_id id)
{
    return r->out->key[id].is_given;
}

static bool holds(const struct option_json_reading *r, enum option_key_id id, const char *value)
{
    return r->out->key[id].value && strcmp(r->out->key[id].value, value) == 0;
}

/* The value as it stands in the text, as much of it as a line shows. */
struct option_json_shown {
    char text[64];
};
static struct option_json_shown shown(const struct option_json_reading *r, enum option_key_id id)
{
    struct option_json_shown s;
    const struct json_item *const i = &r->item[id];
    const size_t n = i->end - i->at, most = sizeof s.text - 4;
    size_t used = n < most ? n : most;
    while (n > most && used > 0 && ((unsigned char)r->text[i->at + used] & 0xC0) == 0x80)
        used--; /* does not cut a UTF-8 character */
    snprintf(s.text, sizeof s.text, "%.*s%s", (int)used, r->text + i->at, n > most ? "..." : "");
    return s;
}

static void option_json_refuse(struct option_json_reading *r, enum option_key_id id, const char *why)
{
    char accepted[400];
    option_key_accepted(&option_keys[id], r->chip, accepted, sizeof accepted);
    ERROR_AT(r, id, id == KEY_TRAINING_TRACE ? "E10001" : code_of(r), "invalid value %s%s; expected %s",
             shown(r, id).text, why, accepted);
}

/* ---- texts ---- */

static char *option_json_keep(struct option_json_reading *r, const char *text, size_t n)
{
    struct kept_text *const k = malloc(sizeof *k + n + 1);
    r->is_short |= !k;
    if (!k)
        return NULL;
    memcpy(k->text, text, n);
    k->text[n] = '\0';
    k->next = r->out->kept;
    r->out->kept = k;
    return k->text;
}

void options_json_fini(struct options_json *j)
{
    for (struct kept_text *k = j->kept, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    j->kept = NULL;
}

/* A string, or NULL if it contains what no value can. */
static const char *string_of(struct option_json_reading *r, enum option_key_id id)
{
    size_t n;
    char *const text = json_item_text(r->text, r->item[id], &n);
    r->is_short |= !text;
    const char *const kept = text ? option_json_keep(r, text, n) : NULL;
    free(text);
    if (!kept || strlen(kept) == n)
        return kept;
    ERROR_AT(r, id, code_of(r), "invalid value %s: contains \\u0000", shown(r, id).text);
    return NULL;
}

/* ---- one value ---- */

static void set_value(struct option_json_reading *r, enum option_key_id id, const char *value)
{
    r->out->key[id].value = value;
}

static void check_chip(struct option_json_reading *r, enum option_key_id id)
{
    static const char *const codes[] = { [REFUSED_AS_VALUE] = "EK0001",
                                         [REFUSED_AS_BOTH] = "EK0005, EK0001",
                                         [REFUSED_AS_FEATURE] = "EK0005",
                                         [REFUSED_SILENTLY] = "" };
    static const char *const acl_codes[] = { [REFUSED_AS_VALUE] = "EK0003",
                                             [REFUSED_AS_BOTH] = "EK0005, EK0003",
                                             [REFUSED_AS_FEATURE] = "EK0005",
                                             [REFUSED_SILENTLY] = "" };
    const struct option_key *const k = &option_keys[id];
    if (!chip_is_among(k->chips, r->chip))
        ERROR_AT(r, id, (r->out->front_end == ACL ? acl_codes : codes)[k->refusal],
                 "not supported by chip %d; remove the key", r->chip);
}

static void check_integer(struct option_json_reading *r, enum option_key_id id)
{
    const struct option_key *const k = &option_keys[id];
    const struct json_item *const i = &r->item[id];
    char digits[24];
    if (i->kind != ITEM_INTEGER) {
        option_json_refuse(r, id, " (not an integer)");
        return;
    }
    snprintf(digits, sizeof digits, "%.*s", (int)(i->end - i->at < 23 ? i->end - i->at : 23), r->text + i->at);
    const long long n = strtoll(digits, NULL, 10);
    const long long high = id == KEY_HARDWARE_MEM_FREQ && r->chip < 15 ? 100 : k->high;
    if (id == KEY_INSTR_FREQ) /* its range counts only together with instr_profiling */
        set_value(r, id, option_json_keep(r, digits, strlen(digits)));
    else if (n < k->low || n > high || i->end - i->at > 20)
        option_json_refuse(r, id, "");
    else
        set_value(r, id, option_json_keep(r, digits, strlen(digits)));
}

static void check_list(struct option_json_reading *r, enum option_key_id id, const char *value)
{
    const struct option_word *word, *unreferred = NULL;
    for (const char *at = value;; at++) {
        const size_t n = strcspn(at, ",");
        const char *const one = option_json_keep(r, at, n);
        if (!one)
            return;
        if (!option_key_has_word(&option_keys[id], r->chip, one, &word)) {
            option_json_refuse(r, id, *one ? "" : " (an empty item)");
            return;
        }
        unreferred = word->is_unreferred ? word : unreferred;
        at += n;
        if (!*at)
            break;
    }
    if (unreferred)
        WARN_AT(r, id, "%s is accepted, but not in the option reference", unreferred->word);
    set_value(r, id, value);
}

static void check_word(struct option_json_reading *r, enum option_key_id id, const char *value)
{
    const struct option_word *word;
    if (!option_key_has_word(&option_keys[id], r->chip, value, &word)) {
        option_json_refuse(r, id,
                           id == KEY_SWITCH ? " (the vendor's page calls it off)"
                           : id == KEY_TRAINING_TRACE && strcmp(value, "off") == 0
                               ? " (the graph engine refuses it, though the "
                                 "option reference has it; leave the key out)"
                               : "");
        return;
    }
    if (word->is_unreferred)
        WARN_AT(r, id, "%s is accepted, but not in the option reference", word->word);
    set_value(r, id, value);
}

static void check_metrics(struct option_json_reading *r, enum option_key_id id, const char *value)
{
    const char *group;
    char *const events = option_json_keep(r, value, strlen(value));
    if (!events)
        return;
    if (!option_key_metrics(r->chip, value, &group, events)) {
        option_json_refuse(r, id, strlen(value) > 70 ? " (more than 70 characters)" : "");
        return;
    }
    set_value(r, id, value);
    r->out->o.custom_events = group ? NULL : events;
    if (group) {
        option_set(&r->out->o, recorder_option_find("aic_metrics"), group);
        return;
    }
    r->out->o.metrics = ASCOPE_NO_METRICS;
    const unsigned long most = r->out->front_end == ACL ? 0x7FFFFFFF : 0x6E;
    for (char *at = events; *at; at += *at == ',') {
        const unsigned long event = strtoul(at, &at, 0);
        if (event == 0 || event > most) {
            WARN_AT(r, id, "event 0x%lx is accepted, but the option reference has events from 0x1 to 0x%lX only", event,
                    most);
            break;
        }
    }
}

/* ---- values that only their keys have ---- */

/* Why a directory cannot be created or used. NULL: no problem is known. */
static const char *place_problem(const char *path)
{
    char part[PATH_MAX];
    struct stat s;
    if (snprintf(part, sizeof part, "%s%s", *path == '/' ? "" : "./", path) >= (int)sizeof part)
        return "the path is too long";
    while (stat(part, &s) != 0) {
        if (errno != ENOENT)
            return strerror(errno);
        char *const slash = strrchr(part, '/');
        if (!slash || slash == part)
            return NULL;
        *slash = '\0';
    }
    return !S_ISDIR(s.st_mode) ? "not a directory" : access(part, W_OK | X_OK) != 0 ? "not writable" : NULL;
}

static const char *program_dir(struct option_json_reading *r)
{
    char self[PATH_MAX] = "";
    if (r->request->program_dir)
        return r->request->program_dir;
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *const slash = n > 0 ? strrchr(self, '/') : NULL;
    return slash ? option_json_keep(r, self, slash == self ? 1 : (size_t)(slash - self)) : ".";
}

/* Uses the default directory when the key is absent, empty or not a string. */
static void place_usual(struct option_json_reading *r)
{
    const char *const work = getenv("ASCEND_WORK_PATH");
    char path[PATH_MAX];
    if (work && *work) {
        snprintf(path, sizeof path, "%s/profiling_data", work);
        set_value(r, KEY_OUTPUT, option_json_keep(r, path, strlen(path)));
    } else if (r->out->front_end == ACL) {
        set_value(r, KEY_OUTPUT, program_dir(r));
    } else {
        say(r, ASCOPE_ERROR, is_given(r, KEY_OUTPUT) ? (long)r->item[KEY_OUTPUT].at : NOWHERE, "output", "",
            "no directory for the results; set output, or ASCEND_WORK_PATH");
    }
}

static void check_output(struct option_json_reading *r, const char *value)
{
    const size_t at = strcspn(value, option_output_refused);
    if (!*value) {
        place_usual(r);
        return;
    }
    if (value[at]) {
        const bool is_referred =
            strchr(option_output_refused, value[at]) - option_output_refused < OPTION_OUTPUT_REFERRED;
        ERROR_AT(r, KEY_OUTPUT, "EK0003", "invalid value %s: character 0x%02x is not allowed in a path%s",
                 shown(r, KEY_OUTPUT).text, (unsigned char)value[at],
                 is_referred ? "" : " (the option reference forbids control characters only)");
        return;
    }
    const char *const problem = place_problem(value);
    if (!problem) {
        set_value(r, KEY_OUTPUT, value);
    } else if (r->out->front_end == ACL) {
        set_value(r, KEY_OUTPUT, program_dir(r));
        WARN_AT(r, KEY_OUTPUT, "%s: %s; using the directory of the program, %s", shown(r, KEY_OUTPUT).text, problem,
                r->out->key[KEY_OUTPUT].value);
    } else {
        ERROR_AT(r, KEY_OUTPUT, "EK0003", "invalid value %s: %s; expected a directory that can be created or written",
                 shown(r, KEY_OUTPUT).text, problem);
    }
}

static void check_limit(struct option_json_reading *r, const char *value)
{
    enum { LEAST_MB = 200 };
    static const char expected[] = "200MB to 4294967295MB, with the unit";
    uint64_t mb;
    if (!*value)
        return;
    const bool is_limit = option_key_limit(value, &mb);
    if (is_limit && mb >= LEAST_MB) {
        set_value(r, KEY_STORAGE_LIMIT, value);
    } else if (r->out->front_end == ACL) {
        ERROR_AT(r, KEY_STORAGE_LIMIT, "EK0003", "invalid value %s; expected %s", shown(r, KEY_STORAGE_LIMIT).text,
                 expected);
        return;
    } else {
        say(r, ASCOPE_WARNING, (long)r->item[KEY_STORAGE_LIMIT].at, "storage_limit", "EK0001",
            "invalid value %s; expected %s; %s", shown(r, KEY_STORAGE_LIMIT).text, expected,
            is_limit ? "using 200MB" : "no limit is used");
        if (is_limit)
            set_value(r, KEY_STORAGE_LIMIT, "200MB");
    }
    r->out->o.storage_limit_mb = !is_limit ? 0 : mb < LEAST_MB ? LEAST_MB : (uint32_t)mb;
}

/* Each type once, and in order: as msprof hands them over. */
static void check_types(struct option_json_reading *r, const char *value)
{
    enum { LONGEST = 256 };
    char *one[LONGEST + 1], out[LONGEST + 1] = "";
    size_t n = 0;
    if (!*value)
        return;
    char *rest = strlen(value) <= LONGEST ? option_json_keep(r, value, strlen(value)) : NULL;
    bool is_good = rest != NULL;
    for (char *piece; (piece = strsep(&rest, ","));) {
        is_good &= *piece != '\0';
        one[n++] = piece;
    }
    if (!is_good) {
        ERROR_AT(r, KEY_OPTYPE, "", "invalid value %s; expected operator types separated by commas, up to 256 bytes",
                 shown(r, KEY_OPTYPE).text);
        return;
    }
    qsort(one, n, sizeof *one, compare_texts);
    for (size_t i = 0, used = 0; i < n; i++)
        if (i == 0 || strcmp(one[i], one[i - 1]) != 0)
            used += (size_t)sprintf(out + used, "%s%s", used > 0 ? "," : "", one[i]);
    set_value(r, KEY_OPTYPE, option_json_keep(r, out, strlen(out)));
}

static void check_string(struct option_json_reading *r, enum option_key_id id)
{
    const struct option_key *const k = &option_keys[id];
    const bool is_string = r->item[id].kind == ITEM_STRING;
    const char *const value = is_string ? string_of(r, id) : "";
    if (!is_string && k->type == KEY_IS_STRING) {
        option_json_refuse(r, id, " (not a string)");
        return;
    }
    if (!value)
        return;
    if (id == KEY_OUTPUT)
        check_output(r, value);
    else if (id == KEY_STORAGE_LIMIT)
        check_limit(r, value);
    else if (id == KEY_OPTYPE)
        check_types(r, value);
    else if (!*value && k->refuses_empty)
        option_json_refuse(r, id, "");
    else if (!*value && id == KEY_AIC_METRICS)
        check_metrics(r, id, r->out->front_end == ACL && r->chip == 7 ? k->absent_acl : k->empty);
    else if (!*value)
        set_value(r, id, k->empty ? k->empty : r->out->key[id].value);
    else if (id == KEY_AIC_METRICS)
        check_metrics(r, id, value);
    else if (k->is_list)
        check_list(r, id, value);
    else if (k->words)
        check_word(r, id, value);
    else
        set_value(r, id, value);
}

static void check_value(struct option_json_reading *r, enum option_key_id id)
{
    const struct option_key *const k = &option_keys[id];
    check_chip(r, id);
    if (k->type == KEY_IS_INTEGER)
        check_integer(r, id);
    else
        check_string(r, id);
    if (k->is_unreferred)
        WARN_AT(r, id, "accepted, but not in the option reference");
    if (k->old)
        WARN_AT(r, id, "deprecated: %s", k->old);
}

/* ---- rules between keys, and where code and reference differ ---- */

static void without_effect(struct option_json_reading *r, enum option_key_id id, const char *why)
{
    if (!is_given(r, id))
        return;
    r->out->key[id].has_no_effect = true;
    WARN_AT(r, id, "no effect: %s", why);
}

static void check_training(struct option_json_reading *r)
{
    const bool is_on = holds(r, KEY_TRAINING_TRACE, "on");
    static const enum option_key_id points[] = { KEY_FP_POINT, KEY_BP_POINT };
    const struct json_item *const i = &r->item[KEY_TRAINING_TRACE];
    if (is_given(r, KEY_TRAINING_TRACE) && i->end - i->at == 2)
        WARN_AT(r, KEY_TRAINING_TRACE,
                "an empty text leaves the iteration trace on in the collector; leave the key out to switch it off");
    for (size_t n = 0; n < 2; n++) {
        if (!is_given(r, points[n]))
            continue;
        if (is_on && i->end - i->at > 2 && r->item[points[n]].kind != ITEM_STRING)
            ERROR_AT(r, points[n], "E10001",
                     "invalid value %s (not a string); expected the name of an operator, or \"\"",
                     shown(r, points[n]).text);
        else if (!is_on)
            without_effect(r, points[n], "training_trace is not on");
    }
}

static void check_task_trace(struct option_json_reading *r)
{
    if (!is_given(r, KEY_TASK_TRACE))
        return;
    r->out->key[KEY_TASK_TRACE].has_no_effect = true;
    if (!r->is_bad && strcmp(r->out->key[KEY_TASK_TRACE].value, r->out->key[KEY_TASK_TIME].value) != 0)
        WARN_AT(r, KEY_TASK_TRACE,
                "its value is ignored, task_time decides (%s); the option reference describes both as one switch",
                r->out->key[KEY_TASK_TIME].value);
}

static void check_instructions(struct option_json_reading *r)
{
    static const enum option_key_id others[] = { KEY_TRAINING_TRACE, KEY_TASK_TRACE,  KEY_TASK_TIME, KEY_HCCL,
                                                 KEY_AICPU,          KEY_AIC_METRICS, KEY_L2,        KEY_RUNTIME_API,
                                                 KEY_ASCENDCL };
    const struct option_key *const k = &option_keys[KEY_INSTR_FREQ];
    if (!holds(r, KEY_INSTR, "on")) {
        without_effect(r, KEY_INSTR_FREQ,
                       "instr_profiling is not on; the option reference says that the frequency alone enables it");
        return;
    }
    if (r->chip < 15)
        WARN_AT(r, KEY_INSTR, "accepted, but the option reference has it for the 950 only");
    const long long cycles = is_given(r, KEY_INSTR_FREQ) && r->out->key[KEY_INSTR_FREQ].value
                                 ? strtoll(r->out->key[KEY_INSTR_FREQ].value, NULL, 10)
                                 : k->low;
    if (cycles < k->low || cycles > k->high)
        ERROR_AT(r, KEY_INSTR_FREQ, "EK0003", "invalid value %s; expected an integer from %u to %u",
                 shown(r, KEY_INSTR_FREQ).text, k->low, k->high);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_given(r, others[i])) {
            WARN_AT(
                r, others[i],
                "accepted together with instr_profiling, but the option reference says that they exclude each other");
            return;
        }
}

static void check_together(struct option_json_reading *r)
{
    struct options_json *const out = r->out;
    if (out->front_end == TF) {
        check_training(r);
        check_task_trace(r);
        if (!is_given(r, KEY_AIC_METRICS))
            say(r, ASCOPE_INFO, NOWHERE, "aic_metrics", "",
                "not given, so no counters are recorded; the option reference calls PipeUtilization the default");
    }
    check_instructions(r);
    if (!is_given(r, KEY_HARDWARE_MEM_FREQ))
        without_effect(r, KEY_LLC, "sys_hardware_mem_freq is not given");
    if (!is_given(r, KEY_HOST_USAGE))
        without_effect(r, KEY_HOST_USAGE_FREQ, "host_sys_usage is not given");
    if (holds(r, KEY_TASK_TIME, "off") || holds(r, KEY_TASK_TIME, "l0"))
        without_effect(r, KEY_AIC_METRICS, "counters need task_time on, l1 or l2");
}

/* ---- into the recorder's options ---- */

static bool is_of_rows(enum option_key_id id)
{
    return id != KEY_INSTR_FREQ && option_keys[id].recorder;
}

static void text_set(struct ascope_options *o, const struct recorder_option *row, const char *value)
{
    const char *const text = *value ? value : NULL;
    /* set directly: option_set() would copy the text and never free it */
    memcpy((char *)o + row->at, &text, sizeof text);
}

static void options_fill(struct option_json_reading *r)
{
    struct options_json *const out = r->out;
    struct ascope_options *const o = &out->o;
    for (size_t i = 0; i < OPTION_KEYS; i++) {
        const char *const value = out->key[i].value;
        const bool is_off = value && option_keys[i].type == KEY_IS_INTEGER && !out->key[i].is_given;
        if (!value || !is_of_rows((enum option_key_id)i) || is_off || out->key[i].has_no_effect ||
            (option_keys[i].is_list && !out->key[i].is_given))
            continue;
        const struct recorder_option *const row = recorder_option_find(option_keys[i].recorder);
        if (i == KEY_OPTYPE && !out->key[i].is_given)
            continue;
        if (row->is.kind == ASCOPE_OPTION_TEXT || row->is.kind == ASCOPE_OPTION_NAMES)
            text_set(o, row, value);
        else
            option_set(o, row, value);
    }
    if (holds(r, KEY_HCCL, "on")) /* "off" leaves the decision to the level */
        option_set(o, recorder_option_find("hccl"), "on");
    if (out->front_end == ACL)
        option_set(o, recorder_option_find("training_trace"), "on");
    if (holds(r, KEY_INSTR, "on") && is_given(r, KEY_INSTR_FREQ))
        option_set(o, recorder_option_find("instr_profiling_freq"), out->key[KEY_INSTR_FREQ].value);
    if (r->chip >= 15 && !is_given(r, KEY_LOW_POWER_FREQ)) { /* these chips always sample it */
        out->key[KEY_LOW_POWER_FREQ].value = "100";
        o->low_power_hz = 100;
    }
}

/* ---- the text ---- */

/* Sets the defaults. */
static void option_json_begin(struct option_json_reading *r)
{
    struct options_json *const out = r->out;
    ascope_options_init(&out->o);
    if (r->request->before)
        sized_over(&out->o, sizeof out->o, r->request->before);
    out->o.size = sizeof out->o;
    out->o.layout = ASCOPE_LAYOUT_PROF;
    out->o.metrics = ASCOPE_NO_METRICS;
    for (size_t i = 0; i < OPTION_KEYS; i++) {
        const struct option_key *const k = &option_keys[i];
        if (k->front_ends & out->front_end)
            out->key[i].value = out->front_end == ACL && k->absent_acl ? k->absent_acl : k->absent;
    }
    if (out->front_end == ACL && r->chip == 7)
        out->key[KEY_AIC_METRICS].value = "PipelineExecuteUtilization";
}

/* Finds all keys first, because only the last of equal keys is examined. */
static void keys_find(struct option_json_reading *r, struct json_item object)
{
    struct json_item key, value;
    for (size_t at = 0; json_member_next(r->text, object, &at, &key, &value);) {
        size_t n;
        char *const name = json_item_text(r->text, key, &n);
        r->is_short |= !name;
        const struct option_key *const k = name ? option_key_find(name, n, r->out->front_end) : NULL;
        if (name && !k) {
            const bool is_other = option_key_find(name, n, TF | ACL) != NULL;
            say(r, ASCOPE_ERROR, (long)key.at, NULL, r->out->front_end == ACL ? "EK0005" : "EK0001",
                "%.60s: unknown key%s; remove it", name,
                !is_other                 ? ""
                : r->out->front_end == TF ? " of profiling_options (acl.json has it)"
                                          : " of acl.json (profiling_options has it)");
        } else if (k) {
            const size_t i = (size_t)(k - option_keys);
            if (r->out->key[i].is_given)
                say(r, ASCOPE_WARNING, (long)key.at, k->name, "", "given again; the last one counts");
            r->out->key[i].is_given = true;
            r->key[i] = key;
            r->item[i] = value;
        }
        free(name);
    }
}

static void values_check(struct option_json_reading *r, struct json_item object)
{
    struct json_item key, value;
    for (size_t at = 0; json_member_next(r->text, object, &at, &key, &value);)
        for (size_t i = 0; i < OPTION_KEYS; i++)
            if (r->out->key[i].is_given && r->key[i].at == key.at)
                check_value(r, (enum option_key_id)i);
    if (!is_given(r, KEY_OUTPUT))
        place_usual(r);
    if (!is_given(r, KEY_AIC_METRICS) && r->out->front_end == ACL)
        check_metrics(r, KEY_AIC_METRICS, r->out->key[KEY_AIC_METRICS].value);
}

/* The last member "profiler" of an object. */
static bool section_find(const char *text, struct json_item object, struct json_item *out)
{
    struct json_item key, value;
    bool is_there = false;
    for (size_t at = 0; json_member_next(text, object, &at, &key, &value);) {
        size_t n;
        char *const name = json_item_text(text, key, &n);
        if (name && strcmp(name, "profiler") == 0) {
            is_there = true;
            *out = value;
        }
        free(name);
    }
    return is_there;
}

static bool object_read(struct option_json_reading *r, struct json_item object)
{
    option_json_begin(r);
    keys_find(r, object);
    values_check(r, object);
    if (!r->is_bad)
        check_together(r);
    if (!r->is_bad)
        options_fill(r);
    r->out->is_on = !r->is_bad && (r->out->front_end == TF || holds(r, KEY_SWITCH, "on"));
    return !r->is_bad;
}

static bool acl_read(struct option_json_reading *r, struct json_item whole, bool is_section, struct json_item section)
{
    if (!is_section) {
        say(r, ASCOPE_INFO, NOWHERE, NULL, "", "no member profiler: profiling stays off");
        option_json_begin(r);
        (void)whole;
        return true;
    }
    if (section.kind != ITEM_OBJECT)
        say(r, ASCOPE_ERROR, (long)section.at, "profiler", "EK0003",
            "not an object; expected {\"switch\": \"on\", ...}");
    else if (section.end - section.at > SECTION_MOST)
        say(r, ASCOPE_ERROR, (long)section.at, "profiler", "EK0003", "%zu bytes; at most %d are accepted",
            section.end - section.at, SECTION_MOST);
    else
        object_read(r, section);
    return !r->is_bad;
}

static bool is_blank(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && memchr(" \t\r\n", text[i], 4))
        i++;
    return i == n;
}

static bool text_read(struct option_json_reading *r, const char *text, size_t n)
{
    struct options_json *const out = r->out;
    const struct json_limits of_tf = { 64, 64, false }, of_acl = { 10, 10, true };
    struct json_fault fault;
    struct json_item whole, section = { 0 };
    const bool is_json = json_items_check(text, n, &of_acl, &whole, &fault);
    const bool is_section = is_json && whole.kind == ITEM_OBJECT && section_find(text, whole, &section);
    if (!out->front_end)
        out->front_end = is_section ? ACL : TF;
    if (out->front_end == ACL && is_blank(text, n))
        return acl_read(r, whole, false, section);
    if (out->front_end == TF && n > TEXT_MOST)
        say(r, ASCOPE_ERROR, NOWHERE, NULL, "E10001", "%zu bytes; at most %d are accepted", n, TEXT_MOST);
    else if (out->front_end == TF && is_blank(text, n))
        say(r, ASCOPE_ERROR, NOWHERE, NULL, "EK0001", "the text is empty; expected a JSON object");
    else if (!json_items_check(text, n, out->front_end == ACL ? &of_acl : &of_tf, &whole, &fault))
        say(r, ASCOPE_ERROR, (long)fault.at, NULL, out->front_end == TF ? "E10001" : "", "%s", fault.why);
    else if (whole.kind != ITEM_OBJECT)
        say(r, ASCOPE_ERROR, (long)whole.at, NULL, out->front_end == TF ? "E10001" : "",
            "not a JSON object; expected {\"key\": \"value\", ...}");
    else if (out->front_end == ACL)
        return acl_read(r, whole, is_section, section);
    else
        return object_read(r, whole);
    return false;
}

bool options_json_read(struct options_json *out, const char *text, size_t n, const struct options_request *request)
{
    *out = (struct options_json){ .front_end = request->front_end };
    struct option_json_reading r = {
        .out = out, .request = request, .text = text, .chip = request->chip < 0 ? USUAL_CHIP : request->chip
    };
    const bool is_good = text_read(&r, text, n);
    if (r.is_short)
        say(&r, ASCOPE_ERROR, NOWHERE, NULL, "", "%s", no_memory_text());
    return is_good && !r.is_short;
}

uint64_t options_json_mask(const struct options_json *j)
{
    const uint64_t mask = options_data_mask(&j->o);
    return ((mask | (mask & DATA_TASK_L1 ? DATA_TASK_L0 : 0)) & ~(DATA_MARKS | DATA_HCCL)) |
           (j->o.more_data & DATA_HCCL) | (j->o.op_types ? DATA_OP_TYPES : 0);
}

char *options_file_read(const char *path, size_t *n, struct error *e)
{
    struct stat st;
    int why = 0;
    char *const full = realpath(path, NULL), *text = NULL; /* the user's own link is followed */
    const int fd = file_open(AT_FDCWD, full ? full : path, &st, &why);
    free(full);
    if (fd < 0) {
        error_set(e, FAULT_IO, "%s: %s", path, read_trouble(why));
        return NULL;
    }
    if (st.st_size > FILE_MOST)
        error_set(e, FAULT_FORMAT, "%s: %lld bytes; at most %d are accepted", path, (long long)st.st_size, FILE_MOST);
    else if (!(text = malloc((size_t)st.st_size + 1)))
        error_no_memory(e, path);
    else if (!file_read(fd, text, (size_t)st.st_size, n, &why)) {
        error_set(e, FAULT_IO, "%s: %s", path, read_trouble(why));
        free(text);
        text = NULL;
    }
    close(fd);
    if (text)
        text[*n] = '\0';
    return text;
}
