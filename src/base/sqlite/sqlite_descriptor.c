/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite/sqlite_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char NAME[] = "/.ascope-descriptor-";
static int (*open_path)(const char *path, int flags, int mode);

static int open_name(const char *path, int flags, int mode)
{
    if (strncmp(path, NAME, sizeof NAME - 1) != 0)
        return open_path(path, flags, mode);
    char *end;
    const long fd = strtol(path + sizeof NAME - 1, &end, 10);
    errno = ENOENT;
    return *end ? -1 : fcntl((int)fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static void replace_open(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_syscall_ptr was = vfs->xGetSystemCall(vfs, "open");
    open_path = (int (*)(const char *, int, int))was;
    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_name);
}

const char *descriptor_uri(char to[DESCRIPTOR_URI], int fd)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sqlite3_initialize(); /* without it there is no VFS yet */
    pthread_once(&once, replace_open);
    snprintf(to, DESCRIPTOR_URI, "file:%s%d", NAME, fd);
    return to;
}
