/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h - registry: the table of commands. */
#ifndef ASCOPE_CLI_COMMANDS_H
#define ASCOPE_CLI_COMMANDS_H

#include <stdio.h>

#include "cli/options/command.h"
#include "cli/options/option_table.h"

extern const struct command commands[];
extern const size_t n_commands;
const struct command *command_find(const char *name); /* by name or alias; NULL: unknown */

/* Other names of commands. */
struct command_alias {
    const char *name, *of;
};
extern const struct command_alias command_aliases[];
extern const size_t n_command_aliases;

/* A suggestion for a word that is a command of other tools; NULL: none. */
const char *command_hint(const char *word);

const char *command_nearest(const char *word); /* the command with the most similar name; NULL: none is similar */

/* cmd_advise.c: `ascope advise`: suggests what to change to make a job faster. */
int run_advise(struct arguments *a);

/* cmd_analyse.c: `ascope analyse`. */
int run_analyse(struct arguments *a);

/* cmd_cluster.c: `ascope cluster`. */
int run_cluster(struct arguments *a);

/* cmd_communication.c: `ascope communication`. */
int run_communication(struct arguments *a);

/* cmd_compare.c: `ascope compare`: compares two runs, each a collection, a job, or traces of torch.profiler. */
int run_compare(struct arguments *a);

/* cmd_doctor.c: `ascope doctor`. */
int run_doctor(struct arguments *a);

/* cmd_dyn.c: `ascope dyn`: starts collections in running jobs that listen to a directory. */
int run_dyn(struct arguments *a);
size_t dyn_other_option(struct arguments *a,
                        char *const *given); /* accepts keys of profiler_config.json: --KEY=VALUE */

/* cmd_export.c: `ascope export`, and `msprof.py import`, which reads and checks and writes nothing. */
int run_export(struct arguments *a);
int export_run(struct arguments *a,
               size_t first_dir); /* options.want is set; exports -dir and the words from first_dir on */
int run_import(struct arguments *a);

/* cmd_export_memory_timeline.c: `ascope export-memory-timeline`. */
int run_export_memory_timeline(struct arguments *a);

/* cmd_export_stacks.c: `ascope export-stacks`. */
int run_export_stacks(struct arguments *a);

/* cmd_export_trace.c: `ascope export-trace`. */
int run_export_trace(struct arguments *a);

/* cmd_gate.c: `ascope gate`: whether new runs are slower than allowed, for continuous integration. */
int run_gate(struct arguments *a);

/* cmd_hang.c: `ascope hang`: why a job hangs, from dumps of PyTorch's flight recorder. */
int run_hang(struct arguments *a);

/* cmd_sample.c: `ascope sample`: where the threads of a running Python process are, many times a second. */
int run_sample(struct arguments *a);

/* cmd_top.c: `ascope top`: the state of a running job that is monitored. */
int run_top(struct arguments *a);

/* cmd_monitor.c: `ascope monitor`: alarms and metrics of a running job. */
int run_monitor(struct arguments *a);

/* cmd_memory.c: `ascope memory`: what holds, leaks or loses memory, from snapshots of PyTorch. */
int run_memory(struct arguments *a);

/* cmd_info.c: `ascope info`. */
int run_info(struct arguments *a);

/* cmd_install_msprof.c: the files by which torch_npu and MindSpore find msprof, so that their analysis runs on ascope.
 *
 * They take msprof from the PATH, resolve its links, cut the path at the first "tools" and search msprof.py and
 * get_msprof_info.py below the rest. msprof is therefore a file in DIR/tools/profiler/bin, and DIR/bin has a link to
 * it. The files run the program that created them, by its path, or else the ascope in the PATH. Owner and mode matter,
 * too: MindSpore rejects files that are not executable or belong to a user other than root and its own. */
int run_install_msprof(struct arguments *a);

/* cmd_mcp.c: `ascope mcp`: the answers of the other commands as tools of a server for agents. */
int run_mcp(struct arguments *a);

/* cmd_msprof.c: the command line of the reference's launcher, msprof: it collects, and it parses collections. */
int msprof_main(int argc, char **argv); /* the whole of `msprof` */

/* cmd_msprof_analyze.c: the command line of msprof-analyze, for scripts that call it by that name: a link to ascope is
 * enough.
 *
 * Its cluster options become those of `ascope cluster`. Exit codes are ours: the reference has 0 for every failure. */
int msprof_analyze_main(int argc, char **argv);

/* cmd_msprof_info.c: the reference's script get_msprof_info.py: a folder of a collection described in one line of
 * JSON.
 *
 * MindSpore calls it before each analysis, for the frequency of the host counter and the version of the driver, and
 * waits at most one second: only the small files of the folder are read. */
/* The whole of `get_msprof_info.py -dir PROF_XXX/host`, or of a device. */
int msprof_info_main(int argc, char **argv);

/* cmd_msprof_py.c: the command line of the reference's parser, the script msprof.py. */
int msprof_py_main(int argc, char **argv); /* the whole of `msprof.py` */

/* cmd_options.c: `ascope options check`. */
int run_options_command(struct arguments *a);

/* cmd_query.c: `ascope query`. */
int run_query(struct arguments *a);
/* query_types.c: the same with --data-type. */
int run_query_type(struct arguments *a);

/* cmd_recover.c: `ascope recover`: writes the remaining records of a killed program into its files. */
/* Recovers a collection before it is read. Prints one line, or nothing if there was nothing to recover. */
void recover_first(const struct arguments *a, const char *path, FILE *err);

int run_recover(struct arguments *a);

/* cmd_run.c: `ascope run`: records any program, a running process or the machine from outside. */
int run_run(struct arguments *a);
size_t run_other_option(struct arguments *a,
                        char *const *given); /* options of msprof and of Python front ends, by their whole names */

/* cmd_sim.c: `ascope sim`. */
int run_sim(struct arguments *a);

/* cli/sql/cmd_sql.c: `ascope sql`: a statement about one or several inputs, or a prompt. */
int run_sql(struct arguments *a);

/* cmd_view.c */
int run_view(struct arguments *a);

/* cmd_why.c: `ascope why`: explains why a step or a rank is slow. */
int run_why(struct arguments *a);

#endif
