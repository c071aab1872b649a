/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/flow/flows.h"
#include "analyse/framework/collection_analyse.h"
#include "base/files/gzip.h"
#include "base/text/json_memory.h"
#include "cli/commands/one_collection.h"
#include "cli/options/summary.h"
#include "export/framework/framework_files.h"
#include "export/msprof/tracks/prof_trace.h"
#include "export/pftrace.h"
#include "export/scope.h"
#include "export/trace_split.h"
#include "load/trace/trace_readers.h"
#include "pipeline/collection_write.h"
#include "pipeline/drawn.h"
#include "pipeline/registry.h"
#include "report/loss_report.h"
#include "report/term.h"

/* The result: the file, or its parts. */
struct traces {
    const char *out;
    uint64_t n_events;
    const struct trace_split *split;
    struct losses lost;
};

static json_t *traces_json(const struct traces *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->split->pieces.n; i++) {
        const struct trace_piece *p = &r->split->pieces.at[i];
        json_array_append_new(list, json_pack("{s:o, s:I, s:o}", "file", text_json(p->path), "events",
                                              (json_int_t)p->n_events, "losses", losses_json(&r->lost)));
    }
    return list;
}

static enum exit_status export_trace_report(struct arguments *a, const struct traces *r, enum exit_status status)
{
    if (a->json)
        return json_report(a, "traces", traces_json(r), status);
    struct term t;
    char number[READABLE_MOST], bytes[READABLE_MOST];
    term_init(&t, report_stream(r->out));
    if (a->quiet)
        return status;
    const size_t n = r->split->pieces.n;
    for (size_t i = 0; i < n; i++) {
        const struct trace_piece *p = &r->split->pieces.at[i];
        term_text(&t, p->path, 0);
        fprintf(t.to, ": %s of %s events, for Perfetto, Chrome %s\n", n > 1 ? "part of the timeline" : "timeline",
                readable_count(number, p->n_events), r->split->gzips ? "or ascope view" : "or MindStudio Insight");
        const char *advice = trace_size_advice(p->n_text);
        if (advice)
            fprintf(t.to, "  %s of text: %s; --max-size 400M splits it into parts\n", readable_bytes(bytes, p->n_text),
                    advice);
    }
    losses_print(&t, &r->lost);
    return status;
}

/* Splits "a.json.gz" into "a" and ".json.gz", for the names of parts. */
static void split_name(struct trace_split *s, const char *out, struct arena *mem)
{
    static const char *const ending[] = { ".json.gz", ".gz", ".json" };
    const size_t len = strlen(out);
    size_t behind = 0;
    for (size_t i = 0; i < sizeof ending / sizeof *ending && behind == 0; i++)
        if (len > strlen(ending[i]) && strcmp(out + len - strlen(ending[i]), ending[i]) == 0)
            behind = strlen(ending[i]);
    s->before = arena_text(mem, out, len - behind);
    s->after = out + len - behind;
    s->gzips = behind >= 3 && strcmp(out + len - 3, ".gz") == 0;
}

/* Notes a timeline that was not split as the only part. */
static void note_whole(struct trace_split *s, const char *out, uint64_t n_events)
{
    struct stat st;
    struct trace_piece *p = s->pieces.n == 1 ? s->pieces.at : list_add(&s->pieces, s->mem);
    if (!p || s->pieces.n > 1)
        return;
    p->path = out;
    p->n_events = n_events;
    if (p->n_text == 0 && !s->gzips && stat(out, &st) == 0 && S_ISREG(st.st_mode))
        p->n_text = (uint64_t)st.st_size;
}

static struct trace_split split_of(struct arguments *a, const char *out)
{
    struct trace_split s = {
        .max_bytes = a->options.max_bytes, .is_named = true, .n_threads = a->options.n_threads, .mem = a->mem
    };
    split_name(&s, out, a->mem);
    return s;
}

