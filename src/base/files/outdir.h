/* SPDX-License-Identifier: Apache-2.0 */
/* outdir.h - directories for results: created if missing, and written by one process at a time.
 *
 * A directory inside a collection is never a link, which could redirect the results elsewhere. The lock is flock() on
 * the directory itself: it leaves no file, ends with its process, and holds between containers that share the
 * directory. A second writer waits for a while, because most exports take seconds, and then fails with one line:
 * everybody who can read the directory can hold its lock. File systems without locks have none; unique temporary names
 * (leftover.h) still keep each file complete.
 */
#ifndef ASCOPE_BASE_FILES_OUTDIR_H
#define ASCOPE_BASE_FILES_OUTDIR_H

#include <stdbool.h>

#include "base/text/error.h"

enum { OUTDIR_PATIENCE_MS = 30000 };

bool outdir_make(const char *path,
                 struct error *e); /* links to directories are followed: for names given by the user */
bool outdir_make_inside(const char *path, struct error *e); /* links are refused; the directory above must exist */
bool outdir_is_inside(const char *path, struct error *e);   /* the check alone; the directory may be missing */

/* All results are in it: their names are durable from now on (durable.h). */
bool outdir_settle(const char *path, struct error *e);

/* Creates a directory as outdir_make_inside() and locks it: a descriptor, released by close(); -1: another process
 * holds the lock for longer than that. */
int outdir_lock(const char *path, unsigned patience_ms, struct error *e);

#endif
