/* SPDX-License-Identifier: Apache-2.0 */
/* durable.h - what a power cut must not take back.
 *
 * After a power cut the disk has what was synced, and any part of the rest: new names of files without their content,
 * old names, files of the right length that are full of zeros. So whatever we report as done is made in one order:
 * content, sync of the files, rename, sync of the directory, and only then the removal of what it replaces. Syncs are
 * done here and nowhere else.
 *
 * With ASCOPE_SYNC=off (or --no-sync, or sync=false of the recorder) all of them do nothing: the system decides when it
 * writes. The same holds on a file system that cannot sync. Results: 0 or an errno value.
 */
#ifndef ASCOPE_BASE_FILES_DURABLE_H
#define ASCOPE_BASE_FILES_DURABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text/error.h"

void durable_want(bool is_wanted); /* of the process; ASCOPE_SYNC=off overrules it */
bool durable_is_wanted(void);

int durable_file(int fd); /* syncs content and length of a file */
/* syncs the names in a directory; `dir` is where `path` begins, or AT_FDCWD */
int durable_dir(int dir, const char *path);
int durable_name(const char *path); /* syncs the names in the directory that contains `path` */
/* Always false. For results that are complete and renamed, but could not be synced. */
bool durable_fail(struct error *e, const char *path, int why);
/* Asks the system to begin writing these bytes, without waiting: the sync at the end then has less to do. */
void durable_begin(int fd, uint64_t from, uint64_t bytes);

/* The owner of a new file; NULL: the user who writes it. */
struct new_owner {
    uid_t user;
    gid_t group;
};
/* A small file, replaced whole: written under a temporary name, mode 0640, and renamed. With syncs its content is
 * durable before it has its name; the directory is the caller's, who may have put several files into it. Without syncs
 * the system may write it when it likes to: nobody relies on it yet. */
int durable_put(int dir, const char *path, const void *bytes, size_t n, const struct new_owner *owner, bool syncs);

#endif
