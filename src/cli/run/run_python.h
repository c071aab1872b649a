/* SPDX-License-Identifier: Apache-2.0 */
/* run_python.h - `ascope run` of a Python script: records it by the front end of its framework.
 *
 * Scripts that use PyTorch, MindSpore or TensorFlow are recorded from inside, by the Python package: this process
 * executes `python3 -m ascope record train.py` instead of `python3 train.py`, and stays beside it (supervise.h); exit
 * code and signals are those of the script. The package determines which framework a script uses (python/ascope/_frameworks.py). The collector
 * records all other scripts like any program.
 */
#ifndef ASCOPE_CLI_RUN_RUN_PYTHON_H
#define ASCOPE_CLI_RUN_RUN_PYTHON_H

#include "base/memory/arena.h"
#include "run/run.h"

/* Returns the exit code of this process; -1: the collector has to record the program, and a line on stderr says so if
 * the program uses a framework. */
int run_python(const struct python_run *r, char *const *program, struct arena *mem);

#endif
