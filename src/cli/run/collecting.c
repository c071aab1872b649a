/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/collecting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/json_memory.h"
#include "cli/commands.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "report/term.h"
#include "run/run.h"

enum { CODE_NOT_STARTED = 127, CODE_OF_SIGNAL = 128 };

void results_fill(struct arguments *a, const struct msprof_line *l)
{
    static const struct {
        enum msprof_option from;
        enum option_id to;
    } given[] = { { MSPROF_MODEL_ID, OPT_MODEL },
                  { MSPROF_ITERATION_ID, OPT_ITERATION },
                  { MSPROF_REPORTS, OPT_REPORTS } };
    const char *const *const v = l->value;
    a->dir = v[MSPROF_OUTPUT];
    a->type = v[MSPROF_TYPE] && strcmp(v[MSPROF_TYPE], "db") == 0;
    a->rule = v[MSPROF_RULE];
    a->reports = v[MSPROF_REPORTS];
    a->options.clears = msprof_is_on(l, MSPROF_CLEAR);
    a->options.format = v[MSPROF_SUMMARY_FORMAT] && strcmp(v[MSPROF_SUMMARY_FORMAT], "json") == 0;
    a->options.want = a->type ? WANT_DB : WANT_TIMELINE | WANT_SUMMARY;
    if (v[MSPROF_DIALECT])
        a->options.dialect = strcmp(v[MSPROF_DIALECT], "current") == 0 ? DIALECT_CURRENT : DIALECT_DOCUMENTED;
    if (l->mode & MSPROF_COLLECTS) /* models and iterations are unknown before the collection */
        return;
    a->options.model = msprof_number(l, MSPROF_MODEL_ID);
    a->options.iteration = msprof_number(l, MSPROF_ITERATION_ID);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (v[given[i].from])
            a->given[given[i].to] = true;
}

/* ---- messages while recording ---- */

static void print_started(const char *path)
{
    printf("[INFO] recording into %s\n", path);
    fflush(stdout);
}

static void complain_started(const char *path)
{
    complain("recording into %s", path);
}

static FILE *interactive_to; /* stream of the interactive mode: with --json, standard output is for the report */

static void print_answer(const char *text)
{
    fprintf(interactive_to, "%s\n", text);
}

static void print_prompt(void)
{
    fputs("> ", interactive_to);
    fflush(interactive_to);
}

/* Prints a message of the recorder. */
static void print_recorder(enum ascope_severity severity, const char *text, void *user)
{
    static const char *const msprof[] = { "[INFO] ", "[WARNING] ", "[ERROR] " }, *const own[] = { "note: ", "warning: ",
                                                                                                  "" };
    const struct arguments *const a = user;
    if (a->face == FACE_MSPROF)
        printf("%s%s\n", msprof[severity], text);
    else if (severity > ASCOPE_INFO || !a->quiet)
        complain("%s%s", own[severity], text);
}

/* ---- how the program ended ---- */

