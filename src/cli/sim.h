/* sim.h - `ascope sim`: the command line of the simulator. */
#ifndef ASCOPE_CLI_SIM_H
#define ASCOPE_CLI_SIM_H

/* argv[0] is the word "sim". Prints the directories' path, or what is wrong; the exit code: 0, 1 (it failed) or 2 (the
 * command line cannot be used). */
int cli_sim(int argc, char **argv);

#endif
