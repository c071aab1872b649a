/* SPDX-License-Identifier: Apache-2.0 */
/* collecting.h - registry: executes a request of `ascope run` or `msprof`: records, reports how the program ended, exports,
 * summarises. */
#ifndef ASCOPE_CLI_RUN_COLLECTING_H
#define ASCOPE_CLI_RUN_COLLECTING_H

#include "base/memory/arena.h"
#include "cli/msprof/msprof_line.h"
#include "cli/options/option_table.h"
#include "run/run.h"

/* Copies the options of a line that concern results to the arguments of the exporting commands. */
void results_fill(struct arguments *a, const struct msprof_line *l);

/* "SIGTERM"; for others strsignal(). */
const char *signal_name(int number);

/* Returns the exit code. For `ascope run` it is that of the program, 128 plus the signal that killed it, or 127 if
 * it could not be started; if the program succeeded, that of the export. For msprof it is 0 if there are results.
 * chip: platform number, -1: unknown. */
int collecting_run(struct arguments *a, struct recorded_run *r, int chip, bool exports);

/* run_python.c: `ascope run` of a Python script: records it by the front end of its framework.
 *
 * Scripts that use PyTorch, MindSpore or TensorFlow are recorded from inside, by the Python package: this process
 * executes `python3 -m ascope record train.py` instead of `python3 train.py`, and stays beside it (supervise.h); exit
 * code and signals are those of the script. The package determines which framework a script uses
 * (python/ascope/_frameworks.py). The collector records all other scripts like any program. */

/* Returns the exit code of this process; -1: the collector has to record the program, and a line on stderr says so if
 * the program uses a framework. */
/* With a monitor: this process becomes the script. */
int run_python(const struct python_run *r, char *const *program, struct arena *mem);

#endif
