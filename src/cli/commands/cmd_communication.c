/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"
#include "pipeline/analyze.h"

#include <string.h>

#include "cli/options/command.h"
#include "cli/options/work.h"
#include "report/term.h"

static const struct {
    const char *word;
    unsigned rule;
} rule_word[] = { { "communication", RULE_COMMUNICATION }, { "communication_matrix", RULE_MATRIX } };

/* Reads "communication,communication_matrix"; the launcher of the reference writes a "=" before it. 0: invalid. */
static unsigned rules_read(const char *text)
{
    unsigned rules = 0;
    for (const char *word = text + (*text == '='); word;) {
        const size_t len = strcspn(word, ",");
        unsigned rule = 0;
        for (size_t i = 0; i < sizeof rule_word / sizeof *rule_word; i++)
            if (strlen(rule_word[i].word) == len && strncmp(rule_word[i].word, word, len) == 0)
                rule = rule_word[i].rule;
        if (!rule)
            return 0;
        rules |= rule;
        word = word[len] == ',' ? word + len + 1 : NULL;
    }
    return rules;
}

struct communication_analysis {
    struct arguments *a;
    struct analyze_request request;
};

/* Without communication data the reference ends successfully; as ascope, the command fails and reports it. */
static bool end_empty(const struct communication_analysis *n, const char *path, const char *why, struct error *e)
{
    if (n->a->face == FACE_ASCOPE)
        return error_set(e, FAULT_ASKED, "%s: %s", path, why);
    advise(n->a, "%s: %s", path, why);
    return true;
}

static bool analyze_one(const void *context, const char *path, struct progress *progress, struct result *r,
                        struct error *e)
{
    const struct communication_analysis *n = context;
    struct analyze_result found;
    r->account.mem = arena_new();
    if (!r->account.mem)
        return error_no_memory(e, path);
    if (!work_load(path, 0, n->a->options.n_threads, progress, r, e))
        return false;
    progress_stage(progress, "writing", 1, 1, 0);
    if (!analyze_write(&r->profile, &n->request, r->account.mem, &found, e)) {
        if (found.n_files == 0)
            return false;
        account_problem(&r->account, e->text); /* some files were written */
    }
    if (n->a->options.clears)
        result_clear(r);
    for (size_t i = 0; i < found.n_files; i++) {
        struct written *w = list_add(&r->account.files, r->account.mem);
        if (w)
            *w = found.file[i];
        else
            account_problem(&r->account, NULL);
    }
    if (found.n_untimed > 0)
        account_problem(&r->account,
                        arena_printf(r->account.mem,
                                     "%s: %llu collectives have no task on a master stream, and so no time", path,
                                     (unsigned long long)found.n_untimed));
    return !found.why_nothing || end_empty(n, path, found.why_nothing, e);
}

int run_communication(struct arguments *a)
{
    if (!a->rule && a->face == FACE_MSPROF_PY) {
        complain("--rule: missing; accepted are communication, communication_matrix, or both separated by a comma");
        return exit_code(a->face, STATUS_USAGE);
    }
    const unsigned rules = a->rule ? rules_read(a->rule) : RULE_ALL;
    if (!rules) {
        complain("--rule %s: accepted are communication, communication_matrix, or both separated by a comma", a->rule);
        return exit_code(a->face, STATUS_USAGE);
    }
    const struct communication_analysis n = {
        a, { .rules = rules, .is_db_only = a->type == 1, .out_dir = a->options.out_dir }
    };
    return work_run(a, 0, &(struct work){ analyze_one, &n });
}
