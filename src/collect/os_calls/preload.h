/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h - the library that records a program's calls (src/preload): where it is, and whether a program will load
 * it. */
#ifndef ASCOPE_COLLECT_OS_CALLS_PRELOAD_H
#define ASCOPE_COLLECT_OS_CALLS_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

#define PRELOAD_NAME "libascope-run.so"

/* Beside this program or libascope.so, or where it is installed with them; ASCOPE_RUN_LIBRARY in the environment names
 * another one. */
bool preload_find(char path[PATH_MAX]);

/* libascope.so itself, in the same places or beside them; ASCOPE_CUDA_LIBRARY names another one. */
bool library_find(char path[PATH_MAX]);

/* libmspti.so of CANN, which must be in LD_PRELOAD to be used. */
bool preload_find_mspti(char path[PATH_MAX]);

/* LD_PRELOAD has blanks and colons between its names, and no way to write others. */
bool preload_can_name(const char *path);

/* LD_PRELOAD of this process names it, too: for what it becomes. False: it is not found, or cannot be named. */
bool preload_set(void);
bool preload_set_mspti(void);

/* Looks at a program before it is started, as exec() would find it (in PATH, behind "#!"). False: ld.so will not load
 * the library into it; *why continues a sentence about it ("is linked statically"). True as well for what cannot be
 * read: exec() will say why. */
bool preload_works(const char *program, const char **why);

#endif
