/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <limits.h>
#include <stdio.h>

#include "base/process/progress.h"
#include "base/text/json_memory.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "report/term.h"
#include "sim/job/sim_job.h"

static void add_json(void *list, const char *path)
{
    json_array_append_new(list, json_pack("{s:o}", "path", text_json(path)));
}

int run_sim(struct arguments *a)
{
    struct error e = { 0 };
    char path[PATH_MAX];
    if (a->n_words > 0) {
        complain("sim %s: unexpected argument; see ascope help sim", a->word[0]);
        return exit_code(a->face, STATUS_USAGE);
    }
    if (sim_is_job(&a->sim)) {
        static const enum option_id alone[] = { OPT_GRAPHS, OPT_KFC };
        for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
            if (arguments_have(a, alone[i]) && *(const bool *)((const char *)a + option_rows[alone[i]].at)) {
                complain("--%s: not supported in a job; remove it, or simulate one rank", option_rows[alone[i]].name);
                return exit_code(a->face, STATUS_USAGE);
            }
    }
    if (!arguments_have(a, OPT_KFC))
        a->sim.kfc = sim_chip_has_kfc(a->sim.chip);
    if (!arguments_have(a, OPT_KERNELS))
        a->sim.kernels *= sim_ranks(&a->sim);
    a->sim.n_threads = a->options.n_threads;
    json_t *made = a->json ? json_array() : NULL;
    a->sim.made = a->json ? add_json : NULL;
    a->sim.context = made;
    struct progress progress;
    progress_begin(&progress, stderr, !a->quiet);
    const uint64_t launches = a->sim.kernels > 0 ? a->sim.kernels : a->sim.operators;
    progress_stage(&progress, "simulating", 0, launches > 0, launches);
    const bool done = sim_write(&a->sim, path, sizeof path, &e);
    progress_end(&progress);
    if (!done) {
        json_decref(made);
        complain("%s", e.text);
        return exit_code(a->face, e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING);
    }
    enum exit_status status = STATUS_DONE;
    if (a->json)
        status = json_report(a, "directories", made, status);
    else if (!a->quiet)
        puts(sim_ranks(&a->sim) > 1 ? a->sim.out_dir : path); /* what to analyse: the job, not its last rank */
    return exit_code(a->face, status);
}
