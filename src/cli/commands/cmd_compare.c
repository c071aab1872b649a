/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include "cli/commands/compared_runs.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "report/compare_report.h"

static enum exit_status report(struct arguments *a, const struct compare_report *r, enum exit_status status)
{
    struct error e = { 0 };
    size_t n_written = 0;
    if (a->options.out_dir && !compare_files_write(r, a->options.out_dir, a->options.csv_is_safe, &n_written, &e)) {
        complain("%s", e.text);
        if (n_written == 0)
            return STATUS_NOTHING;
        status = STATUS_LOSSES;
    }
    if (a->json) {
        json_t *list = json_array();
        json_list_add(&list, compare_json(r));
        return json_report(a, "comparisons", list, status);
    }
    struct term t;
    term_init(&t, stdout);
    if (!a->quiet)
        compare_print(&t, r);
    return status;
}

static enum exit_status compare_answer(struct compared_runs *x, struct arguments *a)
{
    struct comparison c;
    if (!compared_runs_compare(x, a, &c))
        return x->status;
    struct compare_report r = { .c = &c, .top = a->top };
    r.change = compare_changes(&c, &r.n_changes, a->mem);
    if (!r.change) {
        complain_no_memory("the comparison");
        return STATUS_NOTHING;
    }
    return report(a, &r, x->status);
}

int run_compare(struct arguments *a)
{
    struct compared_runs x;
    const enum exit_status status = compared_runs_read(&x, a) ? compare_answer(&x, a) : x.status;
    compared_runs_end(&x);
    return exit_code(a->face, status);
}
