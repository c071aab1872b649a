/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "base/text/path_name.h"
#include "cli/msprof/msprof_line.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raw/core_events.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char digits[] = "0123456789", hex_digits[] = "0123456789abcdefABCDEF";

/* ---- parts of values ---- */

/* Splits a text at a separator. "a,,b" and "a," contain an empty piece. */
struct msprof_values_pieces {
    const char *at;
    char separator;
    char piece[80]; /* longer pieces are truncated, and are invalid anyway */
};

static bool pieces_next(struct msprof_values_pieces *p)
{
    if (!p->at)
        return false;
    const char *const end = strchr(p->at, p->separator);
    const size_t n = end ? (size_t)(end - p->at) : strlen(p->at);
    snprintf(p->piece, sizeof p->piece, "%.*s", (int)(n < INT_MAX ? n : INT_MAX), p->at);
    p->at = end ? end + 1 : NULL;
    return true;
}

static bool is_number(const char *text, uint64_t low, uint64_t high)
{
    errno = 0;
    const unsigned long long n = strtoull(text, NULL, 10);
    return *text && !text[strspn(text, digits)] && errno == 0 && n >= low && n <= high;
}

/* Whether a text is the number of an event, at most `high`: "0x1f", or decimal "31" if that is allowed. */
static bool is_event(const char *text, bool may_be_decimal, unsigned long high)
{
    const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (is_hex ? !text[2] || text[2 + strspn(text + 2, hex_digits)]
               : !may_be_decimal || !*text || text[strspn(text, digits)])
        return false;
    errno = 0;
    return strtoul(text, NULL, is_hex ? 16 : 10) <= high && errno == 0;
}

static bool word_fits(const struct msprof_line *l, const struct msprof_word *w)
{
    return w->chips == 0 || l->on.chip < 0 || (l->on.chip < 32 && (w->chips >> l->on.chip & 1) != 0);
}

static bool is_word(const struct msprof_line *l, const struct msprof_row *r, const char *text)
{
    for (const struct msprof_word *w = r->word; w->word; w++)
        if (strcmp(w->word, text) == 0)
            return word_fits(l, w);
    return false;
}

static const char *words_text(const struct msprof_line *l, const struct msprof_row *r)
{
    char text[200];
    size_t used = 0;
    for (const struct msprof_word *w = r->word; w->word && used < sizeof text; w++)
        if (word_fits(l, w))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "", w->word);
    return arena_text(l->mem, text, used < sizeof text ? used : sizeof text - 1);
}

static uint64_t highest(const struct msprof_line *l, const struct msprof_row *r)
{
    enum { MOST_HZ = 100, WITH_MICROSECONDS = 15 }; /* only newer chips sample more often than every 10 ms */
    const bool is_limited = r->check == msprof_check_memory_rate && l->on.chip >= 0 && l->on.chip < WITH_MICROSECONDS;
    return is_limited ? MOST_HZ : r->high;
}

const char *msprof_accepted(const struct msprof_line *l, const struct msprof_row *r)
{
    const char *text = NULL;
    switch (r->kind) {
    case MSPROF_SWITCH: return "on, off";
    case MSPROF_CHOICE: text = words_text(l, r); break;
    case MSPROF_LIST: text = arena_printf(l->mem, "any of %s, separated by commas", words_text(l, r)); break;
    case MSPROF_NUMBER:
        text = arena_printf(l->mem, "integers from %llu to %llu", (unsigned long long)r->low,
                            (unsigned long long)highest(l, r));
        break;
    case MSPROF_NAMES:
        text = arena_printf(l->mem, "names separated by commas, up to %llu bytes", (unsigned long long)r->high);
        break;
    case MSPROF_TEXT: text = arena_printf(l->mem, "%s, up to %llu bytes", r->value, (unsigned long long)r->high); break;
    case MSPROF_FLAG: return "no value";
    }
    return text ? text : "";
}

/* ---- by kind ---- */

