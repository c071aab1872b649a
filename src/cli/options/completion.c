/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "report/term.h"

static void put_dashed(const struct option_row *o)
{
    printf(" -%s%s", o->has_one_dash ? "" : "-", o->name);
    if (o->also)
        printf(" --%s", o->also);
    if (o->letter)
        printf(" -%c", o->letter);
}

static void put_commands(void)
{
    for (size_t c = 0; c < n_commands; c++)
        printf("%s%s", c > 0 ? " " : "", commands[c].name);
}

static bool has_words(const struct command *c)
{
    return c->words || c->run == run_help;
}

static void put_words(const struct command *c)
{
    if (c->run == run_help)
        put_commands();
    else if (c->words)
        fputs(c->words, stdout);
}

static void put_choices(const struct option_row *o)
{
    for (size_t i = 0; option_choice(o, i); i++)
        printf("%s%s", i > 0 ? " " : "", option_choice(o, i));
}

/* Replaces an alias by the name of its command. */
static void put_aliases(void)
{
    fputs("    case $command in\n", stdout);
    for (size_t i = 0; i < n_command_aliases; i++)
        printf("    %s) command=%s ;;\n", command_aliases[i].name, command_aliases[i].of);
    fputs("    esac\n", stdout);
}

/* Completes the values of options. Options with the same name may have different values in different commands. */
static void bash_values(void)
{
    for (size_t c = 0; c < n_commands; c++)
        for (size_t i = 0; i < commands[c].n_options; i++) {
            const struct option_row *o = &option_rows[commands[c].option[i]];
            if (o->kind == OPTION_FLAG || o->kind == OPTION_COUNT || o->kind == OPTION_SWITCH)
                continue;
            printf("    '%s -%s%s'", commands[c].name, o->has_one_dash ? "" : "-", o->name);
            if (o->also)
                printf(" | '%s --%s'", commands[c].name, o->also);
            fputs(") ", stdout);
            if (option_choice(o, 0)) {
                fputs("_ascope_offer -W '", stdout);
                put_choices(o);
                fputs("'; ", stdout);
            } else if (o->kind == OPTION_DIR || o->kind == OPTION_FILE) {
                printf("compopt -o filenames; _ascope_offer -%c; ", o->kind == OPTION_DIR ? 'd' : 'f');
            }
            fputs("return ;;\n", stdout);
        }
}

static void bash_script(void)
{
    fputs("# bash completion for ascope; made from the option tables by: ascope completion bash\n"
          "_ascope_offer()\n{\n"
          "    mapfile -t COMPREPLY < <(compgen \"$@\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n}\n\n"
          "_ascope()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words options what=-d at=2\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n        _ascope_offer -W '",
          stdout);
    put_commands();
    fputs(" --version --help'\n        return\n    fi\n", stdout);
    put_aliases();
    fputs("    case \"$command ${COMP_WORDS[COMP_CWORD - 1]}\" in\n", stdout);
    bash_values();
    fputs("    esac\n    case $command in\n", stdout);
    for (size_t c = 0; c < n_commands; c++) {
        printf("    %s)\n        words='", commands[c].name);
        put_words(&commands[c]);
        fputs("'\n        options='", stdout);
        for (size_t i = 0; i < commands[c].n_options; i++)
            put_dashed(&option_rows[commands[c].option[i]]);
        fputs(commands[c].ends_at_word       ? "'\n        what=-c ;;\n"
              : commands[c].has_files        ? "'\n        what=-f ;;\n"
              : commands[c].words_are_second ? "'\n        at=3 ;;\n"
                                             : "' ;;\n",
              stdout);
    }
    fputs("    *) return ;;\n    esac\n"
          "    if [[ $word == -* ]]; then\n        _ascope_offer -W \"$options\"\n"
          "    elif ((COMP_CWORD == at)) && [[ $words ]]; then\n        _ascope_offer -W \"$words\"\n"
          "    else\n        compopt -o filenames\n        _ascope_offer \"$what\"\n    fi\n"
          "}\ncomplete -F _ascope ascope\n",
          stdout);
}

