/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/msprof/msprof_line.h"
#include "cli/options/command.h"
#include "cli/options/option_table.h"
#include "cli/run/collecting.h"
#include "collect/options/option_rows.h"
#include "pipeline/prof_write.h"
#include "report/term.h"
#include "run/run.h"

/* `ascope run --acl-json FILE`: records what the acl.json of the program requests. */

enum run_acl { RUN_ACL_ON, RUN_ACL_OFF, RUN_ACL_REFUSED };

static void print_remark(void *to, const struct options_remark *r)
{
    const struct arguments *const a = to;
    struct remark_line line;
    options_remark_line(&line, a->run.acl_json, r);
    if (r->severity == ASCOPE_ERROR)
        complain("%s", line.text);
    else if (r->severity == ASCOPE_WARNING && !a->quiet)
        complain("warning: %s", line.text);
}

/* The directory of the program that execvp() would start. */
static const char *directory_of(const struct arguments *a, const char *program)
{
    const char *const path = strchr(program, '/') ? NULL : getenv("PATH");
    const char *found = program;
    for (const char *at = path; at && *at; at += *at == ':') {
        const size_t n = strcspn(at, ":");
        const char *const file = arena_printf(a->mem, "%.*s/%s", (int)n, at, program);
        if (file && access(file, X_OK) == 0) {
            found = file;
            break;
        }
        at += n;
    }
    char *const full = realpath(found, NULL);
    char *const slash = full ? strrchr(full, '/') : NULL;
    const char *const dir = slash ? arena_text(a->mem, full, slash == full ? 1 : (size_t)(slash - full)) : ".";
    free(full);
    return dir;
}

/* Rejects options that the file decides, too. False: reported. */
static bool is_clear(const struct arguments *a)
{
    static const uint8_t twice[] = { OPT_RUN_HOST_SYS, OPT_RUN_LEVEL, OPT_RUN_METRICS, OPT_RUN_MARKS,
                                     OPT_RUN_STORAGE_LIMIT };
    const char *other = a->run.more.n > 0 ? a->run.more.at[0] : NULL;
    for (size_t i = 0; i < sizeof twice && !other; i++)
        if (arguments_have(a, twice[i]))
            other = arena_printf(a->mem, "--%s", option_rows[twice[i]].name);
    if (other)
        complain("--acl-json and %s: the file decides what is recorded; remove one of them", other);
    return !other;
}

/* Replaces the recorder options of a request with a program, except the device and directory of the command line.
 * Texts are in a->mem. chip: platform number, -1: unknown. RUN_ACL_REFUSED: reported. */
static enum run_acl run_acl_fill(const struct arguments *a, struct recorded_run *r, int chip)
{
    struct error e = { 0 };
    size_t n = 0;
    if (!is_clear(a))
        return RUN_ACL_REFUSED;
    char *const text = options_file_read(a->run.acl_json, &n, &e);
    if (!text) {
        complain("%s", e.text);
        return RUN_ACL_REFUSED;
    }
    const struct options_request request = { .front_end = ASCOPE_FRONT_END_ACL_JSON,
                                             .chip = chip,
                                             .program_dir = directory_of(a, r->program[0]),
                                             .say = print_remark,
                                             .to = (void *)a };
    struct options_json j;
    const bool is_good = options_json_read(&j, text, n, &request);
    if (is_good) {
        const char *const dir = a->run.out ? r->recorder.parent_dir : j.o.parent_dir, *const device =
                                                                                          r->recorder.device;
        ascope_options_check(&j.o); /* its texts last from now on */
        j.o.parent_dir = dir ? arena_text(a->mem, dir, strlen(dir)) : NULL;
        j.o.device = device;
        r->recorder = j.o;
    }
    const enum run_acl result = !is_good ? RUN_ACL_REFUSED : j.is_on ? RUN_ACL_ON : RUN_ACL_OFF;
    options_json_fini(&j);
    free(text);
    return result;
}

enum { CODE_NOT_STARTED = 127 };

