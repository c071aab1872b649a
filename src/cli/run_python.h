/* SPDX-License-Identifier: Apache-2.0 */
/* run_python.h - a Python script on the command line of `ascope run`, recorded by the front end of its framework.
 *
 * A script that uses PyTorch, MindSpore or TensorFlow is recorded best from inside, by the Python package: `ascope run -- python3 train.py`
 * becomes `python3 -m ascope record train.py`, in this process, so that exit code and signals are the script's own. The package says
 * which framework a script uses (python/ascope/_frameworks.py); any other script is a program like others, for the collector.
 */
#ifndef ASCOPE_CLI_RUN_PYTHON_H
#define ASCOPE_CLI_RUN_PYTHON_H

#include "base/arena.h"
#include "run/python_program.h"

/* Returns when the program is to be recorded as any other; a line on stderr says so when it could have been more. */
void run_python(const struct python_run *r, char *const *program, struct arena *mem);

#endif
