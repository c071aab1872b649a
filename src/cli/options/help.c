/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/help.h"

#include <stdio.h>
#include <string.h>

#include "cli/options/command.h"
#include "cli/commands.h"
#include "cli/options/manual.h"
#include "cli/options/exit_status.h"
#include "cli/options/recorder_manual.h"
#include "report/term.h"

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

void help_command(enum face face, const struct command *c)
{
    const int at = printf("usage: %s%s%s", program_of(face), *c->name ? " " : "", c->name);
    put_wrapped(c->usage, 4, at);
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
