/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - opening and listing files and directories of others, with every failure reported.
 *
 * Instead of a file there may be anything: a link out of the tree, a FIFO without a writer, a device. Only regular
 * files are read, and opening never blocks. Errors are errno values; read_trouble() has a text for each, with what to
 * do.
 */
#ifndef ASCOPE_BASE_FILES_FILE_H
#define ASCOPE_BASE_FILES_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { NOT_A_FILE = -1 }; /* beside the values of errno */

/* A regular file: a name in a directory, or (AT_FDCWD) a path, as in inside.h. -1: *why is the errno value. */
int file_open(int dir, const char *path, struct stat *st, int *why);
bool file_read(int fd, void *to, size_t size, size_t *got, int *why); /* all of it, less only at the end of the file */

/* The next name in a directory, "." and ".." left out. NULL: that was all, or *why is not 0 and the rest is unknown. */
const char *dir_next(DIR *dir, int *why);

/* A directory in another; a link to one is none. NULL: errno. */
DIR *dir_below(DIR *above, const char *name);
/* Calls visit for each regular file below a directory. Links are not followed; what cannot be read is left out. */
typedef void file_visitor(void *context, const char *path, const struct stat *st);
void dir_walk(const char *path, file_visitor *visit, void *context);

/* The names in a directory that are wanted, sorted. False: none, *why is the errno value. */
struct dir_names {
    char **at;
    size_t n;
};
bool dir_names_read(struct dir_names *l, const char *path, bool (*is_wanted)(const char *name), int *why);
void dir_names_free(struct dir_names *l);
bool name_is_visible(const char *name); /* for the above: it does not begin with a dot */

/* "No space left on device; make room there, or write elsewhere". Valid until the thread's next call. */
const char *read_trouble(int why);
const char *write_trouble(int why);
void write_trouble_names(const char *option); /* "--out": the command has it; before there are threads */

#endif
