/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

#include "cli/options/command.h"
#include "report/term.h"

/* How an option of the reference is translated. */
enum msprof_analyze_rule {
    RULE_DIR,    /* its value becomes a directory argument */
    RULE_KEEP,   /* kept, with its value */
    RULE_FLAG,   /* kept; it has no value */
    RULE_DROP,   /* dropped, with its value */
    RULE_IGNORE, /* dropped; it has no value */
    RULE_TYPE,   /* kept; notebook becomes db, from which notebooks are made */
    RULE_STEP,   /* kept, except -1, which means all steps: the default */
};

static const struct {
    const char *name, *letter;
    enum msprof_analyze_rule rule;
} rules[] = {
    { "--profiling_path", "-d", RULE_DIR },
    { "--mode", "-m", RULE_KEEP },
    { "--output_path", "-o", RULE_KEEP },
    { "--export_type", "", RULE_TYPE },
    { "--rank_list", "", RULE_KEEP },
    { "--step_id", "", RULE_STEP },
    { "--parallel_mode", "", RULE_DROP },
    { "--force", "", RULE_IGNORE },
    { "--agent", "", RULE_IGNORE },
    { "--top_num", "", RULE_KEEP },
    { "--bp", "-bp", RULE_KEEP },
    { "--rank_id", "", RULE_KEEP },
    { "--parallel_types", "", RULE_KEEP },
    { "--exclude_op_name", "", RULE_FLAG },
    { "--help", "-h", RULE_FLAG },
    { "--tp", "", RULE_DROP },
    { "--pp", "", RULE_DROP },
    { "--dp", "", RULE_DROP },
};
enum { RULES = sizeof rules / sizeof *rules };

/* The index of the rule of a word; RULES: unknown. *value: its value after "=", or NULL. */
static size_t rule_of(const char *word, const char **value)
{
    const size_t len = strcspn(word, "=");
    *value = word[len] ? word + len + 1 : NULL;
    for (size_t i = 0; i < RULES; i++)
        if ((strlen(rules[i].name) == len && strncmp(rules[i].name, word, len) == 0) ||
            strcmp(rules[i].letter, word) == 0)
            return i;
    return RULES;
}

/* The command line of `ascope cluster`: at most two words for each word of the reference's, and two of our own. */
struct msprof_analyze_line {
    const char **word;
    size_t n;
};

static void msprof_analyze_put(struct msprof_analyze_line *l, const char *word)
{
    l->word[l->n++] = word;
}

static void put_option(struct msprof_analyze_line *l, size_t i, const char *value)
{
    switch (rules[i].rule) {
    case RULE_DIR: msprof_analyze_put(l, value); break;
    case RULE_KEEP:
        msprof_analyze_put(l, rules[i].name);
        msprof_analyze_put(l, value);
        break;
    case RULE_TYPE:
        msprof_analyze_put(l, rules[i].name);
        msprof_analyze_put(l, strcmp(value, "notebook") == 0 ? "db" : value);
        break;
    case RULE_STEP:
        if (strcmp(value, "-1") != 0) {
            msprof_analyze_put(l, rules[i].name);
            msprof_analyze_put(l, value);
        }
        break;
    case RULE_FLAG: msprof_analyze_put(l, rules[i].name); break;
    case RULE_DROP:
    case RULE_IGNORE: break;
    }
}

/* Translates the command line. False: the error was reported. *is_agent: the report is requested as JSON. */
static bool translate(int argc, char **argv, struct msprof_analyze_line *l, bool *is_agent)
{
    msprof_analyze_put(l, "cluster");
    for (int i = 1; i < argc; i++) {
        const char *value;
        const size_t rule = rule_of(argv[i], &value);
        if (i == 1 && strcmp(argv[i], "cluster") == 0)
            continue;
        if (i == 1 && (strcmp(argv[i], "compare") == 0 || strcmp(argv[i], "advisor") == 0)) {
            complain("%s: not under this name; use ascope %s", argv[i], *argv[i] == 'c' ? "compare" : "advise");
            return false;
        }
        if (rule == RULES) {
            complain("%s: unknown option; see ascope help cluster", argv[i]);
            return false;
        }
        const bool has_value = rules[rule].rule != RULE_FLAG && rules[rule].rule != RULE_IGNORE;
        if (has_value && !value && !(value = i + 1 < argc ? argv[++i] : NULL)) {
            complain("%s: missing value", argv[i]);
            return false;
        }
        *is_agent |= strcmp(rules[rule].name, "--agent") == 0;
        put_option(l, rule, value);
    }
    if (*is_agent)
        msprof_analyze_put(l, "--json");
    return true;
}

int msprof_analyze_main(int argc, char **argv)
{
    enum { OWN_WORDS = 2 };
    bool is_agent = false;
    const struct command *c = command_find("cluster");
    struct arguments a = arguments_new(FACE_ASCOPE);
    struct msprof_analyze_line l = { .word = a.mem ? arena_take(a.mem, 2 * (size_t)argc + OWN_WORDS + 1, sizeof *l.word)
                                                   : NULL };
    int code = exit_code(FACE_ASCOPE, STATUS_USAGE);
    if (!l.word)
        code = exit_code(FACE_ASCOPE, arguments_refused(&a));
    else if (translate(argc, argv, &l, &is_agent)) {
        if (!options_parse(c, (int)l.n, (char **)l.word, &a))
            code = exit_code(FACE_ASCOPE, arguments_refused(&a));
        else if (a.help)
            help_command(FACE_ASCOPE, c), code = 0;
        else
            code = c->run(&a);
    }
    arguments_end(&a);
    return code;
}