const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } all[] = {
        { SIGHUP, "SIGHUP" },   { SIGINT, "SIGINT" },   { SIGQUIT, "SIGQUIT" }, { SIGILL, "SIGILL" },
        { SIGTRAP, "SIGTRAP" }, { SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" },   { SIGFPE, "SIGFPE" },
        { SIGKILL, "SIGKILL" }, { SIGUSR1, "SIGUSR1" }, { SIGSEGV, "SIGSEGV" }, { SIGUSR2, "SIGUSR2" },
        { SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" }, { SIGTERM, "SIGTERM" }, { SIGXCPU, "SIGXCPU" },
        { SIGXFSZ, "SIGXFSZ" }, { SIGSYS, "SIGSYS" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].number == number)
            return all[i].name;
    return strsignal(number);
}

/* Reports a program that failed, was killed, or is still running. */
static void program_report(const struct arguments *a, const struct recorded_run *r, const struct run_result *out)
{
    char text[400];
    if (!out->has_program || out->status == 0)
        return;
    const char *const name = r->program[0];
    if (out->status < 0)
        snprintf(text, sizeof text, "%.300s is still running", name);
    else if (WIFSIGNALED(out->status))
        snprintf(text, sizeof text, "%.300s was killed by signal %d (%s)", name, WTERMSIG(out->status),
                 signal_name(WTERMSIG(out->status)));
    else
        snprintf(text, sizeof text, "%.300s ended with exit status %d", name, WEXITSTATUS(out->status));
    if (a->face == FACE_MSPROF)
        printf("[WARNING] %s\n", text);
    else if (out->status < 0 || WIFSIGNALED(out->status))
        complain("%s", text);
}

static int program_code(const struct run_result *out)
{
    if (!out->has_program || out->status < 0)
        return 0;
    return WIFSIGNALED(out->status) ? CODE_OF_SIGNAL + WTERMSIG(out->status) : WEXITSTATUS(out->status);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* The resource use that the kernel counted: exact, and available even if the program ended before the second sample. */
static void program_use_print(const struct recorded_run *r, const struct run_result *out)
{
    char wall[READABLE_MOST], user[READABLE_MOST], system[READABLE_MOST], memory[READABLE_MOST];
    struct term t;
    if (!out->has_program || out->status < 0)
        return;
    term_init(&t, stdout);
    fputs(term_ink(&t, INK_BOLD), t.to);
    term_text(&t, r->program[0], 0);
    fprintf(t.to, "%s: %s after %s; CPU time %s user, %s system; peak %s resident\n", term_ink(&t, INK_END),
            WIFSIGNALED(out->status) ? "killed"
            : out->status == 0       ? "ended well"
                                     : "failed",
            readable_duration(wall, out->wall_s * 1e9), readable_duration(user, seconds(out->use.ru_utime) * 1e9),
            readable_duration(system, seconds(out->use.ru_stime) * 1e9),
            readable_bytes(memory, (uint64_t)out->use.ru_maxrss * 1024));
}

static json_t *program_json(const struct recorded_run *r, const struct run_result *out)
{
    const bool is_killed = out->has_program && out->status >= 0 && WIFSIGNALED(out->status);
    json_t *program = !out->has_program ? json_null() : json_object();
    if (out->has_program) {
        json_object_set_new(program, "name", text_json(r->program[0]));
        json_object_set_new(program, "exit_status",
                            out->status >= 0 && !is_killed ? json_integer(WEXITSTATUS(out->status)) : json_null());
        json_object_set_new(program, "signal", is_killed ? json_integer(WTERMSIG(out->status)) : json_null());
        json_object_set_new(program, "use",
                            out->status < 0
                                ? json_null()
                                : json_pack("{s:f, s:f, s:f, s:I}", "wall_s", out->wall_s, "user_s",
                                            seconds(out->use.ru_utime), "system_s", seconds(out->use.ru_stime),
                                            "peak_bytes", (json_int_t)out->use.ru_maxrss * 1024));
    }
    json_t *more = json_pack("{s:o, s:b}", "program", program, "interrupted", out->was_interrupted);
    if (program_code(out) != 0)
        json_object_set_new(more, "exit_code", json_integer(program_code(out)));
    return more;
}

/* ---- results ---- */

/* Without an export: lists the collections. */
static int paths_report(const struct arguments *a, const struct run_result *out)
{
    json_t *list = a->json ? json_array() : NULL;
    for (size_t i = 0; i < out->n_collections; i++) {
        if (a->json)
            json_array_append_new(list, json_pack("{s:o}", "path", text_json(out->collections[i])));
        else if (a->face == FACE_ASCOPE && !a->quiet)
            puts(out->collections[i]);
    }
    return exit_code(a->face, a->json ? json_report_more(a, "collections", list, a->more, STATUS_DONE) : STATUS_DONE);
}

static int results_make(struct arguments *a, const struct run_result *out, bool exports)
{
    if (!exports)
        return paths_report(a, out);
    a->dir = NULL;
    a->word = (const char **)out->collections;
    a->n_words = out->n_collections;
    const int code = export_run(a, 0);
    if (a->face == FACE_MSPROF)
        run_query(a);
    return code;
}

static int end_msprof(struct arguments *a, const struct recorded_run *r, const struct run_result *out, bool exports)
{
    if (out->n_collections == 0) {
        const bool is_early = r->delay_s > 0 && out->has_program;
        if (!is_early)
            puts("[ERROR] no data: nothing was recorded");
        return is_early ? 0 : exit_code(a->face, STATUS_NOTHING);
    }
    if (!r->is_interactive)
        puts("[INFO] Profiling finished."); /* scripts search for this line and the next one */
    fflush(stdout);
    results_make(a, out, exports); /* failures are reported, and the exit code stays 0: there is a collection */
    if (exports && !r->is_interactive)
        printf("[INFO] Process profiling data complete. Data is saved in %s\n",
               out->collections[out->n_collections - 1]);
    return 0;
}

static int end_run(struct arguments *a, const struct recorded_run *r, const struct run_result *out, bool exports)
{
    a->more = a->json ? program_json(r, out) : NULL;
    if (exports && !a->json && !a->quiet)
        program_use_print(r, out);
    if (out->n_collections == 0 && r->delay_s > 0 && out->has_program)
        complain("the program ended before the delay of %u s; nothing was recorded", r->delay_s);
    else if (out->n_collections == 0)
        complain("nothing was recorded");
    const int code = out->n_collections > 0 ? results_make(a, out, exports) : exit_code(a->face, STATUS_NOTHING);
    return program_code(out) ? program_code(out) : code;
}

int collecting_run(struct arguments *a, struct recorded_run *r, int chip, bool exports)
{
    const bool is_msprof = a->face == FACE_MSPROF;
    const struct run_listener listener = { .started = is_msprof  ? print_started
                                                      : a->quiet ? NULL
                                                                 : complain_started,
                                           .answer = print_answer,
                                           .prompt = print_prompt };
    struct run_result out;
    struct error e = { 0 };
    interactive_to = a->json ? stderr : stdout;
    char *const config = r->program || r->n_pids > 0 ? run_sample_config(r, chip, &e) : NULL;
    r->listener = &listener;
    r->sample_config = config;
    fflush(stdout);
    ending_fini(); /* run_collect() handles signals itself */
    ascope_on_message(print_recorder, a);
    const bool is_well = run_collect(r, &out, &e);
    ascope_on_message(NULL, NULL);
    ending_prepare(a->face);
    free(config);
    if (!is_well && is_msprof)
        printf("[ERROR] %s\n", e.text);
    else if (!is_well)
        complain("%s", e.text);
    program_report(a, r, &out);
    if (!is_msprof && !a->json && exports && r->program) { /* standard output belongs to the program */
        fflush(stdout);
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    int code;
    if (!is_well && out.n_collections == 0)
        code = is_msprof                ? exit_code(a->face, STATUS_NOTHING)
               : e.fault == FAULT_ASKED ? CODE_NOT_STARTED
                                        : exit_code(a->face, STATUS_NOTHING);
    else
        code = (is_msprof ? end_msprof : end_run)(a, r, &out, exports);
    run_result_free(&out);
    return code;
}
