/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/files/destination.h"
#include "base/text/json_memory.h"
#include "cli/commands/one_collection.h"
#include "cli/options/summary.h"
#include "export/pages/export_pages.h"
#include "report/loss_report.h"
#include "report/term.h"

static const char *const metric_word[] = {
    [TIME_OF_HOST] = "self_cpu_time_total", [TIME_OF_DEVICE] = "self_npu_time_total"
};

/* Replaces the ending of a name, "a.b.log" becomes "a.b.svg", or appends it to a name without one. */
static const char *with_ending(struct arguments *a, const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash + 1 : path, '.');
    const bool has_one = dot && dot != (slash ? slash + 1 : path);
    return arena_printf(a->mem, "%.*s%s", (int)(has_one ? dot - path : (long)strlen(path)), path, ending);
}

static void merge_losses(const struct collection *s, struct losses *lost)
{
    losses_merge(lost, &s->lost);
    losses_merge(lost, &s->profile.lost);
    losses_merge(lost, &s->framework.file[FRAMEWORK_OPS].lost);
    losses_merge(lost, &s->framework.file[FRAMEWORK_MARKS].lost);
}

/* Prints the report; log, svg: the files that were written, or NULL. */
static enum exit_status export_stacks_report(struct arguments *a, const char *log, const char *svg, uint64_t n,
                                             const struct losses *lost, enum exit_status status)
{
    if (a->json)
        return json_report(a, "stacks",
                           json_pack("[{s:o*, s:o*, s:s, s:I, s:o}]", "file", log ? text_json(log) : NULL, "graph",
                                     svg ? text_json(svg) : NULL, "metric", metric_word[a->metric], "lines",
                                     (json_int_t)n, "losses", losses_json(lost)),
                           status);
    struct term t;
    char number[READABLE_MOST];
    term_init(&t, report_stream(log ? log : svg));
    if (a->quiet)
        return status;
    if (log) {
        term_text(&t, log, 0);
        fprintf(t.to, ": %s stacks, for flame-graph tools\n", readable_count(number, n));
    }
    if (svg) {
        term_text(&t, svg, 0);
        fputs(": flame graph, for a browser\n", t.to);
    }
    losses_print(&t, lost);
    return status;
}

/* The reason why there are no stacks. */
static const char *why_none(const struct collection *s, enum time_metric metric)
{
    return !s->settings.has_cpu      ? "operators were not recorded; stacks require the activity CPU"
           : !s->settings.with_stack ? "was collected without stacks; set with_stack"
           : metric == TIME_OF_DEVICE && s->kernels.n == 0
               ? "no operator has time on a device; use --metric self_cpu_time_total"
               : "no operator with a stack took any time";
}

static enum exit_status write_stacks(struct arguments *a, const struct collection *s, const char *out)
{
    const enum time_metric metric = a->metric == 1 ? TIME_OF_DEVICE : TIME_OF_HOST;
    const size_t len = strlen(out);
    const bool is_graph_only = len > 4 && strcmp(out + len - 4, ".svg") == 0;
    struct losses lost = { 0 };
    struct error e = { 0 };
    uint64_t n = 0;
    struct destination d;
    if (!destination_look(&d, out, &e)) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    /* A FIFO, a device or standard output takes only the lines. */
    const bool is_file = d.kind == DESTINATION_FILE;
    const char *log = is_graph_only ? NULL : out;
    const char *svg = is_graph_only ? out : is_file ? with_ending(a, out, ".svg") : NULL;
    if (arena_failed(a->mem)) {
        complain_no_memory(out);
        return STATUS_NOTHING;
    }
    if (!stacks_write(s, metric, log, &n, &e)) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    merge_losses(s, &lost);
    if (n == 0) {
        complain_nothing(s, why_none(s, metric));
        return STATUS_NOTHING;
    }
    if (svg && !flame_graph_write(s, metric, svg, &e)) {
        complain("%s", e.text);
        return log ? export_stacks_report(a, log, NULL, n, &lost, STATUS_LOSSES) : STATUS_NOTHING;
    }
    return export_stacks_report(a, log, svg, n, &lost, collection_status(s, &lost));
}

int run_export_stacks(struct arguments *a)
{
    static const struct one_collection stacks = {
        .wanted = "the file to write; a name that ends with .svg is for the picture alone",
        .write = write_stacks,
    };
    return one_collection_run(a, &stacks);
}
