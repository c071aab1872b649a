/* SPDX-License-Identifier: Apache-2.0 */
/* file_lock.h - locks on files that say that a process lives, and which the program around us cannot release by
 * accident.
 *
 * They belong to an open file (F_OFD_SETLK), not to the process, which would lose them whenever it closes any
 * descriptor of the file, such as after copying it. And they need no descriptor, which the program may close: a mapping
 * keeps the file open (lock_keep()). So a lock ends when its mapping does: with lock_release(), or with the process,
 * however that ends. A forked child has neither.
 */
#ifndef ASCOPE_BASE_FILES_FILE_LOCK_H
#define ASCOPE_BASE_FILES_FILE_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

/* For writing, of n bytes (0: all) from `byte` on. False with errno: EAGAIN if another open file has it, or why there
 * are no locks. */
bool lock_try(int fd, off_t byte, off_t n);
void lock_drop(int fd, off_t byte, off_t n);
/* Whether another open file has locked one of these bytes, whoever has opened it. *why: errno, if nobody can say; else
 * 0. */
bool lock_is_held(int fd, off_t byte, off_t n, int *why);

/* Locks of this open file stay when its descriptor is closed. NULL with errno: they will not. */
void *lock_keep(int fd);
void lock_release(void *kept); /* NULL is fine */

#endif
