/* SPDX-License-Identifier: Apache-2.0 */
/* destination.h - what kind of file an output name refers to.
 *
 * Only a regular file, or a name that does not exist, is written under a temporary name and renamed (leftover.h).
 * Everything else (FIFO, device, terminal, descriptor of this process) is opened and written through: a rename would
 * replace it.
 *
 * A name given by the user may be a link, which is followed to the directory of its target; "-" is standard output. In
 * directories that everybody can write to, links and FIFOs of other users are not followed (the kernel's rule for
 * open()). A name that we choose ourselves, of a result in a collection, must be a regular file: anything else was put
 * there by somebody else.
 */
#ifndef ASCOPE_BASE_FILES_DESTINATION_H
#define ASCOPE_BASE_FILES_DESTINATION_H

#include <limits.h>
#include <stdbool.h>

#include "base/text/error.h"

enum destination_kind {
    DESTINATION_FILE,       /* a regular file, or a name that does not exist */
    DESTINATION_THROUGH,    /* a FIFO, a device, a socket */
    DESTINATION_OTHER_FD,   /* a descriptor of another process: /proc/PID/fd/N */
    DESTINATION_DESCRIPTOR, /* one of ours: "-", /dev/stdout, /dev/fd/N */
};

struct destination {
    enum destination_kind kind;
    int descriptor;      /* of DESTINATION_DESCRIPTOR */
    char path[PATH_MAX]; /* with links resolved in its last part */
};

/* False: it cannot be an output, e.g. it is a directory. Opens nothing. */
bool destination_look(struct destination *d, const char *name, struct error *e);
bool destination_is_stdout(const char *name); /* a report must not be printed there as well */

/* The directory of DESTINATION_FILE. -1: errno. */
int destination_dir(const struct destination *d);

/* Opens anything but a regular file for writing: a descriptor, or -1 and errno. Blocks until a FIFO has a reader, as in
 * shells. */
int destination_open(const struct destination *d);

/* A link that another user has put into a directory that everybody can write to: not to be followed. */
bool destination_is_trap(const char *path);

/* For a name that we have chosen: true if it is a regular file or does not exist. */
bool destination_is_plain(const char *path, struct error *e);

#endif
