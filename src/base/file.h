/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - files and directories that others have made, opened and listed so that no trouble goes unnoticed.
 *
 * What stands where a file should be may be anything: a link out of the tree, a FIFO that nobody writes to, a device. Only
 * plain files are read, and opening never waits. Errors are errno values; read_trouble() says what they mean and what to do.
 */
#ifndef ASCOPE_BASE_FILE_H
#define ASCOPE_BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { NOT_A_FILE = -1 }; /* beside the values of errno */

/* A plain file below a directory (AT_FDCWD: path counts from here). -1: *why says why not. */
int file_open(int dir, const char *path, struct stat *st, int *why);
bool file_read(int fd, void *to, size_t size, size_t *got, int *why); /* all of it, less only at the end of the file */

/* The next name in a directory, "." and ".." left out. NULL: that was all, or *why is not 0 and the rest is unknown. */
const char *dir_next(DIR *dir, int *why);

/* "No space left on device; make room there, or write elsewhere with --out". Lent by the thread until it asks again. */
const char *read_trouble(int why);
const char *write_trouble(int why);

#endif