/* Writes the timeline in Perfetto's own format. False: see e. */
static bool write_pftrace(struct arguments *a, const struct collection *s, const struct profile *p, struct traces *r,
                          struct error *e)
{
    struct mapped text = { 0 };
    struct chrome_trace t = { 0 };
    struct chrome_flow_pairs flows;
    struct out o;
    bool is_done = drawn_make(&text, &t, s, p, &a->options, e) &&
                   (chrome_flows_bind(&flows, &t, a->mem) || error_no_memory(e, r->out)) &&
                   out_open_named(&o, r->out, e);
    if (is_done) {
        is_done = pftrace_write(&o, &t, &(struct pftrace_flows){ flows.n, flows.from, flows.to }, e);
        if (is_done)
            is_done = out_close(&o, e);
        else
            out_discard(&o);
        r->n_events = t.n_events;
    }
    chrome_trace_free(&t);
    memory_unmap(&text);
    return is_done;
}

static enum exit_status write_trace(struct arguments *a, const struct collection *s, const char *out)
{
    struct trace_split split = split_of(a, out);
    struct traces r = { .out = out, .split = &split };
    struct error e = { 0 };
    if (s->settings.level == PROFILER_LEVEL_NONE) {
        complain(
            "%s: recorded at Level_none, which has no timeline to export; use ascope analyse for its trace_view.json",
            s->path);
        return STATUS_NOTHING;
    }
    struct collection_export x = collection_export_of(s, &a->options, a->mem);
    x.is_named = true;
    x.split = a->options.max_bytes > 0 ? &split : NULL;
    const bool done =
        pftrace_is_name(out) ? write_pftrace(a, s, &s->profile, &r, &e) : trace_view_write(&x, out, &r.n_events, &e);
    if (!done || r.n_events == 0) {
        if (done)
            complain_nothing(s, "no data for a timeline");
        else
            complain("%s", e.text);
        return STATUS_NOTHING;
    }
    if (split.pieces.n < 2)
        note_whole(&split, out, r.n_events);
    trace_split_sweep(&split);
    losses_merge(&r.lost, &s->lost);
    collection_losses(s, &r.lost);
    return export_trace_report(a, &r, collection_status(s, &r.lost));
}

/* Writes the timeline of a PROF directory to an open file. False: see e. */
static bool draw_prof(struct arguments *a, const struct profile *p, struct out *o, uint64_t *n_events, struct error *e)
{
    struct export x = { .profile = p, .registry = &prof_registry, .options = &a->options, .mem = a->mem };
    if (!scope_resolve(&x, e) || !prof_trace_draw(&x, NULL, o, NULL, n_events, e))
        return false;
    if (arena_failed(a->mem) || names_failed(p->names))
        return error_no_memory(e, p->path);
    return *n_events > 0 || error_set(e, FAULT_ASKED, "%s: no data for a timeline", p->path);
}

static bool write_plain(struct arguments *a, const struct profile *p, struct traces *r, struct trace_split *split,
                        struct error *e)
{
    struct out o;
    if (!out_open_named(&o, r->out, e))
        return false;
    if (draw_prof(a, p, &o, &r->n_events, e))
        return trace_split(split, &o, e);
    out_discard(&o);
    return false;
}

static bool write_gzip(struct arguments *a, const struct profile *p, struct traces *r, struct error *e)
{
    struct gzip g;
    if (!gzip_open(&g, r->out, e))
        return false;
    if (draw_prof(a, p, &g.text, &r->n_events, e))
        return gzip_close(&g, e);
    gzip_discard(&g);
    return false;
}

static enum exit_status write_prof_trace(struct arguments *a, const struct profile *p, const char *out)
{
    struct trace_split split = split_of(a, out);
    struct traces r = { .out = out, .split = &split, .lost = p->lost };
    struct error e = { 0 };
    if (pftrace_is_name(out)                       ? !write_pftrace(a, NULL, p, &r, &e)
        : split.gzips && a->options.max_bytes == 0 ? !write_gzip(a, p, &r, &e)
                                                   : !write_plain(a, p, &r, &split, &e)) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    if (split.pieces.n < 2)
        note_whole(&split, out, r.n_events);
    trace_split_sweep(&split);
    return export_trace_report(a, &r, losses_damage(&r.lost) > 0 ? STATUS_LOSSES : STATUS_DONE);
}

int run_export_trace(struct arguments *a)
{
    static const struct one_collection trace = {
        .wanted = "the file to write, whose name ends with .json, .json.gz or .pftrace, or a directory for it",
        .inside = "trace_view.json",
        .is_timeline = true,
        .write = write_trace,
        .write_prof = write_prof_trace,
    };
    return one_collection_run(a, &trace);
}
