/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static struct flock range(short type, off_t byte, off_t n)
{
    return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = n };
}

bool lock_try(int fd, off_t byte, off_t n)
{
    struct flock l = range(F_WRLCK, byte, n);
    if (fcntl(fd, F_OFD_SETLK, &l) == 0)
        return true;
    errno = errno == EACCES ? EAGAIN : errno;
    return false;
}

void lock_drop(int fd, off_t byte, off_t n)
{
    struct flock l = range(F_UNLCK, byte, n);
    fcntl(fd, F_OFD_SETLK, &l);
}

bool lock_is_held(int fd, off_t byte, off_t n, int *why)
{
    struct flock l = range(F_WRLCK, byte, n);
    *why = fcntl(fd, F_OFD_GETLK, &l) == 0 ? 0 : errno;
    return *why == 0 && l.l_type != F_UNLCK;
}

/* Keeps the lock by a mapping. The page is never read, because the file may be shorter. */
void *lock_keep(int fd)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *const at = mmap(NULL, page, PROT_NONE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, page, MADV_DONTFORK);
    return at;
}

void lock_release(void *kept)
{
    if (kept)
        munmap(kept, (size_t)sysconf(_SC_PAGESIZE));
}
