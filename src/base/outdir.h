/* SPDX-License-Identifier: Apache-2.0 */
/* outdir.h - folders that results go to: made when they are missing, and written by one process at a time.
 *
 * A folder inside a collection is never a link: whoever made the collection could lead the results elsewhere. The lock is
 * flock() on the folder itself, so it leaves no file and ends with its process; it holds between containers that share the
 * folder. A second writer waits a while, because most exports take seconds, and then gives up with one line: anybody who can
 * read the folder can hold its lock. Where a file system has no locks there is none, and unique temporary names
 * (leftover.h) still keep each file whole.
 */
#ifndef ASCOPE_BASE_OUTDIR_H
#define ASCOPE_BASE_OUTDIR_H

#include <stdbool.h>

#include "base/error.h"

enum { OUTDIR_PATIENCE_MS = 30000 };

bool outdir_make(const char *path, struct error *e);        /* a link to a folder is as good: for names of the user */
bool outdir_make_inside(const char *path, struct error *e); /* links are refused. The folder above must be there */
bool outdir_is_inside(const char *path, struct error *e);   /* the same test of one that may be missing */

/* Makes a folder as outdir_make_inside() and locks it: a descriptor, -1 when another process writes there for longer than
 * that. Ends with close(). */
int outdir_lock(const char *path, unsigned patience_ms, struct error *e);

#endif
