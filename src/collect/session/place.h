/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - the directories and small files of a collection.
 *
 * Directories get mode 0750, files 0640, whatever the umask says. A file is replaced whole: a reader, or a program that
 * is killed, sees the old one or the new one. Errors name the path and say what to do.
 */
#ifndef ASCOPE_COLLECT_SESSION_PLACE_H
#define ASCOPE_COLLECT_SESSION_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/error.h"

/* "…": what is needed, and what the system says. Lent by the thread until it asks again. */
const char *place_trouble(int why);

bool place_parents(const char *path,
                   struct error *e); /* the directory and all above it, where they are not there yet */

/* A directory that must be new. False without an error: it was there already. */
bool place_dir(const char *path, struct error *e);

enum {
    PLACE_MARKED = 1, /* with a marker `path`.done beside it, where the format asks for that */
    PLACE_DURABLE =
        2, /* also after a power cut there is the old file or the new one; for files that are relied on already */
};
bool place_file(const char *path, const char *text, size_t n, unsigned how, struct error *e);

#endif
