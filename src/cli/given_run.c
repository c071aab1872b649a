/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/given_run.h"

#include "base/large_memory.h"
#include "cli/cmd_recover.h"
#include "cli/given.h"
#include "cli/term.h"
#include "cli/work.h"

static void recover(const void *arguments, const char *path)
{
    recover_first(arguments, path, stderr);
}

static bool read_all(struct given_run *g, struct arguments *a, const struct run_request *how)
{
    struct progress progress;
    struct run_request q = *how;
    q.progress = &progress;
    progress_begin(&progress, stderr, !a->quiet);
    const bool done = run_read(&g->run, &q, a->mem);
    progress_end(&progress);
    return done;
}

enum exit_status given_run(struct given_run *g, struct arguments *a, unsigned also, bool needs_steps,
                           void *(*look)(const struct recording *l, size_t i, struct arena *mem))
{
    enum { KEPT = 128 << 20 };
    size_t n_refused;
    *g = (struct given_run){ 0 };
    const enum exit_status found = given_inputs(&g->inputs, &n_refused, a, also);
    if (g->inputs.list.n == 0)
        return found;
    work_memory(a, g->inputs.list.at[0].path);
    g->is_begun = true;
    const struct run_request how = { .inputs = &g->inputs,
                                     .n_threads = a->options.n_threads,
                                     .keep_bytes = a->memory ? a->memory / 4 : KEPT,
                                     .needs_steps = needs_steps,
                                     .prepare = recover,
                                     .context = a,
                                     .warn = complain_line,
                                     .look = look };
    if (!read_all(g, a, &how)) {
        complain_no_memory("the list of ranks");
        return STATUS_NOTHING;
    }
    const struct tally tally = { g->run.n_done, g->run.n_lossy, g->run.n_failed + n_refused };
    const enum exit_status status = tally_status(&tally);
    if (g->run.n > 0 || status == STATUS_NOTHING)
        return status;
    complain(
        "%s: no device was recorded: there is nothing to compare or to check; ascope export shows what the host did",
        g->inputs.list.at[0].path);
    return STATUS_NOTHING;
}

void given_run_end(struct given_run *g)
{
    run_end(&g->run);
    if (g->is_begun)
        memory_unwatch();
}
