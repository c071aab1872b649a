/* SPDX-License-Identifier: Apache-2.0 */
/* leftover.h - temporary files and directories, which must not outlive the process.
 *
 * Files and directories are created under a temporary name, "NAME.part-" and 16 random hexadecimal digits, and renamed when
 * they are complete. A temporary name never exists before (O_EXCL), and it is locked (flock) until its process ends. All names
 * are in one list, so that a signal handler can remove them. After a kill, the next process that writes to the same directory
 * removes those whose lock is free. Process ids would not be enough: containers that share a directory have the same ones.
 */
#ifndef ASCOPE_BASE_LEFTOVER_H
#define ASCOPE_BASE_LEFTOVER_H

#include <stdbool.h>

struct leftover {
    char *path; /* the temporary name; NULL: there is none */
    int lock;   /* a descriptor */
    struct leftover *next;
};

/* Makes a file or a directory under a temporary name of `final`. The file: a descriptor to write to, which the caller closes.
 * The directory: 0. -1 and errno. */
int leftover_file(struct leftover *l, const char *final);
int leftover_dir(struct leftover *l, const char *final);
/* Its end: it gets its final name, or is removed (NULL, or when it cannot be renamed). 0 or an errno. */
int leftover_settle(struct leftover *l, const char *final);

/* The process is about to end: removes everything in the list. Who makes or settles something afterwards, waits forever. */
void leftovers_abandon(void);
/* Removes from a directory what processes that are gone have left in it. */
void leftovers_sweep(const char *dir);
/* The same of one output alone, in a directory that may not be ours. */
void leftovers_sweep_of(const char *final);

#endif