size_t run_other_option(struct arguments *a, char *const *given)
{
    const char *word = given[0];
    const bool is_of_msprof = strncmp(word, "--", 2) == 0 && msprof_find(word);
    const enum python_option found = is_of_msprof ? PYTHON_OPTION_COMPLETE : python_option(word, a->mem);
    const bool has_value = found == PYTHON_OPTION_LACKS_VALUE && given[1] && given[1][0] != '-';
    if (found == PYTHON_OPTION_UNKNOWN)
        return 0;
    if (has_value)
        word = arena_printf(a->mem, "%s=%s", word, given[1]);
    const char **const at = is_of_msprof ? list_add(&a->run.more, a->mem) : list_add(&a->run.front_end, a->mem);
    if (!at || !word)
        return 0;
    *at = word;
    return has_value ? 2 : 1;
}

static void print_message(void *to, enum msprof_severity severity, const char *text)
{
    const struct arguments *const a = to;
    if (severity == MSPROF_ERROR || severity == MSPROF_UNKNOWN)
        complain("%s", text);
    else if (!a->quiet)
        complain("note: %s", text);
}

/* Takes an option of msprof that stands for one of ours. Its checks report invalid values. */
static __attribute__((format(printf, 2, 3))) bool take(struct msprof_line *l, const char *fmt, ...)
{
    char word[5000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(word, sizeof word, fmt, args);
    va_end(args);
    char *const kept = arena_text(l->mem, word, strlen(word));
    l->is_friendly_name[msprof_find(word) - msprof_rows] = true;
    return kept && msprof_take(l, kept) == MSPROF_GOOD;
}

/* Translates our options into those of msprof. Options that were given under msprof's names come last and take
 * precedence. */
static bool options_fill(struct msprof_line *l, const struct arguments *a)
{
    const struct run_words *const w = &a->run;
    const bool is_attached = !l->program && w->pid && !w->is_interactive;
    bool is_good = true;
    if (w->out)
        is_good = is_good && take(l, "--output=%s", w->out);
    if (w->level)
        is_good = is_good && take(l, "--task-time=%s%s", strcmp(w->level, "off") == 0 ? "" : "l", w->level);
    if (w->metrics)
        is_good = is_good && (strcmp(w->metrics, "none") == 0 ? take(l, "--ai-core=off")
                                                              : take(l, "--aic-metrics=%s", w->metrics));
    if (w->delay_s)
        is_good = is_good && take(l, "--delay=%u", w->delay_s);
    if (w->duration_s)
        is_good = is_good && take(l, is_attached ? "--sys-period=%u" : "--duration=%u", w->duration_s);
    if (w->period_s)
        is_good = is_good && take(l, "--sys-period=%u", w->period_s);
    if (w->environment)
        is_good = is_good && take(l, "--environment=%s", w->environment);
    if (w->storage_bytes)
        is_good = is_good && take(l, "--storage-limit=%lluMB", (unsigned long long)(w->storage_bytes >> 20));
    if (w->is_interactive)
        is_good = is_good && take(l, "--dynamic=on");
    if (w->host_sys && strcmp(w->host_sys, "none") != 0)
        is_good = is_good && take(l, "--host-sys=%s", w->host_sys);
    if (w->pid)
        is_good = is_good && take(l, w->is_interactive ? "--pid=%s" : "--host-sys-pid=%s", w->pid);
    if (l->program || w->is_interactive)
        is_good = is_good && take(l, "--msproftx=%s", w->marks ? "on" : "off");
    for (size_t i = 0; is_good && i < w->more.n; i++) {
        l->is_friendly_name[msprof_find(w->more.at[i]) - msprof_rows] = false;
        is_good = msprof_take(l, w->more.at[i]) == MSPROF_GOOD;
    }
    return is_good;
}

static bool host_is_asked(const struct msprof_line *l, const struct arguments *a)
{
    return l->value[MSPROF_HOST_SYS] || a->run.host_sys || l->value[MSPROF_HOST_USAGE];
}

/* Adds the default samplers, unless some were requested. */
static bool defaults_fill(struct msprof_line *l, bool is_asked)
{
    const bool is_of_process = l->program || l->value[MSPROF_HOST_SYS_PID] || l->value[MSPROF_PID];
    if (!is_of_process && l->value[MSPROF_SYS_PERIOD] && l->on.n_devices > 0 && !l->value[MSPROF_SYS_DEVICES] &&
        !take(l, "--sys-devices=all"))
        return false;
    if (is_asked)
        return true;
    if (is_of_process)
        return take(l, "--host-sys=cpu,mem,disk,network,osrt");
    return !l->value[MSPROF_SYS_PERIOD] || take(l, "--host-sys-usage=cpu,mem");
}

/* A running process is recorded like the machine, until it ends or the recording is ended. */
static void attach(struct recorded_run *r, const struct msprof_line *l)
{
    r->ends_with_host = l->mode == MSPROF_IN_SYSTEM && r->host_pid > 0;
}

/* The first given option that only the collector has; NULL: none was given. */
static const char *collector_option(const struct arguments *a)
{
    static const uint8_t outside[] = { OPT_RUN_DELAY,         OPT_RUN_DURATION, OPT_RUN_PID, OPT_RUN_INTERACTIVE,
                                       OPT_RUN_STORAGE_LIMIT, OPT_RUN_ACL_JSON, OPT_JSON };
    for (size_t i = 0; i < sizeof outside; i++)
        if (arguments_have(a, outside[i]))
            return arena_printf(a->mem, "--%s", option_rows[outside[i]].name);
    return a->run.more.n > 0 ? a->run.more.at[0] : NULL;
}

/* Appends the schedule to the options of the front end, and NULL after the last. */
static void schedule_fill(struct arguments *a)
{
    static const uint8_t rows[] = { OPT_RUN_SKIP_FIRST, OPT_RUN_SKIP_FIRST_WAIT, OPT_RUN_WAIT,
                                    OPT_RUN_WARMUP,     OPT_RUN_ACTIVE,          OPT_RUN_REPEAT };
    for (size_t i = 0; i < sizeof rows; i++) {
        if (!arguments_have(a, rows[i]))
            continue;
        const uint32_t steps = *(const uint32_t *)((const char *)a + option_rows[rows[i]].at);
        const char *const word[] = { arena_printf(a->mem, "--%s", option_rows[rows[i]].name),
                                     arena_printf(a->mem, "%u", steps) };
        for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
            const char **const at = list_add(&a->run.front_end, a->mem);
            if (at)
                *at = word[k];
        }
    }
    if (a->run.front_end.n > 0)
        (void)list_add(&a->run.front_end, a->mem); /* the NULL at the end */
}

