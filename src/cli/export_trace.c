#include <stdio.h>
#include <string.h>

#include "cli/one_session.h"
#include "cli/summary.h"
#include "cli/term.h"
#include "export/session_trace.h"
#include "export/session_write.h"

static enum outcome report(struct arguments *a, const struct session *s, const char *out, uint64_t n,
                           const struct losses *lost)
{
    const enum outcome outcome = session_outcome(s, lost);
    if (a->json)
        return json_report(a, "traces",
                           json_pack("[{s:o, s:I, s:o}]", "file", text_json(out), "events", (json_int_t)n, "losses",
                                     summary_losses_json(lost)),
                           outcome);
    struct term t;
    char number[TERM_NUMBER];
    term_init(&t, report_stream(out));
    if (a->quiet)
        return outcome;
    term_text(&t, out, 0);
    fprintf(t.to, ": timeline of %s events, for Perfetto, Chrome or MindStudio Insight\n", term_count(number, n));
    summary_losses(&t, lost);
    return outcome;
}

static enum outcome write_trace(struct arguments *a, const struct session *s, const char *out)
{
    struct losses lost = { 0 };
    struct error e = { 0 };
    uint64_t n = 0;
    if (s->settings.level == SESSION_LEVEL_NONE) {
        complain("%s: was collected at Level_none, of which no trace is exported; ascope analyse writes its "
                 "trace_view.json",
                 s->path);
        return OUTCOME_NOTHING;
    }
    struct session_export x =
        session_export_of(s, a->dialect == 1 ? DIALECT_CURRENT : DIALECT_SEED, arguments_threads(a), a->mem);
    x.device.from_start = a->time_base == 1;
    x.is_pretty = a->pretty;
    x.is_named = true;
    const bool done = session_trace_write(&x, out, &n, &e);
    if (!done || n == 0) {
        if (done)
            complain_nothing(s, "nothing was recorded that a timeline could show");
        else
            complain("%s", e.text);
        return OUTCOME_NOTHING;
    }
    losses_merge(&lost, &s->lost);
    session_losses(s, &lost);
    return report(a, s, out, n, &lost);
}

int run_export_trace(struct arguments *a)
{
    static const struct one_session trace = {
        .wanted = "the file to write, whose name ends with .json or .json.gz, or a directory for it",
        .inside = "trace_view.json",
        .write = write_trace,
    };
    return one_session_run(a, &trace);
}