static bool are_all(const struct msprof_line *l, const struct msprof_row *r, const char *list)
{
    bool is_good = true;
    for (struct msprof_values_pieces p = { list, ',', "" }; pieces_next(&p);)
        is_good &= r->kind == MSPROF_LIST ? is_word(l, r, p.piece) : *p.piece != '\0';
    return is_good;
}

static bool has_kind(const struct msprof_line *l, const struct msprof_row *r, const char *text)
{
    switch (r->kind) {
    case MSPROF_SWITCH: return strcmp(text, "on") == 0 || strcmp(text, "off") == 0;
    case MSPROF_CHOICE: return is_word(l, r, text);
    case MSPROF_LIST: return are_all(l, r, text);
    case MSPROF_NUMBER: return is_number(text, r->low, highest(l, r));
    case MSPROF_NAMES: return strlen(text) <= r->high && are_all(l, r, text);
    case MSPROF_TEXT: return *text && strlen(text) <= r->high;
    case MSPROF_FLAG: return true;
    }
    return false;
}

/* Reports an invalid value. Always false, for `return refuse(...)`. */
static bool msprof_values_refuse(struct msprof_line *l, const struct msprof_row *r, const char *value,
                                 const char *accepted)
{
    msprof_say(l, MSPROF_ERROR, "--%s=%.200s: invalid value; accepted are %s", msprof_name(l, r), value, accepted);
    return false;
}

bool msprof_value_check(struct msprof_line *l, const struct msprof_row *r, const char **value)
{
    if (!**value && r->may_be_empty) {
        *value = NULL;
        return true;
    }
    if (!has_kind(l, r, *value))
        return msprof_values_refuse(l, r, *value, msprof_accepted(l, r));
    return !r->check || r->check(l, r, value);
}

/* ---- rules of rows ---- */

MSPROF_RULE(msprof_check_storage_limit)
{
    enum { LEAST_MB = 200, MOST_DIGITS = 10 };
    const size_t n = strspn(*value, digits);
    char number[MOST_DIGITS + 1];
    snprintf(number, sizeof number, "%.*s", (int)(n < MOST_DIGITS ? n : MOST_DIGITS), *value);
    if (n > MOST_DIGITS || strcmp(*value + n, "MB") != 0 || !is_number(number, LEAST_MB, UINT32_MAX))
        return msprof_values_refuse(l, r, *value, "200MB to 4294967295MB, with the unit");
    return true;
}

MSPROF_RULE(msprof_check_program_file)
{
    struct stat s;
    if (stat(*value, &s) != 0 || !S_ISREG(s.st_mode) || access(*value, X_OK) != 0) {
        msprof_say(l, MSPROF_ERROR, "--%s=%s: not an executable file", msprof_name(l, r), *value);
        return false;
    }
    return true;
}

static bool is_alive(const char *pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    return access(path, F_OK) == 0;
}

/* Removes leading zeros, which names in /proc do not have. */
static const char *number_text(struct msprof_line *l, const char *text)
{
    return arena_printf(l->mem, "%llu", strtoull(text, NULL, 10));
}

MSPROF_RULE(msprof_check_live_pid)
{
    *value = number_text(l, *value);
    if (*value && is_alive(*value))
        return true;
    msprof_say(l, MSPROF_ERROR, "--%s=%s: no such process", msprof_name(l, r), *value ? *value : "");
    return false;
}

/* Keeps the processes that exist; the others are reported. */
MSPROF_RULE(msprof_check_pids)
{
    size_t n = 1;
    for (const char *c = *value; *c; c++)
        n += *c == ',';
    l->pid = arena_take(l->mem, n, sizeof *l->pid);
    l->n_pids = 0;
    for (struct msprof_values_pieces p = { *value, ',', "" }; l->pid && pieces_next(&p);) {
        if (!is_number(p.piece, 1, INT_MAX))
            return msprof_values_refuse(l, r, *value, "numbers of processes, separated by commas");
        const char *pid = number_text(l, p.piece);
        if (pid && is_alive(pid))
            l->pid[l->n_pids++] = atoi(pid);
        else
            msprof_say(l, MSPROF_WARNING, "--%s: process %s does not exist; ignored", msprof_name(l, r), p.piece);
    }
    if (l->n_pids > 0)
        return true;
    msprof_say(l, MSPROF_ERROR, "--%s=%s: none of these processes exists", msprof_name(l, r), *value);
    return false;
}