/* Reports options of front ends in one line if no front end records the program. */
static void ignore_front_end_options(const struct arguments *a)
{
    const char *names = NULL;
    for (size_t i = 0; i < a->run.front_end.n; i++) {
        const char *const word = a->run.front_end.at[i];
        if (word && *word == '-')
            names = names ? arena_printf(a->mem, "%s, %s", names, word) : word;
    }
    if (names && !a->quiet)
        complain("note: %s: only the front end of a Python framework has such options; ignored", names);
}

/* Records a Python script whose framework has a front end by that. Returns the exit code; -1: it is no such
 * script. */
static int record_python(const struct arguments *a, const struct recorded_run *r)
{
    static const char *const dialect[] = { [DIALECT_DOCUMENTED] = "documented", [DIALECT_CURRENT] = "current" };
    const struct python_run q = { .recorder = &r->recorder,
                                  .options = (char *const *)a->run.front_end.at,
                                  .environment = r->environment,
                                  .outside = collector_option(a),
                                  .dialect = arguments_have(a, OPT_DIALECT) ? dialect[a->options.dialect] : NULL,
                                  .is_raw = a->run.no_export,
                                  .is_quiet = a->quiet,
                                  .hang_after_s = a->run.hang_after_s };
    ending_fini();
    const int code = run_python(&q, r->program, a->mem);
    ending_prepare(a->face);
    return code;
}

