/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - the one way to open, list, create or remove what lies inside a directory that the user named.
 *
 * The path that the user typed is a root: it is resolved once, as any path, and held as a descriptor. What is below it
 * keeps its path as a name, for messages and results, but is looked up from that descriptor, and no part of the way may
 * be a link: whoever can write to a collection could otherwise exchange a directory for a link at any moment, and have
 * files from elsewhere read, or results written there. openat2() does this in one call; where the system has none
 * (before Linux 5.6, or a filter for system calls), each part of the path is opened by itself, with the same result.
 *
 * A path below no root is resolved as usual. The longest root counts, so that a link typed by the user is followed even
 * inside of another root. Thread-safe. Failures are errno values; ELOOP: there is a link. EXDEV: a "..". ESTALE:
 * another directory has taken the place of the root.
 */
#ifndef ASCOPE_BASE_FILES_INSIDE_H
#define ASCOPE_BASE_FILES_INSIDE_H

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Makes a directory a root, until the process ends. Few descriptors are held: of many roots, those used last. False:
 * errno. */
bool inside_enter(const char *path);
/* Resolves all roots anew. For a program that lives long, whose user has moved or replaced a directory. */
void inside_again(void);
bool inside_is_below(const char *path); /* a root is above it: the user has not typed it */

int inside_open(const char *path, int flags); /* as open(); what is created has mode 0640, or unnamed 0600. -1: errno */
DIR *inside_list(const char *path);           /* as opendir() */
int inside_stat(const char *path, struct stat *st); /* as lstat(), except that a root itself may be a link */
int inside_make(const char *path);                  /* as mkdir(), with mode 0750 */
int inside_remove(const char *path, int flags);     /* as unlinkat(): flags 0 or AT_REMOVEDIR */

/* The directory of the last part of a path, to create, rename or remove something in it. -1: errno. *name points into
 * path. */
int inside_parent(const char *path, const char **name);

#endif
