/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/msprof/msprof_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a)  (sizeof(a) / sizeof *(a))
#define GIVEN(id) (l->value[id] != NULL)

enum { MOST_WORDS = 512, MOST_OWN_PATH = 512 };

void msprof_say(const struct msprof_line *l, enum msprof_severity severity, const char *fmt, ...)
{
    char text[1000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    l->say(l->to, severity, text);
}

/* ---- one option ---- */

/* Finds an option by its full name or by an unambiguous prefix. NULL: reported. */
static const struct msprof_row *msprof_line_find(const struct msprof_line *l, const char *word)
{
    const struct msprof_row *exact = msprof_find(word), *found = NULL;
    const size_t n = strcspn(word + 2, "=");
    const char *other = NULL;
    if (exact)
        return exact;
    for (size_t i = 0; i < MSPROF_OPTIONS; i++) {
        if (strncmp(msprof_rows[i].name, word + 2, n) != 0)
            continue;
        other = found ? msprof_rows[i].name : other;
        found = found ? found : &msprof_rows[i];
    }
    if (!found || other) {
        msprof_say(l, MSPROF_UNKNOWN, found ? "--%.*s: ambiguous option: --%s or --%s" : "--%.*s: unknown option",
                   (int)(n < 80 ? n : 80), word + 2, found ? found->name : "", other ? other : "");
        return NULL;
    }
    return found;
}

static enum msprof_verdict set(struct msprof_line *l, const struct msprof_row *r, const char *value)
{
    const size_t id = (size_t)(r - msprof_rows);
    if (msprof_is_refused(r, l->on.chip)) {
        msprof_say(l, MSPROF_ERROR, "--%s: not available on chip %d", msprof_name(l, r), l->on.chip);
        return MSPROF_NEEDS_USAGE;
    }
    if (r->kind == MSPROF_FLAG)
        return MSPROF_WANTS_HELP;
    if (!value && id == MSPROF_STORAGE_LIMIT) { /* as in the reference */
        msprof_say(l, MSPROF_WARNING, "--%s: missing value; ignored", msprof_name(l, r));
        return MSPROF_GOOD;
    }
    if (!value) {
        msprof_say(l, MSPROF_ERROR, "--%s: missing value, as in --name=value; accepted are %s", msprof_name(l, r),
                   msprof_accepted(l, r));
        return MSPROF_REFUSED;
    }
    if (!msprof_value_check(l, r, &value))
        return MSPROF_REFUSED;
    const bool adds =
        id == MSPROF_HOST_SYS && l->value[id]; /* values of --host-sys accumulate; of all others the last one counts */
    l->value[id] = adds ? arena_printf(l->mem, "%s,%s", l->value[id], value) : value;
    return !adds || l->value[id] ? MSPROF_GOOD : MSPROF_REFUSED;
}

enum msprof_verdict msprof_take(struct msprof_line *l, const char *word)
{
    const char *const sign = strchr(word, '=');
    const struct msprof_row *const r = msprof_line_find(l, word);
    return r ? set(l, r, sign ? sign + 1 : NULL) : MSPROF_NEEDS_USAGE;
}

/* ---- conflicting options ---- */

static bool msprof_line_refuse(struct msprof_line *l, const char *text)
{
    msprof_say(l, MSPROF_ERROR, "%s", text);
    return false;
}

static bool dynamic_is_good(struct msprof_line *l)
{
    static const enum msprof_option not_with[] = { MSPROF_SYS_DEVICES, MSPROF_SYS_PERIOD, MSPROF_CPU };
    const bool is_on = msprof_is_on(l, MSPROF_DYNAMIC);
    if (GIVEN(MSPROF_PID) && !is_on)
        return msprof_line_refuse(l, "--pid: requires --dynamic=on");
    if (GIVEN(MSPROF_PID) && l->program)
        return msprof_line_refuse(l, "--pid: not together with a program; give one of them");
    if (is_on && !GIVEN(MSPROF_PID) && !l->program)
        return msprof_line_refuse(l, "--dynamic=on: give a program or --pid=N");
    for (size_t i = 0; is_on && i < COUNT(not_with); i++)
        if (GIVEN(not_with[i])) {
            msprof_say(l, MSPROF_ERROR, "--dynamic=on: not together with --%s", msprof_rows[not_with[i]].name);
            return false;
        }
    return true;
}

static bool marks_are_good(struct msprof_line *l)
{
    const bool includes = GIVEN(MSPROF_DOMAIN_INCLUDE), excludes = GIVEN(MSPROF_DOMAIN_EXCLUDE);
    if (includes && excludes)
        return msprof_line_refuse(l, "--mstx-domain-include: not together with --mstx-domain-exclude");
    if ((includes || excludes) && !msprof_is_on(l, MSPROF_MSPROFTX))
        return msprof_line_refuse(l, includes ? "--mstx-domain-include: requires --msproftx=on"
                                              : "--mstx-domain-exclude: requires --msproftx=on");
    return true;
}

static bool blocks_are_good(struct msprof_line *l)
{
    enum { BLOCKS_BY_TYPE = 16 };
    const char *const blocks = l->value[MSPROF_TASK_BLOCK];
    if (l->on.chip != BLOCKS_BY_TYPE || !blocks || strcmp(blocks, "all") != 0 || GIVEN(MSPROF_OPTYPE))
        return true;
    return msprof_line_refuse(l, "--task-block=all: requires --optype on this chip");
}

/* ---- modes ---- */

static const enum msprof_option parsing_switch[] = { MSPROF_PARSE, MSPROF_QUERY, MSPROF_EXPORT, MSPROF_ANALYZE };

static enum msprof_mode mode_of(const struct msprof_line *l)
{
    static const enum msprof_mode mode[] = { MSPROF_IN_PARSE, MSPROF_IN_QUERY, MSPROF_IN_EXPORT, MSPROF_IN_ANALYZE };
    const char *const type = l->value[MSPROF_TYPE];
    if (l->program || msprof_is_on(l, MSPROF_DYNAMIC))
        return MSPROF_IN_APPLICATION;
    if (GIVEN(MSPROF_SYS_DEVICES) || GIVEN(MSPROF_HOST_SYS) || GIVEN(MSPROF_HOST_USAGE))
        return MSPROF_IN_SYSTEM;
    for (size_t i = 0; i < COUNT(parsing_switch); i++)
        if (msprof_is_on(l, parsing_switch[i]))
            return mode[i] == MSPROF_IN_EXPORT && type && strcmp(type, "db") == 0 ? MSPROF_IN_EXPORT_DB : mode[i];
    return 0;
}

/* clang-format off */
enum { LISTED = 10 };
static const struct {
    enum msprof_mode mode;
    const char *what;
    uint8_t forbidden[LISTED + 1], required[2]; /* both end with MSPROF_OUTPUT, which is 0 and never listed */
    bool needs_output;
} rules[] = {
    { MSPROF_IN_SYSTEM, "a run without a program", { 0 }, { MSPROF_SYS_PERIOD }, false },
    { MSPROF_IN_PARSE, "--parse=on",
      { MSPROF_QUERY, MSPROF_EXPORT, MSPROF_ANALYZE, MSPROF_RULE, MSPROF_CLEAR }, { 0 }, true },
    { MSPROF_IN_QUERY, "--query=on",
      { MSPROF_PARSE, MSPROF_EXPORT, MSPROF_ANALYZE, MSPROF_RULE, MSPROF_CLEAR }, { 0 }, true },
    { MSPROF_IN_EXPORT, "--export=on", { MSPROF_QUERY, MSPROF_PARSE, MSPROF_ANALYZE, MSPROF_RULE }, { 0 }, true },
    { MSPROF_IN_EXPORT_DB, "--export=on --type=db",
      { MSPROF_QUERY, MSPROF_PARSE, MSPROF_ANALYZE, MSPROF_RULE, MSPROF_ITERATION_ID, MSPROF_MODEL_ID,
        MSPROF_SUMMARY_FORMAT, MSPROF_CLEAR, MSPROF_REPORTS }, { 0 }, true },
    { MSPROF_IN_ANALYZE, "--analyze=on", { MSPROF_QUERY, MSPROF_EXPORT, MSPROF_PARSE }, { 0 }, true },
};
/* clang-format on */

/* As in the reference, forbidden options are reported before missing ones, whatever their values. */
static bool rules_hold(struct msprof_line *l)
{
    for (size_t i = 0; i < COUNT(rules); i++) {
        if (rules[i].mode != l->mode)
            continue;
        for (const uint8_t *id = rules[i].forbidden; *id; id++)
            if (GIVEN(*id)) {
                msprof_say(l, MSPROF_ERROR, "--%s: not allowed with %s", msprof_rows[*id].name, rules[i].what);
                return false;
            }
        for (const uint8_t *id = rules[i].required; *id; id++)
            if (!GIVEN(*id) && !l->is_friendly) {
                msprof_say(l, MSPROF_ERROR, "%s: requires --%s=%s", rules[i].what, msprof_rows[*id].name,
                           msprof_rows[*id].value);
                return false;
            }
        if (rules[i].needs_output && !GIVEN(MSPROF_OUTPUT)) {
            msprof_say(l, MSPROF_ERROR, "%s: requires --output=DIR, the directory of the collection", rules[i].what);
            return false;
        }
    }
    return true;
}

static void name_useless(struct msprof_line *l)
{
    char names[700] = "";
    size_t used = 0;
    for (size_t i = 0; i < MSPROF_OPTIONS; i++)
        if (GIVEN(i) && !(msprof_rows[i].modes & l->mode) && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s--%s", used > 0 ? ", " : "",
                                     msprof_name(l, &msprof_rows[i]));
    if (used > 0)
        msprof_say(l, MSPROF_WARNING, "no effect here: %s", names);
}

/* Restricts --sys-devices to devices that are online. False: none is. */
static bool devices_are_there(struct msprof_line *l)
{
    const char *const asked = l->value[MSPROF_SYS_DEVICES];
    if (!asked || strcmp(asked, "all") == 0 || GIVEN(MSPROF_HOST_SYS) || GIVEN(MSPROF_HOST_USAGE))
        return true;
    char *rest = arena_text(l->mem, asked, strlen(asked)), *left = arena_take(l->mem, strlen(asked) + 2, 1);
    size_t used = 0;
    for (char *one; rest && left && (one = strsep(&rest, ","));) {
        size_t i = 0;
        char number[12];
        while (i < l->on.n_devices &&
               (snprintf(number, sizeof number, "%u", l->on.device[i]), strcmp(number, one) != 0))
            i++;
        if (i < l->on.n_devices)
            used += (size_t)sprintf(left + used, "%s%s", used > 0 ? "," : "", one);
        else
            msprof_say(l, MSPROF_WARNING, "--sys-devices: device %s is not online; ignored", one);
    }
    if (used == 0)
        return msprof_line_refuse(l, "--sys-devices: none of these devices is online; see ascope doctor");
    l->value[MSPROF_SYS_DEVICES] = left;
    return true;
}

static bool system_is_good(struct msprof_line *l)
{
    size_t n = 0;
    for (size_t i = 0; i < MSPROF_OPTIONS; i++)
        n += GIVEN(i) && i != MSPROF_OUTPUT && i != MSPROF_SYS_PERIOD;
    if (n == 1 && GIVEN(MSPROF_SYS_DEVICES)) {
        msprof_say(l, MSPROF_WARNING, "--sys-devices: nothing to record; give a switch, such as --sys-hardware-mem=on");
        return false;
    }
    if (GIVEN(MSPROF_HOST_SYS) && !GIVEN(MSPROF_HOST_SYS_PID))
        return msprof_line_refuse(l, "--host-sys: requires a program or --host-sys-pid=N");
    return devices_are_there(l);
}

enum msprof_verdict msprof_end(struct msprof_line *l)
{
    bool parses = false;
    for (size_t i = 0; i < COUNT(parsing_switch); i++)
        parses |= msprof_is_on(l, parsing_switch[i]);
    if (!dynamic_is_good(l) || !marks_are_good(l) || !blocks_are_good(l) || !msprof_check_output(l, parses))
        return MSPROF_REFUSED;
    l->mode = mode_of(l);
    if (!l->mode) {
        msprof_say(l, MSPROF_ERROR,
                   "nothing to do: give a program, --application, --sys-devices, --host-sys, --host-sys-usage, "
                   "--export=on, --parse=on, --query=on or --analyze=on");
        return MSPROF_NEEDS_USAGE;
    }
    if (!rules_hold(l))
        return MSPROF_REFUSED;
    name_useless(l);
    if (l->mode != MSPROF_IN_SYSTEM)
        return MSPROF_GOOD;
    if (l->on.is_virtual_device) {
        msprof_say(l, MSPROF_WARNING, "a container with a part of a device cannot be recorded without a program");
        return MSPROF_NOT_HERE;
    }
    return system_is_good(l) ? MSPROF_GOOD : MSPROF_REFUSED;
}

/* ---- a whole line ---- */

/* Takes the program and its arguments, without empty ones, as the reference does. False: no memory. */
static bool program_take(struct msprof_line *l, int n, char **word)
{
    char **argv = arena_take(l->mem, (size_t)n + 1, sizeof *argv);
    size_t used = 0;
    for (int i = 0; argv && i < n; i++)
        if (*word[i])
            argv[used++] = word[i];
    if (!l->program && used > 0) /* --application takes precedence */
        l->program = argv;
    return argv != NULL;
}

/* Of options without "=", which swallow the next word, only this one uses it as its value. */
static bool takes_next(const char *word)
{
    const struct msprof_row *const r = msprof_find(word);
    return r && r - msprof_rows == MSPROF_AICORE_SHAPE;
}

static const char *with_sign(struct msprof_line *l, const char *word, const char *value)
{
    const char *const text = arena_printf(l->mem, "%s=%s", word, value);
    return text ? text : word;
}

enum msprof_verdict msprof_read(struct msprof_line *l, int argc, char **argv)
{
    if (argc < 2)
        return MSPROF_NEEDS_USAGE;
    if (argc > MOST_WORDS || strlen(argv[0]) > MOST_OWN_PATH) {
        msprof_say(l, MSPROF_ERROR, argc > MOST_WORDS ? "more than %d words" : "own path of more than %d bytes",
                   MOST_WORDS);
        return MSPROF_REFUSED;
    }
    bool is_over = false; /* after "--", words that begin with "--" are ignored */
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        const bool has_next = !strchr(argv[i], '=') && i + 1 < argc && argv[i + 1][0] != '-';
        const char *word = has_next && takes_next(argv[i]) ? with_sign(l, argv[i], argv[i + 1]) : argv[i];
        is_over |= !argv[i][2];
        const enum msprof_verdict v = is_over ? MSPROF_GOOD : msprof_take(l, word);
        if (v != MSPROF_GOOD)
            return v;
        i += has_next;
    }
    if (i < argc && !program_take(l, argc - i, argv + i))
        return MSPROF_REFUSED;
    return msprof_end(l);
}
