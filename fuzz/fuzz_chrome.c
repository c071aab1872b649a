/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in Chrome's form: every event is found or counted, and what is found lies inside the text. */
#include <math.h>

#include "answers/run/run_chrome.h"
#include "answers/run/run_rank.h"
#include "answers/run/trace_steps.h"
#include "fuzz.h"
#include "guarded.h"
#include "load/trace/trace_readers.h"
#include "view/rows/view_timeline.h"

static void check_args(const struct chrome_trace *t, uint64_t at, uint32_t len)
{
    if (at > t->n_bytes || len > t->n_bytes - at)
        abort();
    char decoded[256];
    const struct json_span found = json_find((struct json_span){ len ? t->text + at : NULL, len }, "Ev Idx");
    if (found.len > 0 && found.len <= sizeof decoded && json_decode(found, decoded) > found.len)
        abort();
}

/* The first and the last step against the others: their parts add up to them. */
static void explain(const struct chrome_trace *t, struct names *names, struct arena *mem)
{
    const struct run_rank view = run_rank_of_trace(t, names);
    struct step_series s;
    struct step_division division;
    if (!run_rank_series(&s, &view, mem))
        abort();
    const uint32_t wanted[] = { 0, (uint32_t)s.n - 1 };
    const size_t n_wanted = s.n < 2 ? s.n : 2;
    if (!run_rank_division(&division, &s, &view, wanted, n_wanted, mem))
        abort();
    for (size_t i = 0; i < n_wanted; i++)
        if (fabs(division.of[i].time_ns - (double)s.time_ns[wanted[i]]) > 1 + 1e-6 * (double)s.time_ns[wanted[i]])
            abort();
}

/* As ascope why, compare and view use it. */
static void use(const struct chrome_trace *t)
{
    struct arena *mem = arena_new();
    struct names *names = names_new();
    struct measured_rank run;
    struct view_timeline timeline;
    struct error e = { 0 };
    if (!mem || !names || !view_timeline_build(&timeline, t, mem))
        abort();
    if (!run_of_chrome(&run, t, names, mem, &e) && e.fault != FAULT_FORMAT && e.fault != FAULT_ASKED)
        abort();
    explain(t, names, mem);
    names_free(names);
    arena_free(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *copy = guarded_copy(data, size);
    struct chrome_trace t;
    struct error e = { 0 };
    if (chrome_parse(&t, copy ? (const char *)copy : "", size, "fuzz", &e)) {
        const size_t rows = t.slices.n + t.n_pairs + t.instants.n + t.flows.n + t.n_counter_events + t.n_metadata;
        const uint64_t lost = t.lost.by[LOSS_UNPAIRED].n + t.lost.by[LOSS_OTHER_KIND].n + t.lost.by[LOSS_BAD_VALUE].n;
        if (rows + lost != t.n_events)
            abort();
        for (size_t i = 0; i < t.slices.n; i++) {
            check_args(&t, t.slices.args_at[i], t.slices.args_len[i]);
            if (t.slices.dur_ns[i] < 0 || t.slices.track[i] >= t.tracks.n)
                abort();
        }
        for (size_t i = 0; i < t.instants.n; i++)
            check_args(&t, t.instants.at[i].args_at, t.instants.at[i].args_len);
        if (!trace_steps_find(&t, NULL, &e))
            abort();
        use(&t);
        chrome_trace_free(&t);
    } else if (e.fault != FAULT_FORMAT) {
        abort();
    }
    guarded_free(copy, size);
    return 0;
}
