/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/options/command.h"
#include "report/term.h"

#define LIST_OF(array) array, sizeof array / sizeof *array

static int run_timeline(struct arguments *a)
{
    a->options.want = WANT_TIMELINE;
    return run_export(a);
}

static int run_summary(struct arguments *a)
{
    a->options.want = WANT_SUMMARY;
    return run_export(a);
}

static int run_db(struct arguments *a)
{
    a->options.want = WANT_DB;
    return run_export(a);
}

/* clang-format off */
static const uint8_t import_options[] = { OPT_DIR, OPT_CLUSTER, OPT_HELP };
static const uint8_t analyze_options[] = { OPT_DIR, OPT_RULE, OPT_TYPE, OPT_CLEAR, OPT_HELP };
static const uint8_t query_options[] = { OPT_DIR, OPT_DEVICE_ID, OPT_DATA_TYPE, OPT_MODEL, OPT_ITERATION, OPT_HELP };
static const uint8_t timeline_options[] = {
    OPT_DIR, OPT_REPORTS, OPT_MODEL, OPT_ITERATION, OPT_ITERATION_COUNT, OPT_CLEAR, OPT_DIALECT, OPT_HELP,
};
static const uint8_t summary_options[] = {
    OPT_DIR, OPT_FORMAT, OPT_MODEL, OPT_ITERATION, OPT_ITERATION_COUNT, OPT_CLEAR, OPT_DIALECT, OPT_HELP,
};
static const uint8_t db_options[] = { OPT_DIR, OPT_DIALECT, OPT_HELP };

static const struct command script_commands[] = {
    {
        .name = "import",
        .usage = "-dir DIR [--cluster]",
        .about = "read and check collections, write nothing",
        .text = "Reads and checks every record of collections, and reports contents and losses.",
        LIST_OF(import_options),
        .run = run_import,
    },
    {
        .name = "export timeline",
        .usage = "-dir DIR [OPTION...]",
        .about = "write timelines and the database",
        .text = "Writes msprof_*.json, and msprof_*.db unless it exists.",
        LIST_OF(timeline_options),
        .run = run_timeline,
    },
    {
        .name = "export summary",
        .usage = "-dir DIR [OPTION...]",
        .about = "write tables and the database",
        .text = "Writes tables into mindstudio_profiler_output, and msprof_*.db unless it exists.",
        LIST_OF(summary_options),
        .run = run_summary,
    },
    {
        .name = "export db",
        .usage = "-dir DIR",
        .about = "write the database",
        .text = "Writes msprof_*.db, an SQLite database with all data.",
        LIST_OF(db_options),
        .run = run_db,
    },
    {
        .name = "query",
        .usage = "-dir DIR",
        .about = "list models and iterations",
        .text = "Prints one row per model and device: the number of its iterations and the longest one.",
        LIST_OF(query_options),
        .run = run_query,
    },
    {
        .name = "analyze",
        .usage = "-dir DIR --rule RULE,... [OPTION...]",
        .about = "analyse communication",
        .text = "Writes communication.json, communication_matrix.json and communication_analyzer.db into the directory analyze "
                "of the collection.",
        LIST_OF(analyze_options),
        .run = run_communication,
    },
};
/* clang-format on */
enum { SCRIPT_COMMANDS = sizeof script_commands / sizeof *script_commands };

static void script_overview(void)
{
    puts("usage: msprof.py COMMAND -dir DIR [OPTION...]\n");
    for (size_t i = 0; i < SCRIPT_COMMANDS; i++)
        printf("  %-16s %s\n", script_commands[i].name, script_commands[i].about);
    puts("\nThis is ascope, called as msprof.py; see msprof.py COMMAND --help");
}

static int script_run(const struct command *c, int argc, char **argv)
{
    struct arguments a = arguments_new(FACE_MSPROF_PY);
    int code = exit_code(a.face, STATUS_USAGE);
    if (!options_parse(c, argc, argv, &a)) {
        code = exit_code(a.face, arguments_refused(&a));
    } else {
        if (a.help) {
            help_command(a.face, c);
            code = 0;
        } else if (a.n_words > 0) {
            complain("%s: unexpected argument; see msprof.py %s --help", a.word[0], c->name);
        } else {
            code = c->run(&a);
        }
    }
    arguments_end(&a);
    return code;
}

static bool is_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

int msprof_py_main(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : "", *second = argc > 2 ? argv[2] : "";
    const bool is_export = strcmp(first, "export") == 0;
    char name[40];
    snprintf(name, sizeof name, "%.20s%s%.18s", first, is_export ? " " : "", is_export ? second : "");
    for (size_t i = 0; i < SCRIPT_COMMANDS; i++)
        if (strcmp(script_commands[i].name, name) == 0)
            return script_run(&script_commands[i], argc - 1 - is_export, argv + 1 + is_export);
    if (is_help(first) || (is_export && is_help(second))) {
        script_overview();
        return 0;
    }
    if (!*first || (is_export && !*second)) { /* as the script: help, and exit code 1 */
        script_overview();
        return 1;
    }
    complain("%s: accepted are import, export timeline, export summary, export db, query and analyze", name);
    return exit_code(FACE_MSPROF_PY, STATUS_USAGE);
}
