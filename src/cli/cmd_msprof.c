/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's two command lines: the script msprof.py, and the launcher msprof as far as it parses collections. */
#include "cli/cmd_msprof.h"

#include <stdio.h>
#include <string.h>

#include "cli/cmd_communication.h"
#include "cli/cmd_export.h"
#include "cli/cmd_query.h"
#include "cli/collections.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/exit_status.h"
#include "cli/term.h"
#include "pipeline/prof_write.h"

#define LIST_OF(array) array, sizeof array / sizeof *array
#define BIT(id)        ((option_set)1 << (id))

/* ---- msprof.py ------------------------------------------------------------------------------------------------ */

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
    if (!*first || (is_export && !*second)) { /* the script answers with its help and 1 */
        script_overview();
        return 1;
    }
    complain("%s: accepted are import, export timeline, export summary, export db, query and analyze", name);
    return exit_code(FACE_MSPROF_PY, STATUS_USAGE);
}

/* ---- msprof --------------------------------------------------------------------------------------------------- */

static const uint8_t launcher_options[] = { OPT_OUTPUT,      OPT_EXPORT,         OPT_PARSE,   OPT_QUERY,
                                            OPT_ANALYZE,     OPT_TYPE,           OPT_RULE,    OPT_MODEL,
                                            OPT_ITERATION,   OPT_SUMMARY_FORMAT, OPT_REPORTS, OPT_CLEAR_SWITCH,
                                            OPT_PYTHON_PATH, OPT_DIALECT,        OPT_HELP };

static const struct command launcher = {
    .name = "",
    .usage = "--export=on|--parse=on|--query=on|--analyze=on --output=DIR [--OPTION=VALUE...]",
    .about = "parse collections",
    .text = "Exports, checks or lists collections. This is ascope, called as msprof: it does not collect.",
    LIST_OF(launcher_options),
    .value_follows_sign = true,
};

/* Options of collecting. The first ones choose a mode that collects; the others have no effect on parsing. */
static const char *const collecting_mode[] = { "application", "dynamic", "sys-devices", "host-sys", "host-sys-usage" };
static const char *const collecting_detail[] = {
    "environment",
    "storage-limit",
    "delay",
    "duration",
    "pid",
    "ascendcl",
    "model-execution",
    "runtime-api",
    "ge-api",
    "task-time",
    "task-trace",
    "aicore-shape",
    "task-memory",
    "task-tsfw",
    "aicpu",
    "hccl",
    "msproftx",
    "mstx-domain-include",
    "mstx-domain-exclude",
    "optype",
    "l2",
    "npu-events",
    "task-block",
    "instr-profiling",
    "instr-profiling-freq",
    "ai-core",
    "aic-mode",
    "aic-freq",
    "aic-metrics",
    "ai-vector-core",
    "aiv-mode",
    "aiv-freq",
    "aiv-metrics",
    "sys-period",
    "sys-hardware-mem",
    "sys-hardware-mem-freq",
    "llc-profiling",
    "sys-mem-serviceflow",
    "sys-cpu-profiling",
    "sys-cpu-freq",
    "sys-profiling",
    "sys-sampling-freq",
    "sys-pid-profiling",
    "sys-pid-sampling-freq",
    "sys-io-profiling",
    "sys-io-sampling-freq",
    "sys-interconnection-profiling",
    "sys-interconnection-freq",
    "dvpp-profiling",
    "dvpp-freq",
    "sys-lp",
    "sys-lp-freq",
    "host-sys-pid",
    "host-sys-usage-freq",
    "nts-metrics",
};

static bool is_among(const char *word, const char *const *list, size_t n)
{
    const size_t len = strcspn(word, "=");
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) == len && strncmp(list[i], word, len) == 0)
            return true;
    return false;
}

/* Takes the options of collecting out of argv. True: what is left is about parsing. The first word that is no option is
 * the program to run, unless it follows an option without its "=": the launcher takes it for a lost value. */
