/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/compared_runs.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "report/gate/gate_ci.h"

/* "5%", "2.5" */
static bool percent_read(const char *text, size_t n, double *out)
{
    static const double least = 0.1, most = 1000;
    char number[16], *end;
    if (n == 0 || n >= sizeof number || text[0] < '0' || text[0] > '9')
        return false;
    memcpy(number, text, n);
    number[n] = 0;
    const double percent = strtod(number, &end);
    *out = percent / 100;
    return (strcmp(end, "") == 0 || strcmp(end, "%") == 0) && percent >= least && percent <= most;
}

/* "step=3%,memory=10%"; a number alone is that of the step. What is slow in some steps counts as the step does. */
static bool allowed_read(const char *text, double allowed[GATE_MEASURES])
{
    for (unsigned k = 0; k < GATE_MEASURES; k++)
        allowed[k] = NAN;
    for (const char *at = text;; at++) {
        const size_t n = strcspn(at, ","), n_name = strcspn(at, "=,");
        unsigned k = GATE_STEP;
        const bool has_name = n_name < n;
        while (has_name && k < GATE_MEASURES &&
               (strlen(gate_measure_key[k]) != n_name || strncmp(gate_measure_key[k], at, n_name) != 0))
            k++;
        const size_t from = has_name ? n_name + 1 : 0;
        if (k == GATE_MEASURES || !isnan(allowed[k]) || !percent_read(at + from, n - from, &allowed[k]))
            return false;
        at += n;
        if (!*at)
            break;
    }
    if (isnan(allowed[GATE_SLOW]))
        allowed[GATE_SLOW] = allowed[GATE_STEP];
    return true;
}

/* Where there is room for text beside a result on standard output. Runners of GitHub read both streams. */
static FILE *text_stream(const struct arguments *a)
{
    const char *const file[] = { a->json ? "-" : NULL, a->markdown, a->junit, a->sarif };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        if (file[i] && report_stream(file[i]) == stderr)
            return stderr;
    return stdout;
}

static bool files_write(const struct arguments *a, const struct gate_report *r, const struct gate_ci *ci)
{
    struct error e = { 0 };
    const bool is_written = (!a->markdown || gate_markdown_write(r, a->markdown, &e)) &&
                            (!a->junit || gate_junit_write(ci, a->junit, &e)) &&
                            (!a->sarif || gate_sarif_write(ci, a->sarif, &e));
    if (!is_written)
        complain("%s", e.text);
    return is_written;
}

static enum exit_status report(struct arguments *a, const struct gate_report *r)
{
    static const enum exit_status of[] = {
        [GATE_PASS] = STATUS_DONE, [GATE_INCONCLUSIVE] = STATUS_INCONCLUSIVE, [GATE_REGRESSED] = STATUS_REGRESSED
    };
    enum exit_status status = of[r->gate ? r->gate->verdict : GATE_INCONCLUSIVE];
    struct gate_case list[GATE_MEASURES];
    struct gate_ci ci = { .c = list, .path = a->word[a->n_words - 1] };
    if (!gate_cases(r, a->mem, list, &ci.n)) {
        complain_no_memory("the report");
        return STATUS_NOTHING;
    }
    if (!files_write(a, r, &ci))
        status = STATUS_NOTHING;
    struct term t;
    term_init(&t, text_stream(a));
    if (!a->quiet && !a->json)
        gate_print(&t, r);
    if (a->github)
        gate_annotate(t.to, &ci);
    if (!a->json)
        return status;
    json_t *answer = json_array();
    json_list_add(&answer, gate_json(r));
    return json_report(a, "gates", answer, status);
}

static enum exit_status report_nothing(struct arguments *a)
{
    return report(a, &(struct gate_report){ .sentence =
                                                "INCONCLUSIVE: there is nothing to compare, or it could not be read: "
                                                "see the messages" });
}

static enum exit_status gate_answer(struct compared_runs *x, struct arguments *a, const double allowed[GATE_MEASURES])
{
    struct comparison c;
    struct gate gate;
    if (!compared_runs_compare(x, a, &c))
        return report_nothing(a);
    gate_judge(&gate, &c, allowed, x->status != STATUS_DONE);
    struct gate_report r = { .gate = &gate, .compare = { .c = &c, .top = a->top } };
    r.compare.change = compare_changes(&c, &r.compare.n_changes, a->mem);
    r.sentence = gate_sentence(&gate, &c, a->mem);
    if (r.compare.change && r.sentence)
        return report(a, &r);
    complain_no_memory("the comparison");
    return STATUS_NOTHING;
}

/* A path that is not there is a mistake on the command line, or an option behind "--"; one that has nothing to read is
 * a failed recording. */
static bool has_missing_path(struct arguments *a)
{
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        if (!path || access(path, F_OK) != 0)
            return true;
    }
    return false;
}

int run_gate(struct arguments *a)
{
    double allowed[GATE_MEASURES];
    struct compared_runs x;
    if (!json_has_room(a, "--markdown", a->markdown) || !json_has_room(a, "--junit", a->junit) ||
        !json_has_room(a, "--sarif", a->sarif))
        return exit_code(a->face, STATUS_USAGE);
    if (!allowed_read(a->allow ? a->allow : "3%", allowed)) {
        complain(
            "--allow: \"%s\" is invalid; expected 0.1%% to 1000%%, or MEASURE=PERCENT,...; MEASURE is step, computing, "
            "communication, free, slow or memory",
            a->allow);
        return exit_code(a->face, STATUS_PARAMETER);
    }
    enum exit_status status;
    if (compared_runs_read(&x, a))
        status = gate_answer(&x, a, allowed);
    else
        status = x.status == STATUS_USAGE || has_missing_path(a) ? STATUS_USAGE : report_nothing(a);
    compared_runs_end(&x);
    return exit_code(a->face, status);
}
