/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/kept.h"

static atomic_bool is_left_to_system;

void durable_want(bool is_wanted)
{
    atomic_store(&is_left_to_system, !is_wanted);
}

bool durable_is_wanted(void)
{
    const char *const text = getenv("ASCOPE_SYNC");
    return !atomic_load(&is_left_to_system) && !(text && (strcmp(text, "off") == 0 || strcmp(text, "0") == 0));
}

/* Of a file system that cannot sync, or is not written to, nothing more can be asked. */
static int sync_trouble(void)
{
    return errno == EINVAL || errno == EROFS || errno == ENOTSUP || errno == ENOSYS ? 0 : errno;
}

int durable_file(int fd)
{
    return !durable_is_wanted() || TEMP_FAILURE_RETRY(fsync(fd)) == 0 ? 0 : sync_trouble();
}

void durable_begin(int fd, uint64_t from, uint64_t bytes)
{
    if (durable_is_wanted())
        sync_file_range(fd, (off_t)from, (off_t)bytes, SYNC_FILE_RANGE_WRITE);
}

int durable_dir(int dir, const char *path)
{
    if (!durable_is_wanted())
        return 0;
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    const int fd = dir == AT_FDCWD ? inside_open(path, flags) : (int)TEMP_FAILURE_RETRY(openat(dir, path, flags));
    if (fd < 0)
        return errno == EACCES ? 0 : errno; /* the directory may be written but not read */
    const int why = durable_file(fd);
    close(fd);
    return why;
}

bool durable_fail(struct error *e, const char *path, int why)
{
    return error_set(e, FAULT_IO, "%s: is complete, but a power cut may take it back: %s", path, write_trouble(why));
}

int durable_name(const char *path)
{
    char dir[PATH_MAX];
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n >= sizeof dir)
        return ENAMETOOLONG;
    memcpy(dir, n > 0 ? path : ".", n > 0 ? n : 1);
    dir[n > 0 ? n : 1] = '\0';
    return durable_dir(AT_FDCWD, dir);
}

static int bytes_write(const struct kept *k, const char *p, size_t n)
{
    while (n > 0) {
        const ssize_t done = TEMP_FAILURE_RETRY(write(kept_fd(k), p, n));
        if (done <= 0)
            return done < 0 ? errno : EIO;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

static int put_fill(const struct kept *k, const void *bytes, size_t n, const struct new_owner *owner, bool syncs)
{
    int why =
        fchmod(kept_fd(k), 0640) == 0 && (!owner || fchown(kept_fd(k), owner->user, owner->group) == 0) ? 0 : errno;
    why = why ? why : bytes_write(k, bytes, n);
    return why || !syncs ? why : durable_file(kept_fd(k));
}

/* A process id would not make the temporary name unique: containers have the same ones. */
int durable_put(int dir, const char *path, const void *bytes, size_t n, const struct new_owner *owner, bool syncs)
{
    struct kept file = KEPT_NONE;
    char fresh[PATH_MAX];
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return errno;
    if (snprintf(fresh, sizeof fresh, "%s.part-%016" PRIx64, path, random) >= (int)sizeof fresh)
        return ENAMETOOLONG;
    if (!kept_open(&file, dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0640))
        return errno;
    int why = put_fill(&file, bytes, n, owner, syncs);
    if (!kept_close(&file) && !why)
        why = errno;
    if (!why && renameat(dir, fresh, dir, path) != 0)
        why = errno;
    if (why)
        unlinkat(dir, fresh, 0);
    return why;
}
