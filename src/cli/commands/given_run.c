/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/given_run.h"

#include "base/memory/large_memory.h"
#include "cli/commands.h"
#include "cli/options/work.h"
#include "report/term.h"

static void recover(const void *arguments, const char *path)
{
    recover_first(arguments, path, stderr);
}

void given_run_memory(struct given_run *g, const struct arguments *a)
{
    const struct input *first = g->inputs.list.n > 0 ? &g->inputs.list.at[0] : NULL;
    if (!g->is_begun)
        work_memory(a, !first || first->file ? "/var/tmp" : first->path);
    g->is_begun = true;
}

enum exit_status given_run_read(struct given_run *g, struct arguments *a, struct run_request how, size_t n_refused)
{
    struct progress progress;
    given_run_memory(g, a);
    how.progress = &progress;
    how.inputs = &g->inputs;
    how.n_threads = a->options.n_threads;
    how.prepare = recover;
    how.context = a;
    how.warn = complain_line;
    progress_begin(&progress, stderr, !a->quiet);
    const bool done = run_read(&g->run, &how, a->mem);
    progress_end(&progress);
    if (!done) {
        complain_no_memory("the list of ranks");
        return STATUS_NOTHING;
    }
    const struct results_tally tally = { g->run.n_done, g->run.n_lossy, g->run.n_failed + n_refused };
    return tally_status(&tally);
}

enum exit_status given_run(struct given_run *g, struct arguments *a, unsigned also, bool needs_steps,
                           recording_look *look)
{
    enum { KEPT = 128 << 20 };
    size_t n_refused;
    *g = (struct given_run){ 0 };
    const enum exit_status found = given_inputs(&g->inputs, &n_refused, a, also);
    if (g->inputs.list.n == 0)
        return found;
    const struct run_request how = { .keep_bytes = a->memory ? a->memory / 4 : KEPT,
                                     .without = NOT_OF_ANSWERS,
                                     .needs_steps = needs_steps,
                                     .look = look };
    const enum exit_status status = given_run_read(g, a, how, n_refused);
    if (g->run.n > 0 || status == STATUS_NOTHING)
        return status;
    complain(
        "%s: no device was recorded: there is nothing to compare or to check; ascope export shows what the host did",
        g->inputs.list.at[0].path);
    return STATUS_NOTHING;
}

enum exit_status given_runs(struct given_run *g, struct arguments *a, recording_look *look, const void *look_of)
{
    LIST(uint32_t) group = { 0 };
    size_t n_refused = 0;
    *g = (struct given_run){ .inputs = { .mem = a->mem, .steps_by = a->steps_by } };
    for (uint32_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        const size_t before = g->inputs.list.n;
        enum exit_status status = path                   ? given_add(&g->inputs, path, INPUT_RESULTS)
                                  : arena_failed(a->mem) ? STATUS_NOTHING
                                                         : STATUS_PATH;
        if (status == STATUS_NOTHING && g->inputs.list.n > before && !arena_failed(a->mem)) {
            n_refused++; /* the usable directories are read */
            status = STATUS_DONE;
        }
        if (status != STATUS_DONE)
            return status;
        while (group.n < g->inputs.list.n) {
            uint32_t *new = list_add(&group, a->mem);
            if (!new)
                return STATUS_NOTHING;
            *new = i;
        }
    }
    g->group = group.at;
    const struct run_request how = { .only_look = true, .look = look, .look_of = look_of, .group = group.at };
    return given_run_read(g, a, how, n_refused);
}

void given_run_end(struct given_run *g)
{
    run_end(&g->run);
    if (g->is_begun)
        memory_unwatch();
}
