/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/command.h"

#include <stdio.h>
#include <string.h>

#include "ascope/recorder_options.h"
#include "cli/commands.h"
#include "report/term.h"

/* The man page, made from the tables of commands and options. */

enum { LINE_COLUMNS = 78 };

/* Prints a word: backslashes and dashes are escaped, and a line must not begin like a request of mdoc. */
static void put_word(const char *word, int len, bool begins_line)
{
    if (begins_line && (*word == '.' || *word == '\''))
        fputs("\\&", stdout);
    for (int i = 0; i < len; i++)
        if (word[i] == '\\')
            fputs("\\e", stdout);
        else if (word[i] == '-')
            fputs("\\-", stdout);
        else
            putchar(word[i]);
}

/* Every sentence begins a new line, as mdoc requires. */
static void manual_put_text(const char *text)
{
    bool sentence_ended = false;
    for (int at = 0; *text;) {
        const int len = (int)strcspn(text, " ");
        if (at > 0 && (sentence_ended || at + 1 + len > LINE_COLUMNS)) {
            putchar('\n');
            at = 0;
        } else if (at > 0) {
            putchar(' ');
            at++;
        }
        put_word(text, len, at == 0);
        at += len;
        for (int i = 0; i < len; i++)
            at += text[i] == '-' || text[i] == '\\'; /* escaped: two characters */
        sentence_ended = text[len - 1] == '.';
        text += len;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void put_paragraphs(const char *text)
{
    for (const char *end; (end = strstr(text, "\n\n")); text = end + 2) {
        char part[2000];
        snprintf(part, sizeof part, "%.*s", (int)(end - text), text);
        manual_put_text(part);
        fputs(".Pp\n", stdout);
    }
    manual_put_text(text);
}

static void put_option(const struct option_row *o)
{
    char help[OPTION_HELP_BYTES];
    fputs(".It", stdout);
    if (o->letter)
        printf(" Fl %c ,", o->letter);
    printf(" Fl %s%s", o->has_one_dash ? "" : "-", o->name);
    if (o->also)
        printf(" , Fl -%s", o->also);
    if (o->value)
        printf(" Ar %s", o->value);
    if (o->kind == OPTION_SWITCH)
        fputs(" Ns Op = Ns Cm on Ns | Ns Cm off", stdout);
    for (size_t i = 0; !o->value && option_choice(o, i); i++)
        printf("%s Cm %s", i > 0 ? " |" : "", option_choice(o, i));
    putchar('\n');
    manual_put_text(option_help(o, help, sizeof help));
}

static void put_command(const struct command *c)
{
    printf(".Ss ascope %s\n", c->name);
    put_paragraphs(c->text);
    fputs(".Bl -tag -width Ds\n", stdout);
    for (size_t i = 0; i < c->n_options; i++)
        put_option(&option_rows[c->option[i]]);
    fputs(".El\n", stdout);
}

/* "[timeline|summary|db|all] -dir DIR" is shown verbatim, each line as a form of its own; the sections below explain
 * it. */
static void put_synopsis(void)
{
    for (size_t i = 0; i < n_commands; i++)
        for (const char *form = commands[i].usage; *form; form += strspn(form, "\n")) {
            const int n = (int)strcspn(form, "\n");
            printf(".Nm\n.Cm %s\n.Li \"%.*s\"\n", commands[i].name, n, form);
            form += n;
        }
    fputs(".Nm\n.Fl -version | Fl -help\n", stdout);
}

static const struct {
    const char *name, *text;
} environment[] = {
    { "ASCOPE_ANALYSED",
      "Set by run of the Python package for the processes of a script: its process number, a colon, the "
      "file in which they list what they have recorded and analysed." },
    { "ASCOPE_ASCEND_LIMIT_S", "How long a call to the libraries of Ascend NPUs is waited for before the device is "
                               "given up, in seconds, 1 to 3600 (default: 60)." },
    { "ASCOPE_ASYNC_ANALYSIS",
      "1: profilers of the PyTorch front end do not wait for the analysis when they stop, as with "
      "async_mode of tensorboard_trace_handler." },
    { "ASCOPE_CACHE", "Directory of the PyTorch listener, which is compiled once for each version of PyTorch (default: "
                      "$XDG_CACHE_HOME/ascope, else ~/.cache/ascope, else /tmp/ascope-UID)." },
    { "ASCOPE_CLOCK", "ns: record CLOCK_MONOTONIC_RAW instead of the CPU's own counter." },
    { "ASCOPE_CUDA_INJECTION",
      "Set by ascope run for programs that use CUDA: its process number, a colon, the directory of their "
      "collections." },
    { "ASCOPE_CUDA_LIBRARY",
      "libascope.so that ascope run has CUDA's driver load into programs (default: the one that is "
      "installed with ascope)." },
    { "ASCOPE_CUDA_LIMIT_S",
      "How long a call to the libraries of NVIDIA GPUs is waited for before the device is given up, in "
      "seconds, 1 to 3600 (default: 60)." },
    { "ASCOPE_DEVICE",
      "Device that the PyTorch front end records, as run --device of the Python package: auto (default: the real devices "
      "that the program uses), none (the host alone), ascend (Ascend NPUs), cuda (NVIDIA GPUs), mspti (NPUs by MSPTI) or sim (the simulated "
      "NPU)." },
    { "ASCOPE_DIALECT", "Default of --dialect, also for msprof and msprof.py." },
    { "ASCOPE_DYNAMIC_POLL_MS",
      "How often a job looks at profiler_config.json, in milliseconds, instead of 2000 and later the length of a step: for "
      "tests." },
    { "ASCOPE_MONITOR",
      "Directory in which a program that loads libascope.so records its steps, from the first one on: as ascope run "
      "--monitor. Ignored in programs that run with another user's rights." },
    { "ASCOPE_MSPTI_INJECTION", "Set by ascope run for programs that are linked with ACL, as ASCOPE_CUDA_INJECTION." },
    { "ASCOPE_OSRT",
      "Default of the option osrt, how host_sys=osrt records system calls: auto (all of them, where the kernel permits that), "
      "libc (those that cost little) or samples." },
    { "ASCOPE_PROVE_DAMAGE",
      "drop, double or shift: what happens to a record of each collection of doctor --prove before it is checked, which "
      "must fail then: for tests." },
    { "ASCOPE_PROGRAM",
      "ascope program that the Python package starts (default: the one of the package, else the one in "
      "PATH)." },
    { "ASCOPE_RECORD", "A program that loads libascope.so is recorded from then to its end, into a collection in this "
                       "directory. Ignored in programs that run with another user's rights." },
    { "ASCOPE_RECORD_OPTIONS", "Options for ASCOPE_RECORD: name=value, separated by semicolons." },
    { "ASCOPE_RUN", "Set by ascope run for the programs that it records: where they find its session." },
    { "ASCOPE_RUN_LIBRARY",
      "Library that records the calls of programs (default: libascope-run.so of this installation)." },
    { "ASCOPE_SIM_DEVICES", "Number of simulated NPUs of a process, 1 to 16 (default: 1)." },
    { "ASCOPE_SIM_DRIFT_PPM", "Clock drift of simulated NPUs, -1000 to 1000 (default: 12 to 33, by device)." },
    { "ASCOPE_SIM_JOB",
      "Name of a simulated job: ranks with the same name meet (default: MASTER_ADDR and MASTER_PORT, else the parent process)." },
    { "ASCOPE_SIM_MEMORY_MB", "Memory of a simulated NPU in MiB (default: 65536)." },
    { "ASCOPE_SIM_TIMEOUT_MS", "How long a collective of simulated NPUs waits for a rank (default: 30000)." },
    { "ASCOPE_SUPERVISED",
      "Set by ascope run for Python scripts: the file in which their processes list their recordings." },
    { "ASCOPE_SYNC",
      "off: do not wait until what is written is on the disk, as --no-sync; also for recordings (their option sync)." },
    { "NO_COLOR", "If set and not empty, disables colours on the terminal." },
    { "HOME", "Replaces a leading ~ in a path." },
};

static const struct {
    const char *name, *text;
} written[] = {
    { "PROF_XXX/mindstudio_profiler_output/msprof_*.json", "The timeline." },
    { "PROF_XXX/mindstudio_profiler_output/*.csv", "The tables. README.txt in the same directory describes each one." },
    { "PROF_XXX/msprof_*.db", "The database." },
};

static const struct {
    const char *about, *line;
} example[] = {
    { "Export one collection completely:", "ascope export all \\-dir PROF_000001_20261115063020014_00000010RIEJKIFC" },
    { "Training steps 2 to 4 as a timeline that begins at 0:",
      "ascope export timeline \\-dir PROF_XXX \\-\\-model\\-id 4294967295 \\-\\-iteration\\-id 2 "
      "\\-\\-iteration\\-count 3 \\-\\-time\\-base start" },
    { "Count lost records in a script:",
      "ascope export all \\-dir PROF_XXX \\-\\-json | jq '[.collections[].losses[] | select(.damage).count] | add'" },
};

static void put_names(void)
{
    manual_put_text(
        "Called as msprof.py, ascope accepts the command lines of that script (import, export, query, analyze); "
        "called as msprof, those of the launcher that parse collections (--export=on, --parse=on, --query=on, "
        "--analyze=on). A symbolic link is enough. The exit codes are those that callers of msprof expect: 0 also for "
        "results with losses, which are reported on standard error; msprof.py gives 1 for invalid values and 2 for "
        "invalid paths and options; msprof gives 255 for every failure.");
}

static void manual_print(void)
{
    fputs(
        ".\\\" Made from the option tables by: ascope help --man\n.Dd November 15, 2026\n.Dt ASCOPE 1\n.Os\n.Sh NAME\n"
        ".Nm ascope\n.Nd profiler for AI training and inference on Ascend NPUs and NVIDIA GPUs\n.Sh SYNOPSIS\n",
        stdout);
    put_synopsis();
    fputs(".Sh DESCRIPTION\n", stdout);
    manual_put_text(
        "ascope reads collections of ascope, msprof and torch_npu and writes timelines, tables and databases.");
    for (size_t i = 0; i < n_commands; i++)
        put_command(&commands[i]);
    fputs(".Ss msprof and msprof.py\n", stdout);
    put_names();
    fputs(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n", stdout);
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++) {
        printf(".It Ev %s\n", environment[i].name);
        manual_put_text(environment[i].text);
    }
    fputs(".El\n.Sh FILES\n.Bl -tag -width Ds\n", stdout);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        printf(".It Pa %s\n", written[i].name);
        manual_put_text(written[i].text);
    }
    fputs(".El\n.Sh EXIT STATUS\n.Bl -tag -width Ds\n", stdout);
    for (size_t i = 0; i < n_exit_meanings; i++) {
        printf(".It %d\n", exit_meanings[i].code);
        manual_put_text(exit_meanings[i].text);
    }
    fputs(".El\n.Sh EXAMPLES\n", stdout);
    for (size_t i = 0; i < sizeof example / sizeof *example; i++) {
        manual_put_text(example[i].about);
        printf(".Pp\n.Dl %s\n%s", example[i].line, i + 1 < sizeof example / sizeof *example ? ".Pp\n" : "");
    }
}

/* The options of a recording as a page of the documentation, in Markdown. */

/* Front ends by one letter, in the order of their bits. */
static const struct {
    char letter;
    const char *name;
} front_ends[] = {
    { 'P', "PyTorch: parameters of `profile`, `_ExperimentalConfig` and `tensorboard_trace_handler`" },
    { 'D', "`profiler_config.json` of PyTorch's `dynamic_profile`" },
    { 'M', "MindSpore: parameters of its profiler" },
    { 'T', "TensorFlow: keys of `profiling_options`" },
    { 'A', "keys of `profiler` in acl.json" },
    { 'C', "the msprof command, with `--` and dashes: `--task-time` is `task_time`" },
};
enum { FRONT_ENDS = sizeof front_ends / sizeof *front_ends };

static const char *const headings[] = {
    [ASCOPE_OPTIONS_WHERE] = "Where a collection is made",
    [ASCOPE_OPTIONS_WHAT] = "What frameworks ask for",
    [ASCOPE_OPTIONS_DEVICE] = "What only TensorFlow, acl.json, msprof and MindSpore ask for",
    [ASCOPE_OPTIONS_HOW] = "How it is recorded",
};

static void print_name(const struct ascope_option_name *n)
{
    printf("`%s`", n->name);
    for (size_t i = 0; n->front_ends && i < FRONT_ENDS; i++)
        if (n->front_ends & 1u << i)
            printf("%s%c", n->front_ends & ((1u << i) - 1) ? "" : " ", front_ends[i].letter);
}

static void print_row(const struct ascope_option *o)
{
    char values[400], otherwise[200];
    ascope_option_values(o, values, sizeof values);
    ascope_option_default(o, otherwise, sizeof otherwise);
    fputs("| ", stdout);
    for (const struct ascope_option_name *n = o->names; n->name; n++) {
        fputs(n > o->names ? ", " : "", stdout);
        print_name(n);
    }
    printf(" | %s | %s | %s |\n", values, otherwise, o->help);
}

static void recorder_manual_print(void)
{
    const struct ascope_option *o;
    fputs(
        "# Options of a recording\n\n"
        "<!-- Made from the recorder's option table by make docs; edit src/collect/options/option_rows.c. -->\n\n"
        "Front ends pass their options on to the recorder under these names. C and C++ programs set them with\n"
        "`ascope_options_set(&o, name, value)`, other programs with `ASCOPE_RECORD_OPTIONS=\"name=value;name=value\"`; both accept every name.\n"
        "A value that is not accepted is replaced by the default, with a warning. Items of lists are separated by commas.\n"
        "Booleans are `true`, `false`, `on`, `off`, `yes`, `no`, `1`, `0`. Case does not matter.\n"
        "[collector.md](collector.md#options) has notes on some of them.\n\n"
        "A letter behind a name means that the documents of that front end have it:\n\n| letter | front end |\n|---|---|\n",
        stdout);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        printf("| %c | %s |\n", front_ends[i].letter, front_ends[i].name);
    for (uint32_t group = 0; group < sizeof headings / sizeof *headings; group++) {
        printf("\n## %s\n\n| name | values | default | effect |\n|---|---|---|---|\n", headings[group]);
        for (size_t i = 0; (o = ascope_option_at(i)); i++)
            if (o->group == group)
                print_row(o);
    }
}

enum { TEXT_COLUMNS = 98, OPTION_COLUMNS = 30 };

static int text_columns(void)
{
    struct term t;
    term_init(&t, stdout);
    return t.columns > 0 && t.columns < TEXT_COLUMNS ? t.columns : TEXT_COLUMNS;
}

/* Prints a text, wrapped into lines that are indented by `indent` columns. `at`: the current column. */
static void put_wrapped(const char *text, int indent, int at)
{
    const int columns = text_columns();
    while (*text) {
        const int len = (int)strcspn(text, " \n");
        if (at > indent && at + 1 + len > columns) {
            putchar('\n');
            at = 0;
        }
        if (at < indent) {
            printf("%*s", indent - at, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        printf("%.*s", len, text);
        at += len;
        text += len;
        if (strncmp(text, "\n\n", 2) == 0) {
            fputs("\n\n", stdout);
            at = 0;
        }
        text += strspn(text, " \n");
    }
    putchar('\n');
}

/* The option as usage texts show it: "-dir, --collection-dir DIR", "-q, --quiet", "--format csv|json". */
static int option_text(const struct option_row *o, bool has_sign, char *out, size_t size)
{
    size_t n = 0;
    if (o->letter)
        n += (size_t)snprintf(out + n, size - n, "-%c, ", o->letter);
    n += (size_t)snprintf(out + n, size - n, "%s%s", o->has_one_dash && !has_sign ? "-" : "--", o->name);
    if (o->also && !has_sign)
        n += (size_t)snprintf(out + n, size - n, ", --%s", o->also);
    if (o->value)
        n += (size_t)snprintf(out + n, size - n, "%c%s", has_sign ? '=' : ' ', o->value);
    if (o->kind == OPTION_SWITCH)
        n += (size_t)snprintf(out + n, size - n, has_sign ? "=on|off" : "[=on|off]");
    for (size_t i = 0; !o->value && option_choice(o, i); i++)
        n += (size_t)snprintf(out + n, size - n, "%c%s", i > 0 ? '|' : has_sign ? '=' : ' ', option_choice(o, i));
    return (int)n;
}

void help_row(const char *option, const char *help)
{
    int at = printf("  %s", option);
    if (at > OPTION_COLUMNS - 2) {
        putchar('\n');
        at = 0;
    }
    put_wrapped(help, OPTION_COLUMNS, at);
}

static const char *program_of(enum face face)
{
    static const char *const name[FACES] = {
        [FACE_ASCOPE] = "ascope", [FACE_MSPROF_PY] = "msprof.py", [FACE_MSPROF] = "msprof"
    };
    return name[face];
}

/* Each line of a usage is a form of its own. */
static void put_usage(enum face face, const struct command *c)
{
    const char *form = c->usage;
    for (bool is_first = true; is_first || *form; is_first = false) {
        char text[1000];
        const int n = (int)strcspn(form, "\n");
        snprintf(text, sizeof text, "%.*s", n, form);
        const int at =
            printf("%s %s%s%s", is_first ? "usage:" : "      ", program_of(face), *c->name ? " " : "", c->name);
        put_wrapped(text, 4, at);
        form += n + (form[n] == '\n');
    }
}

void help_command(enum face face, const struct command *c)
{
    put_usage(face, c);
    putchar('\n');
    put_wrapped(c->text, 0, 0);
    fputs("\noptions\n", stdout);
    for (size_t i = 0; i < c->n_options; i++) {
        const struct option_row *o = &option_rows[c->option[i]];
        char text[120], help[OPTION_HELP_BYTES];
        option_text(o, c->value_follows_sign, text, sizeof text);
        help_row(text, option_help(o, help, sizeof help));
    }
    if (face != FACE_ASCOPE)
        return;
    fputs("\nexit codes\n", stdout);
    for (size_t i = 0; i < n_exit_meanings; i++) {
        printf("  %d", exit_meanings[i].code);
        put_wrapped(exit_meanings[i].text, 5, 3);
    }
}

void help_overview(void)
{
    fputs("usage: ascope COMMAND [OPTION...]\n\n", stdout);
    put_wrapped(
        "A profiler for AI training and inference on Ascend NPUs, on NVIDIA GPUs, or without a device: it records programs, and turns its own recordings and those of msprof, torch_npu, MindSpore and torch.profiler into answers, timelines, tables and databases.",
        0, 0);
    int columns = 0;
    for (size_t i = 0; i < n_commands; i++)
        columns = (int)strlen(commands[i].name) > columns ? (int)strlen(commands[i].name) : columns;
    for (size_t i = 0; i < n_commands; i++) {
        if (commands[i].heading)
            printf("\n%s\n", commands[i].heading);
        put_wrapped(commands[i].about, columns + 4, printf("  %-*s  ", columns, commands[i].name));
    }
    put_wrapped("print the version", columns + 4, printf("\n  %-*s  ", columns, "-V, --version") - 1);
    put_wrapped("print this text; ascope help COMMAND describes a command", columns + 4,
                printf("  %-*s  ", columns, "-h, --help"));
    fputs("\nexamples\n  ascope run -- python3 train.py   record a training run, and analyse it\n"
          "  ascope analyse *_ascend_pt       collections of the PyTorch profiler\n"
          "  ascope export all -dir PROF_XXX  collections of msprof\n"
          "  ascope why DIR                   which step is slow, and why\n"
          "  ascope view DIR                  the same and more, in a browser\n",
          stdout);
}

int help_unknown(const char *word)
{
    const char *hint = command_hint(word), *near = command_nearest(word);
    if (hint)
        complain("%s: unknown command; %s", word, hint);
    else if (word[0] == '-')
        complain("%s: a command comes first: ascope COMMAND [OPTION...]; see ascope help", word);
    else if (near)
        complain("%s: unknown command; did you mean %s? see ascope help", word, near);
    else
        complain("%s: unknown command; see ascope help", word);
    return exit_code(FACE_ASCOPE, STATUS_USAGE);
}

int run_help(struct arguments *a)
{
    if (a->man) {
        manual_print();
        return 0;
    }
    if (a->recorder_options) {
        recorder_manual_print();
        return 0;
    }
    if (a->n_words == 0) {
        help_overview();
        return 0;
    }
    if (a->n_words > 1) {
        complain("help %s: unexpected argument; give one command", a->word[1]);
        return exit_code(a->face, STATUS_USAGE);
    }
    const struct command *c = command_find(a->word[0]);
    if (!c)
        return help_unknown(a->word[0]);
    help_command(FACE_ASCOPE, c);
    return 0;
}
