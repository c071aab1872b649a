/* SPDX-License-Identifier: Apache-2.0 */
/* kept.h - descriptors that stay open inside somebody else's program.
 *
 * A program may close descriptors that it did not open (closefrom(3)) and get their numbers for files of its own. So a
 * kept descriptor has a high number, which the kernel assigns only on request, and is checked before each use: it must
 * still be the file that was opened, by its device and inode. Otherwise it is lost: it is not read, written or closed,
 * and the file is opened again by name.
 *
 * Between the check and the use there is a moment in which the program can still close the descriptor and give its
 * number to a file of its own, if it asks for that number. Only a second table of descriptors rules that out
 * (descriptors_apart()). The same holds for the low number that a file has from open() until it has moved.
 *
 * A structure belongs to one thread; kept_fd() may be called by any.
 */
#ifndef ASCOPE_BASE_FILES_KEPT_H
#define ASCOPE_BASE_FILES_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kept {
    int fd;                 /* -1: none */
    uint64_t device, inode; /* of the file; they stay when it is closed. 0: it was never open */
};
#define KEPT_NONE                                                                                                      \
    {                                                                                                                  \
        .fd = -1                                                                                                       \
    }

/* Opens a file. If the structure had one before, it must be the same (errno is ESTALE). O_CLOEXEC is added. */
bool kept_open(struct kept *k, int dir, const char *name, int flags, mode_t mode);
bool kept_take(struct kept *k, int fd); /* one that was just opened elsewhere */
int kept_fd(const struct kept *k);      /* to be used at once; -1 and EBADF: it is not open, or lost */
/* False: what was written may be lost (errno). Fine when it is not open, and in a forked child. */
bool kept_close(struct kept *k);

/* Gives the calling thread a table of descriptors of its own: nothing but three times /dev/null is open in it, and
 * neither the program nor the thread sees what the other one opens and closes. For threads of ours that call nobody
 * else's code. False: a filter of system calls permits neither close_range() nor unshare(). */
bool descriptors_apart(void);

#endif