/* Runs the program without recording it: this process becomes the program. */
static int just_run(const struct arguments *a, const struct recorded_run *r)
{
    if (!a->quiet)
        complain("%s: profiling is off; running %s without a recording", a->run.acl_json, r->program[0]);
    ending_fini();
    execvp(r->program[0], r->program);
    complain("%s: %s", r->program[0], strerror(errno));
    return CODE_NOT_STARTED;
}

/* Runs the program with the monitor alone: this process becomes the program. */
static int run_monitored(struct arguments *a)
{
    char *const *const program = (char *const *)a->word;
    const char *const dir = path_expand(a, "--monitor", a->run.monitor);
    char *const here = dir && *dir != '/' ? getcwd(NULL, 0) : NULL;
    const char *const full = here ? arena_printf(a->mem, "%s/%s", here, dir) : dir;
    free(here);
    if (!full || a->n_words == 0) {
        if (full)
            complain("--monitor: needs a program; see ascope help run");
        return exit_code(a->face, full ? STATUS_USAGE : arguments_refused(a));
    }
    const struct python_run q = { .monitor = full, .is_quiet = a->quiet };
    setenv("ASCOPE_MONITOR", full, 1); /* programs of libascope start by it */
    ending_fini();
    run_python(&q, program, a->mem);
    execvp(program[0], program);
    complain("%s: %s", program[0], strerror(errno));
    return CODE_NOT_STARTED;
}

/* System calls: all of them if samplers were requested explicitly; otherwise only those that cost little. */
static int record(struct arguments *a, struct msprof_line *l, bool is_asked)
{
    struct recorded_run r = msprof_request(l);
    r.recorder.osrt = is_asked ? ASCOPE_OSRT_AUTO : ASCOPE_OSRT_LIBC;
    r.recorder.device = a->run.device ? a->run.device : r.recorder.device;
    attach(&r, l);
    if (a->run.acl_json) {
        const enum run_acl found = run_acl_fill(a, &r, l->on.chip);
        if (found != RUN_ACL_ON)
            return found == RUN_ACL_OFF ? just_run(a, &r) : exit_code(a->face, STATUS_PARAMETER);
        r.recorder.osrt = ASCOPE_OSRT_AUTO;
    }
    schedule_fill(a);
    const int python_code = r.program ? record_python(a, &r) : -1;
    if (python_code >= 0)
        return python_code;
    ignore_front_end_options(a);
    results_fill(a, l);
    if (!a->type)
        a->options.want = WANT_ALL;
    a->more = NULL;
    return collecting_run(a, &r, l->on.chip, !a->run.no_export);
}

static bool front_end_options_are_complete(const struct arguments *a)
{
    for (size_t i = 0; i < a->run.front_end.n; i++) {
        const char *const word = a->run.front_end.at[i];
        if (python_option(word, a->mem) == PYTHON_OPTION_LACKS_VALUE) {
            complain("%s: missing value; write %s=VALUE", word, word);
            return false;
        }
    }
    return true;
}

int run_run(struct arguments *a)
{
    struct devices_online devices;
    struct msprof_line l = { .on = machine_here(&devices),
                             .say = print_message,
                             .to = a,
                             .mem = a->mem,
                             .is_friendly = true,
                             .program = a->n_words > 0 ? (char *const *)a->word : NULL };
    int code = exit_code(a->face, STATUS_USAGE);
    if (a->run.monitor)
        return run_monitored(a);
    if (!front_end_options_are_complete(a))
        return code;
    const bool is_filled = options_fill(&l, a), is_asked = host_is_asked(&l, a);
    if (is_filled && defaults_fill(&l, is_asked)) {
        if (!l.program && a->run.acl_json)
            complain("--acl-json: needs a program; see ascope help run");
        else if (!l.program && !l.value[MSPROF_SYS_PERIOD] && !l.value[MSPROF_HOST_SYS_PID] && !l.value[MSPROF_PID])
            complain("nothing to run; give a program, --pid N, or --period N for the machine; see ascope help run");
        else if (msprof_end(&l) == MSPROF_GOOD)
            code = record(a, &l, is_asked);
    }
    return arena_failed(a->mem) ? exit_code(a->face, STATUS_NOTHING) : code;
}
