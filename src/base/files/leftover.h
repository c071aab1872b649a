/* SPDX-License-Identifier: Apache-2.0 */
/* leftover.h - temporary files and directories, which must not outlive the process.
 *
 * Files and directories are created under a temporary name, "NAME.part-" and 16 random hexadecimal digits, and renamed
 * when they are complete. Of a long NAME only the end is used, so that the temporary name is valid wherever the final
 * one is. A temporary name never exists before (O_EXCL), and it is locked (flock) until its process ends. All names are
 * in one list, so that a signal handler can remove them. After a kill, the next process that writes to the same
 * directory removes those whose lock is free. Process ids would not be enough: containers that share a directory have
 * the same ones.
 */
#ifndef ASCOPE_BASE_FILES_LEFTOVER_H
#define ASCOPE_BASE_FILES_LEFTOVER_H

#include <stdbool.h>

struct leftover {
    char *path; /* the temporary name; NULL: there is none */
    int dir;    /* a descriptor of its directory, from which it is renamed and removed, whatever the path leads to by
                then */
    int lock;   /* a descriptor */
    struct leftover *next;
};

/* Makes a file or a directory under a temporary name of `final`. The file: a descriptor to write to, which the caller
 * closes. The directory: 0. -1 and errno. */
int leftover_file(struct leftover *l, const char *final);
int leftover_dir(struct leftover *l, const char *final);
int leftover_file_in(int dir, struct leftover *l,
                     const char *final); /* in a directory that is open; it is closed in any case */
/* Ends it: syncs it and renames it to `final`, in the same directory, or removes it if `final` is NULL or one of the
 * two fails. The directory's names, and files in a directory that is renamed, are the caller's to sync (durable.h).
 * Returns 0 or an errno value. */
int leftover_settle(struct leftover *l, const char *final);

/* For a process that is about to end: removes everything in the list. Threads that make or settle something afterwards
 * block forever. */
void leftovers_abandon(void);
/* Removes from a directory what processes that have ended left behind. */
void leftovers_sweep(const char *dir);
/* The same for temporary files of one output only: the directory may be the user's. */
void leftovers_sweep_of(const char *final);

#endif