/* Sorts a list as texts and removes duplicates: "0,10,2". */
static const char *sorted_unique(struct msprof_line *l, const char *list)
{
    size_t n = 0, size = strlen(list) + 1;
    char **one = arena_take(l->mem, size, sizeof *one), *out = arena_take(l->mem, size, 1);
    char *copy = arena_text(l->mem, list, size - 1);
    if (!one || !out || !copy)
        return NULL;
    for (char *piece; (piece = strsep(&copy, ","));)
        one[n++] = piece;
    qsort(one, n, sizeof *one, compare_texts);
    for (size_t i = 0, used = 0; i < n; i++)
        if (i == 0 || strcmp(one[i], one[i - 1]) != 0)
            used += (size_t)sprintf(out + used, "%s%s", used > 0 ? "," : "", one[i]);
    return out;
}

MSPROF_RULE(msprof_check_sorted_names)
{
    (void)r;
    return (*value = sorted_unique(l, *value)) != NULL;
}

MSPROF_RULE(msprof_check_devices)
{
    enum { MOST_DEVICE = 63 };
    if (strcmp(*value, "all") == 0)
        return true;
    for (struct msprof_values_pieces p = { *value, ',', "" }; pieces_next(&p);)
        if (!is_number(p.piece, 0, MOST_DEVICE))
            return msprof_values_refuse(l, r, *value, "all, or numbers from 0 to 63 separated by commas");
    return (*value = sorted_unique(l, *value)) != NULL;
}

/* Whether a list has at most `most` valid events. */
static bool are_events(const char *list, bool may_be_decimal, unsigned long high, size_t most)
{
    size_t n = 0;
    for (struct msprof_values_pieces p = { list, ',', "" }; pieces_next(&p); n++)
        if (!is_event(p.piece, may_be_decimal, high))
            return false;
    return n <= most;
}

/* Accepts "0x1,0x2", or groups: "HA:0x1,0x2;SMMU:0x8a". */
MSPROF_RULE(msprof_check_npu_events)
{
    enum { HAS_NOC = 15 };
    static const struct {
        const char *name;
        unsigned long high;
        size_t most;
    } group[] = { { "HA", 0xff, 8 }, { "MATA", 0xff, 8 }, { "SMMU", 0x808, 8 }, { "NOC", 0x3f, 4 } };
    static const char accepted[] =
        "0x1,0x2,... or HA:0x1,...;MATA:0x2,...;SMMU:0x3,...;NOC:0x4,...: up to 8 events of each, 4 of NOC";
    unsigned seen = 0;
    if (!strchr(*value, ':'))
        return are_events(*value, false, group[0].high, group[0].most) || msprof_values_refuse(l, r, *value, accepted);
    char *copy = arena_text(l->mem, *value, strlen(*value));
    for (char *one; copy && (one = strsep(&copy, ";"));) {
        char *const colon = strchr(one, ':');
        size_t i = 0;
        while (
            colon && i < COUNT(group) &&
            (strlen(group[i].name) != (size_t)(colon - one) || strncmp(group[i].name, one, (size_t)(colon - one)) != 0))
            i++;
        if (!colon || i == COUNT(group) || seen >> i & 1 || !are_events(colon + 1, false, group[i].high, group[i].most))
            return msprof_values_refuse(l, r, *value, accepted);
        if (strcmp(group[i].name, "NOC") == 0 && l->on.chip >= 0 && l->on.chip != HAS_NOC) {
            msprof_say(l, MSPROF_ERROR, "--%s: chip %d has no NOC events", msprof_name(l, r), l->on.chip);
            return false;
        }
        seen |= 1u << i;
    }
    return true;
}

static const char custom[] = "Custom:";

