/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/msprof/msprof_line.h"
#include "cli/options/command.h"
#include "cli/run/collecting.h"
#include "report/term.h"

enum { CODE_NOT_HERE = 254 };

/* As in the reference, messages go to standard output, except those about unknown options. */
static void print_message(void *to, enum msprof_severity severity, const char *text)
{
    static const char *const prefix[] = { "INFO", "WARNING", "ERROR" };
    if (severity == MSPROF_UNKNOWN)
        complain("%s", text);
    else
        printf("[%s] %s\n", prefix[severity], text);
    (void)to;
}

static void print_usage(const struct msprof_line *l)
{
    puts("usage: msprof [--OPTION=VALUE...] PROGRAM [ARGUMENT...]\n"
         "       msprof --sys-period=S --sys-devices=all|--host-sys-usage=cpu,mem [--OPTION=VALUE...]\n"
         "       msprof --export=on|--parse=on|--query=on|--analyze=on --output=DIR [--OPTION=VALUE...]\n\n"
         "This is ascope, called as msprof; ascope run has the same options under friendlier names.\n\noptions");
    for (size_t i = 0; i < MSPROF_OPTIONS; i++) {
        const struct msprof_row *r = &msprof_rows[i];
        char text[120];
        if (msprof_is_refused(r, l->on.chip))
            continue;
        const char *value = r->value                   ? r->value
                            : r->kind == MSPROF_SWITCH ? "on|off"
                            : r->kind == MSPROF_LIST   ? "LIST"
                            : r->kind == MSPROF_FLAG   ? NULL
                                                       : msprof_accepted(l, r);
        snprintf(text, sizeof text, "--%s%s%s", r->name, value ? "=" : "", value ? value : "");
        const char *list = r->kind == MSPROF_LIST ? msprof_accepted(l, r) : NULL;
        const char *help = list ? arena_printf(l->mem, "%s; %s", r->help, list) : r->help;
        help_row(text, help ? help : r->help);
    }
}

/* ---- parsing ---- */

/* Without options: options_parse() only reads the environment; the options are those of the line. */
static const struct command launcher = { .name = "" };

static bool arguments_fill(struct arguments *a, const struct msprof_line *l)
{
    char *argv[] = { (char *)"msprof", NULL };
    if (!options_parse(&launcher, 1, argv, a))
        return false;
    results_fill(a, l);
    return true;
}

/* As the launcher does: reads everything, then lists models and iterations. */
static int run_parse(struct arguments *a)
{
    const int code = run_import(a);
    if (code != exit_code(a->face, STATUS_DONE))
        return code;
    putchar('\n');
    return run_query(a);
}

static int parse(const struct msprof_line *l)
{
    static const struct {
        enum msprof_mode mode;
        int (*run)(struct arguments *a);
    } does[] = {
        { MSPROF_IN_PARSE, run_parse },      { MSPROF_IN_QUERY, run_query },           { MSPROF_IN_EXPORT, run_export },
        { MSPROF_IN_EXPORT_DB, run_export }, { MSPROF_IN_ANALYZE, run_communication },
    };
    struct arguments a = arguments_new(FACE_MSPROF);
    int code = exit_code(FACE_MSPROF, STATUS_USAGE);
    if (!arguments_fill(&a, l))
        code = exit_code(FACE_MSPROF, arguments_refused(&a));
    else
        for (size_t i = 0; i < sizeof does / sizeof *does; i++)
            if (does[i].mode == l->mode) {
                code = does[i].run(&a);
                if (code == 0)
                    printf("[INFO] Process profiling data complete. Data is saved in %s\n", a.dir);
            }
    arguments_end(&a);
    return code;
}

/* ---- operators ---- */

/* Passes the whole command line to msopprof. As in the reference, the exit code is 0 even if that tool is missing. */
static int run_operator_tool(char **argv)
{
    const char *const home = getenv("ASCEND_TOOLKIT_HOME");
    char path[4096];
    snprintf(path, sizeof path, "%s/tools/msopprof/bin/msopprof", home ? home : "");
    argv[1] = path;
    if (home)
        execv(path, argv + 1);
    printf("[ERROR] msprof op: no %s; %s\n", home ? path : "msopprof",
           home ? "install the operator tools" : "set ASCEND_TOOLKIT_HOME to the toolkit that has it");
    return 0;
}

/* ---- collecting ---- */

static int collect(const struct msprof_line *l)
{
    struct recorded_run r = msprof_request(l);
    struct arguments a = arguments_new(FACE_MSPROF);
    const int code = arguments_fill(&a, l) ? collecting_run(&a, &r, l->on.chip, true)
                                           : exit_code(FACE_MSPROF, arguments_refused(&a));
    arguments_end(&a);
    return code;
}

int msprof_main(int argc, char **argv)
{
    if (argc > 1 && strncmp(argv[1], "op", 2) == 0)
        return run_operator_tool(argv);
    struct devices_online devices;
    struct msprof_line l = { .on = machine_here(&devices), .say = print_message, .mem = arena_new() };
    int code = exit_code(FACE_MSPROF, STATUS_USAGE);
    if (!l.mem) {
        complain_no_memory("the command line");
        return code;
    }
    switch (msprof_read(&l, argc, argv)) {
    case MSPROF_GOOD: code = l.mode & MSPROF_PARSES ? parse(&l) : collect(&l); break;
    case MSPROF_WANTS_HELP: code = 0; /* fall through */
    case MSPROF_NEEDS_USAGE: print_usage(&l); break;
    case MSPROF_NOT_HERE: code = CODE_NOT_HERE; break;
    case MSPROF_REFUSED: break;
    }
    if (arena_failed(l.mem))
        complain_no_memory("the command line");
    arena_free(l.mem);
    return code;
}