static bool parsing_only(int *argc, char **argv)
{
    int n = 1;
    bool collects = false;
    for (int i = 1; i < *argc && !collects; i++) {
        const bool is_option = strncmp(argv[i], "--", 2) == 0;
        if (is_help(argv[i])) {
            argv[1] = argv[i];
            *argc = 2;
            return true;
        }
        collects = !is_option || is_among(argv[i] + 2, LIST_OF(collecting_mode));
        if (is_option && is_among(argv[i] + 2, LIST_OF(collecting_detail)))
            complain("note: %s has no effect on parsing", argv[i]);
        else
            argv[n++] = argv[i];
        if (is_option && !strchr(argv[i], '=') && i + 1 < *argc && argv[i + 1][0] != '-')
            i++;
    }
    argv[n] = NULL;
    *argc = n;
    return !collects;
}

/* As the launcher does: everything is read, then its models and iterations are listed. */
static int run_parse(struct arguments *a)
{
    const int code = run_import(a);
    if (code != exit_code(a->face, STATUS_DONE))
        return code;
    putchar('\n');
    return run_query(a);
}

/* clang-format off */
static const struct mode {
    enum option_id option;
    size_t at; /* of its switch in struct arguments */
    option_set forbidden;
    int (*run)(struct arguments *a);
} modes[] = {
    { OPT_PARSE, offsetof(struct arguments, parses),
      BIT(OPT_QUERY) | BIT(OPT_EXPORT) | BIT(OPT_ANALYZE) | BIT(OPT_RULE) | BIT(OPT_CLEAR_SWITCH), run_parse },
    { OPT_QUERY, offsetof(struct arguments, queries),
      BIT(OPT_PARSE) | BIT(OPT_EXPORT) | BIT(OPT_ANALYZE) | BIT(OPT_RULE) | BIT(OPT_CLEAR_SWITCH), run_query },
    { OPT_EXPORT, offsetof(struct arguments, exports),
      BIT(OPT_QUERY) | BIT(OPT_PARSE) | BIT(OPT_ANALYZE) | BIT(OPT_RULE), run_export },
    { OPT_ANALYZE, offsetof(struct arguments, analyzes), BIT(OPT_QUERY) | BIT(OPT_EXPORT) | BIT(OPT_PARSE), run_communication },
};
/* clang-format on */

static const option_set text_only =
    BIT(OPT_ITERATION) | BIT(OPT_MODEL) | BIT(OPT_SUMMARY_FORMAT) | BIT(OPT_CLEAR_SWITCH) | BIT(OPT_REPORTS);

static bool refuse(const struct arguments *a, option_set forbidden, const char *with)
{
    for (unsigned id = 0; id < OPTIONS; id++)
        if (a->given & forbidden & BIT(id)) {
            complain("--%s: not allowed with %s", option_rows[id].name, with);
            return false;
        }
    return true;
}

static enum exit_status launch(struct arguments *a, int *code)
{
    const struct mode *m = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes && !m; i++)
        if (*(const bool *)((const char *)a + modes[i].at))
            m = &modes[i];
    if (!m) {
        complain("nothing to do: give --export=on, --parse=on, --query=on or --analyze=on; see msprof --help");
        return STATUS_USAGE;
    }
    char shown[32];
    snprintf(shown, sizeof shown, "--%s=on", option_rows[m->option].name);
    if (!a->output) {
        complain("%s: requires --output=DIR, the directory of the collection", shown);
        return STATUS_USAGE;
    }
    const bool is_db = m->option == OPT_EXPORT && a->type == 1;
    if (!refuse(a, m->forbidden, shown) || (is_db && !refuse(a, text_only, "--type=db")))
        return STATUS_USAGE;
    a->dir = a->output;
    a->options.want = is_db ? WANT_DB : WANT_TIMELINE | WANT_SUMMARY;
    *code = m->run(a);
    return STATUS_DONE;
}

int msprof_main(int argc, char **argv)
{
    struct arguments a = arguments_new(FACE_MSPROF);
    enum exit_status status = STATUS_USAGE;
    int code = 0;
    if (argc < 2) {
        help_command(FACE_MSPROF, &launcher);
    } else if (!parsing_only(&argc, argv)) {
        complain("collecting is not supported; to export a collection, use msprof --export=on --output=DIR");
    } else if (options_parse(&launcher, argc, argv, &a)) {
        if (a.help)
            help_command(FACE_MSPROF, &launcher);
        status = a.help ? STATUS_DONE : launch(&a, &code);
    } else {
        status = arguments_refused(&a);
    }
    arguments_end(&a);
    return status == STATUS_DONE ? code : exit_code(FACE_MSPROF, status);
}
