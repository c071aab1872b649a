/* SPDX-License-Identifier: Apache-2.0 */
/* proc_files.h - small files of /proc and sysfs that are read again and again.
 *
 * Reading through a descriptor that stays open costs a third of opening the file each time. It also never reads another
 * process that got the same pid. So descriptors are kept, up to a limit. Functions do not fail: a file that cannot be
 * read counts as missing.
 */
#ifndef ASCOPE_COLLECT_SAMPLERS_PROC_FILES_H
#define ASCOPE_COLLECT_SAMPLERS_PROC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct proc_file {
    int fd; /* -1: it is opened for every look */
};
static const struct proc_file PROC_FILE_CLOSED = { -1 };

/* The descriptors of one user. Zeros: none is kept. */
struct proc_files {
    size_t n, most;
};
/* Within the program that is looked at descriptors are the program's, and there are few. */
struct proc_files proc_files_limit(bool is_within);

/* A file below the directory: at most room - 1 bytes, and a zero behind them. 0: it cannot be read (errno), or is
 * empty. */
size_t proc_file_read(struct proc_files *of, struct proc_file *f, int dir, const char *name, char *to, size_t room);
size_t proc_read(int dir, const char *name, char *to, size_t room); /* the same, once */
void proc_file_close(struct proc_files *of, struct proc_file *f);   /* fine when it is not open */
/* Closes a file or folder of /proc or sysfs. Any other one is left alone: the program has closed ours, and used its
 * number again. */
void proc_close(int fd);

/* Ascending numbers that are names in a folder, to be freed. NULL and 0: there are none, or errno says why it cannot be
 * opened. */
pid_t *proc_numbers(int dir, const char *name, size_t *n);

#endif