/* Escapes brackets, colons and quotes, which have a meaning in specifications of _arguments. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            putchar('\\');
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    }
}

static void zsh_option(const char *dashes, const char *name, const struct option_row *o)
{
    printf("        '%s%s[", dashes, name);
    zsh_text(o->help);
    putchar(']');
    switch (o->kind) {
    case OPTION_FLAG:
    case OPTION_COUNT: break;
    case OPTION_SWITCH: fputs("::value:(on off)", stdout); break;
    case OPTION_WORD:
    case OPTION_CHOICE:
    case OPTION_TEXT:
        fputs(option_choice(o, 0) ? ":value:(" : ":value: ", stdout);
        put_choices(o);
        fputs(option_choice(o, 0) ? ")" : "", stdout);
        break;
    case OPTION_DIR: fputs(":directory:_files -/", stdout); break;
    case OPTION_FILE: fputs(":file:_files", stdout); break;
    case OPTION_SIZE:
    case OPTION_NUMBER: fputs(":value: ", stdout); break;
    }
    fputs("' \\\n", stdout);
}

static void zsh_script(void)
{
    fputs("#compdef ascope\n# zsh completion for ascope; made from the option tables by: ascope completion zsh\n"
          "_ascope() {\n    local -a commands\n    commands=(\n",
          stdout);
    for (size_t c = 0; c < n_commands; c++) {
        printf("        '%s:", commands[c].name);
        zsh_text(commands[c].about);
        fputs("'\n", stdout);
    }
    fputs("    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n    fi\n"
          "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n",
          stdout);
    put_aliases();
    fputs("    case $command in\n", stdout);
    for (size_t c = 0; c < n_commands; c++) {
        printf("    %s)\n        _arguments \\\n", commands[c].name);
        for (size_t i = 0; i < commands[c].n_options; i++) {
            const struct option_row *o = &option_rows[commands[c].option[i]];
            const char letter[] = { o->letter, 0 };
            zsh_option(o->has_one_dash ? "-" : "--", o->name, o);
            if (o->also)
                zsh_option("--", o->also, o);
            if (o->letter)
                zsh_option("-", letter, o);
        }
        if (has_words(&commands[c])) {
            printf("        '%d:what:(", commands[c].words_are_second ? 2 : 1);
            put_words(&commands[c]);
            fputs(")' \\\n", stdout);
        }
        fputs(commands[c].ends_at_word ? "        '*::program:_normal'\n        ;;\n"
              : commands[c].has_files  ? "        '*:file:_files'\n        ;;\n"
                                       : "        '*:directory:_files -/'\n        ;;\n",
              stdout);
    }
    fputs("    esac\n}\n_ascope \"$@\"\n", stdout);
}

/* Quotes a text for fish. */
static void fish_text(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        printf(strchr("\\'", *text) ? "\\%c" : "%c", *text);
    putchar('\'');
}

/* Begins a line that applies after a command or one of its aliases. */
static void fish_begin(const struct command *c)
{
    printf("complete -c ascope -n '__fish_seen_subcommand_from %s", c->name);
    for (size_t i = 0; i < n_command_aliases; i++)
        if (strcmp(command_aliases[i].of, c->name) == 0)
            printf(" %s", command_aliases[i].name);
    putchar('\'');
}

static void fish_option(const struct command *c, const struct option_row *o)
{
    fish_begin(c);
    printf(" -%c %s", o->has_one_dash ? 'o' : 'l', o->name);
    if (o->also)
        printf(" -l %s", o->also);
    if (o->letter)
        printf(" -s %c", o->letter);
    fputs(" -d ", stdout);
    fish_text(o->help);
    if (option_choice(o, 0)) {
        fputs(" -x -a '", stdout);
        put_choices(o);
        putchar('\'');
    } else if (o->kind == OPTION_DIR) {
        fputs(" -x -a '(__fish_complete_directories)'", stdout);
    } else if (o->kind != OPTION_FLAG && o->kind != OPTION_COUNT && o->kind != OPTION_SWITCH) {
        fputs(o->kind == OPTION_FILE ? " -r -F" : " -x", stdout);
    }
    putchar('\n');
}

static void fish_script(void)
{
    fputs("# fish completion for ascope; made from the option tables by: ascope completion fish\n"
          "complete -c ascope -f\n",
          stdout);
    for (size_t c = 0; c < n_commands; c++) {
        printf("complete -c ascope -n __fish_use_subcommand -a %s -d ", commands[c].name);
        fish_text(commands[c].about);
        putchar('\n');
    }
    for (size_t c = 0; c < n_commands; c++) {
        for (size_t i = 0; i < commands[c].n_options; i++)
            fish_option(&commands[c], &option_rows[commands[c].option[i]]);
        if (has_words(&commands[c])) {
            fish_begin(&commands[c]);
            fputs(" -a '", stdout);
            put_words(&commands[c]);
            fputs("'\n", stdout);
        }
        fish_begin(&commands[c]);
        fputs(commands[c].ends_at_word ? " -a '(__fish_complete_subcommand)'\n"
              : commands[c].has_files  ? " -F\n"
                                       : " -a '(__fish_complete_directories)'\n",
              stdout);
    }
}

int run_completion(struct arguments *a)
{
    static const struct {
        const char *shell;
        void (*print)(void);
    } script[] = {
        { "bash", bash_script },
        { "zsh", zsh_script },
        { "fish", fish_script },
    };
    for (size_t i = 0; i < sizeof script / sizeof *script && a->n_words == 1; i++)
        if (strcmp(script[i].shell, a->word[0]) == 0) {
            script[i].print();
            return 0;
        }
    if (a->n_words > 1)
        complain("completion %s: unexpected argument; give one shell: bash, zsh or fish", a->word[1]);
    else if (a->n_words == 1)
        complain("completion %s: accepted are bash, zsh and fish", a->word[0]);
    else
        complain("completion: missing shell; accepted are bash, zsh and fish");
    return exit_code(a->face, STATUS_USAGE);
}