/* Accepts the groups of this chip; if the chip is unknown, those of all chips. */
MSPROF_RULE(msprof_check_core_metrics)
{
    enum { USUAL_EVENTS = 8, MORE_EVENTS = 10, HAS_MORE = 15 };
    static const unsigned long any_event = ULONG_MAX;
    const struct chip *const chip = chip_of(l->on.chip);
    const size_t most = l->on.chip < 0 || l->on.chip == HAS_MORE ? MORE_EVENTS : USUAL_EVENTS;
    if (strncmp(*value, custom, sizeof custom - 1) == 0)
        return are_events(*value + sizeof custom - 1, true, any_event, most) ||
               msprof_values_refuse(l, r, *value, most == USUAL_EVENTS ? "up to 8 events" : "up to 10 events");
    char known[300] = "Custom:0x8,0xa,...";
    size_t used = strlen(known);
    const char *name;
    for (size_t i = 0; (name = core_events_name(i)); i++) {
        if (!core_events_asked(name, chip) && chip->group != ON_UNKNOWN)
            continue;
        const struct core_events *const e = core_events_asked(name, chip);
        if (strcmp(name, *value) == 0)
            return true;
        if (e && strcmp(e->cube_name, *value) == 0) { /* the name in the files of a collection */
            *value = name;
            return true;
        }
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, ", %s", name);
    }
    return msprof_values_refuse(l, r, *value, known);
}

/* Normalises events to lower-case hexadecimal numbers. */
MSPROF_RULE(msprof_check_nts_metrics)
{
    enum { MOST_EVENTS = 10, MOST_EVENT = 0x71b };
    if (strcmp(*value, "PipeUtilization") == 0)
        return true;
    const char *const list = *value + sizeof custom - 1;
    if (strncmp(*value, custom, sizeof custom - 1) != 0 || !are_events(list, true, MOST_EVENT, MOST_EVENTS))
        return msprof_values_refuse(l, r, *value, "PipeUtilization, or Custom: with 1 to 10 events from 0 to 0x71b");
    const char *text = custom;
    for (struct msprof_values_pieces p = { list, ',', "" }; text && pieces_next(&p);)
        text = arena_printf(l->mem, "%s%s0x%lx", text, text == custom ? "" : ",",
                            strtoul(p.piece, NULL, p.piece[0] == '0' && (p.piece[1] | 0x20) == 'x' ? 16 : 10));
    *value = text;
    return text != NULL;
}

/* Marks the row whose range highest() restricts. */
MSPROF_RULE(msprof_check_memory_rate)
{
    (void)l, (void)r, (void)value;
    return true;
}

MSPROF_RULE(msprof_check_going_away)
{
    (void)value;
    msprof_say(l, MSPROF_WARNING, "--%s: deprecated", r->name);
    return true;
}

/* ---- a program as one text ---- */

static bool is_interpreter(const char *name)
{
    return strcmp(name, "bash") == 0 || strcmp(name, "sh") == 0 || strcmp(name, "pmupload") == 0 ||
           strncmp(name, "python", strlen("python")) == 0;
}

/* Checks a program that is not an interpreter: it is relative to the working directory, not searched in PATH. */
static bool program_is_good(struct msprof_line *l, const struct msprof_row *r, char **program)
{
    static const char in_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    struct stat s;
    char cwd[PATH_MAX] = "";
    char *const full = **program == '/'          ? *program
                       : getcwd(cwd, sizeof cwd) ? arena_printf(l->mem, "%s/%s", cwd, *program)
                                                 : NULL;
    const char *problem = NULL;
    if (!full || lstat(full, &s) != 0)
        problem = "no such file";
    else if (!strchr(*program, '/'))
        problem = "a name without a directory; give a path, such as ./NAME, or write the program after the options";
    else if (S_ISLNK(s.st_mode))
        problem = "a symbolic link; give the file itself";
    else if (!S_ISREG(s.st_mode))
        problem = "not a regular file";
    else if (access(full, X_OK) != 0)
        problem = "not executable";
    else if (path_name(full)[strspn(path_name(full), in_names)])
        problem = "its name has characters other than letters, digits, _ - and .; write the program after the options";
    if (problem) {
        msprof_say(l, MSPROF_ERROR, "--%s: %s: %s", msprof_name(l, r), *program, problem);
        return false;
    }
    *program = full;
    l->program_dir = arena_text(l->mem, full, path_name(full) > full + 1 ? (size_t)(path_name(full) - full - 1) : 1);
    return l->program_dir != NULL;
}

static bool interpreter_is_good(struct msprof_line *l, const struct msprof_row *r, char *const *argv)
{
    if (!argv[1]) {
        msprof_say(l, MSPROF_ERROR, "--%s: %s: missing the script that it runs", msprof_name(l, r), argv[0]);
        return false;
    }
    if (strchr(argv[0], '/') && access(argv[0], X_OK) != 0) {
        msprof_say(l, MSPROF_ERROR, "--%s: %s: %s", msprof_name(l, r), argv[0], strerror(errno));
        return false;
    }
    return true;
}

/* Splits the value at blanks; quotes and backslashes have no special meaning. */
MSPROF_RULE(msprof_check_application)
{
    char *rest = arena_text(l->mem, *value, strlen(*value));
    char **argv = arena_take(l->mem, strlen(*value) + 1, sizeof *argv);
    size_t n = 0;
    if (!rest || !argv)
        return false;
    for (char *word; (word = strsep(&rest, " "));)
        if (*word)
            argv[n++] = word;
    if (n == 0)
        return msprof_values_refuse(l, r, *value, "a program and its arguments");
    const char *const home = argv[0][0] == '~' && (argv[0][1] == '/' || !argv[0][1]) ? getenv("HOME") : NULL;
    if (home && !(argv[0] = arena_printf(l->mem, "%s%s", home, argv[0] + 1)))
        return false;
    l->program_dir = NULL;
    if (!(is_interpreter(path_name(argv[0])) ? interpreter_is_good(l, r, argv) : program_is_good(l, r, &argv[0])))
        return false;
    l->program = argv;
    return true;
}

/* ---- the output directory ---- */

static const char *output_problem(const char *path, bool must_exist)
{
    struct stat s;
    if (lstat(path, &s) != 0)
        return !must_exist ? NULL : errno == ENOENT ? "no such directory" : strerror(errno);
    if (S_ISLNK(s.st_mode))
        return "a symbolic link; give the directory itself";
    if (!S_ISDIR(s.st_mode))
        return "not a directory";
    return !must_exist && access(path, W_OK | X_OK) != 0 ? "not writable" : NULL;
}

static bool directories_make(const char *path)
{
    enum { MODE = 0750 };
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, MODE) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return mkdir(part, MODE) == 0 || errno == EEXIST;
}

bool msprof_check_output(struct msprof_line *l, bool must_exist)
{
    static const char refused[] = "\n\f\r\b\t\v\x7f\"'\\%><|&$;`";
    const char *path = l->value[MSPROF_OUTPUT];
    if (!path)
        return true;
    const size_t at = strcspn(path, refused);
    if (path[at]) {
        msprof_say(l, MSPROF_ERROR, "--%s: character 0x%02x after %zu bytes is not allowed",
                   msprof_name(l, &msprof_rows[MSPROF_OUTPUT]), (unsigned char)path[at], at);
        return false;
    }
    char cwd[PATH_MAX] = "";
    const char *const full = *path == '/'              ? path
                             : getcwd(cwd, sizeof cwd) ? arena_printf(l->mem, "%s/%s", cwd, path)
                                                       : NULL;
    size_t n = full ? strlen(full) : 0;
    while (n > 1 && full[n - 1] == '/') /* a trailing slash would make lstat() follow a link */
        n--;
    char *const plain = full ? arena_text(l->mem, full, n) : NULL;
    const char *problem = plain ? output_problem(plain, must_exist) : strerror(errno);
    if (!problem && !must_exist && !directories_make(plain))
        problem = strerror(errno);
    if (problem) {
        msprof_say(l, MSPROF_ERROR, "--%s=%s: %s", msprof_name(l, &msprof_rows[MSPROF_OUTPUT]), path, problem);
        return false;
    }
    l->value[MSPROF_OUTPUT] = plain;
    return true;
}
