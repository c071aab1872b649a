/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sqlite/sqlite_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"

enum { PATH_BYTES = 4096 };

static int file_close(sqlite3_file *base)
{
    struct sqlite_file *f = (struct sqlite_file *)base;
    sqlite_log_close(&f->log);
    close(f->fd);
    return SQLITE_OK;
}

/* Bytes behind the end of the file read as zeros. */
static int read_plain(const struct sqlite_file *f, uint8_t *to, size_t n, uint64_t at)
{
    while (n > 0) {
        const ssize_t got = TEMP_FAILURE_RETRY(pread(f->fd, to, n, (off_t)at));
        if (got < 0)
            return SQLITE_IOERR_READ;
        if (got == 0) {
            memset(to, 0, n);
            return SQLITE_IOERR_SHORT_READ;
        }
        to += got;
        n -= (size_t)got;
        at += (uint64_t)got;
    }
    return SQLITE_OK;
}

static int read_file(sqlite3_file *base, void *to, int n, sqlite3_int64 at)
{
    const struct sqlite_file *f = (struct sqlite_file *)base;
    const struct sqlite_log *l = &f->log;
    if (!l->frame_of)
        return read_plain(f, to, (size_t)n, (uint64_t)at);
    int code = SQLITE_OK;
    for (size_t done = 0, part; done < (size_t)n && code == SQLITE_OK; done += part) {
        const uint64_t from = (uint64_t)at + done, page = from / l->page_bytes;
        const size_t begin = (size_t)(from % l->page_bytes), left = (size_t)n - done;
        part = left < l->page_bytes - begin ? left : l->page_bytes - begin;
        if (page >= l->n_pages || !l->frame_of[page])
            code = read_plain(f, (uint8_t *)to + done, part, from);
        else if (!sqlite_log_read(l, (uint32_t)page + 1, begin, (uint8_t *)to + done, part))
            code = SQLITE_IOERR_READ;
    }
    return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *bytes)
{
    const struct sqlite_file *f = (struct sqlite_file *)base;
    *bytes = f->log.frame_of ? (sqlite3_int64)f->log.n_pages * f->log.page_bytes : (sqlite3_int64)f->bytes;
    return SQLITE_OK;
}

static int write_nothing(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    (void)f, (void)from, (void)n, (void)at;
    return SQLITE_READONLY;
}

static int truncate_nothing(sqlite3_file *f, sqlite3_int64 bytes)
{
    (void)f, (void)bytes;
    return SQLITE_READONLY;
}

static int no_flags(sqlite3_file *f, int flags)
{
    (void)f, (void)flags;
    return SQLITE_OK;
}

static int nobody_locks(sqlite3_file *f, int *is_locked)
{
    (void)f;
    *is_locked = 0;
    return SQLITE_OK;
}

static int no_control(sqlite3_file *f, int what, void *of)
{
    (void)f, (void)what, (void)of;
    return SQLITE_NOTFOUND;
}

static int sector_bytes(sqlite3_file *f)
{
    (void)f;
    return 4096;
}

static int is_immutable(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = read_file,
    .xWrite = write_nothing,
    .xTruncate = truncate_nothing,
    .xSync = no_flags,
    .xFileSize = file_size,
    .xLock = no_flags,
    .xUnlock = no_flags,
    .xCheckReservedLock = nobody_locks,
    .xFileControl = no_control,
    .xSectorSize = sector_bytes,
    .xDeviceCharacteristics = is_immutable,
};

/* False: no memory. A log that cannot be opened is ignored. */
static bool open_log(struct sqlite_file *f, const char *path)
{
    char name[PATH_BYTES + 8];
    uint8_t header[SQLITE_HEADER_BYTES];
    struct stat st;
    int why;
    if (f->bytes < sizeof header || read_plain(f, header, sizeof header, 0) != SQLITE_OK ||
        memcmp(header, "SQLite format 3", 16) != 0)
        return true;
    snprintf(name, sizeof name, "%s-wal", path);
    const int fd = file_open(AT_FDCWD, name, &st, &why);
    if (fd >= 0)
        return sqlite_log_open(&f->log, fd, (uint64_t)st.st_size, header, f->bytes);
    if (why != ENOENT)
        snprintf(f->log.trouble, sizeof f->log.trouble, "cannot be read: %s", read_trouble(why));
    return true;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *opened)
{
    sqlite3_vfs *system = vfs->pAppData;
    struct sqlite_file *f = (struct sqlite_file *)base;
    struct stat st;
    int why;
    if (!path) /* SQLite's own, without a name: a large sort */
        return system->xOpen(system, path, base, flags, opened);
    *f = (struct sqlite_file){ .log.fd = -1 };
    f->fd = flags & SQLITE_OPEN_MAIN_DB ? file_open(AT_FDCWD, path, &st, &why) : -1;
    if (f->fd < 0)
        return SQLITE_CANTOPEN;
    f->bytes = (uint64_t)st.st_size;
    if (sqlite3_uri_boolean(path, "wal", 1) && !open_log(f, path)) {
        close(f->fd);
        return SQLITE_NOMEM;
    }
    f->base.pMethods = &methods;
    if (opened)
        *opened = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
}

static int delete_nothing(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs, (void)path, (void)sync;
    return SQLITE_IOERR_DELETE;
}

static int nothing_is_there(sqlite3_vfs *vfs, const char *path, int flags, int *is_there)
{
    (void)vfs, (void)path, (void)flags;
    *is_there = 0;
    return SQLITE_OK;
}

/* Not resolved: a link is refused by file_open(). */
static int same_path(sqlite3_vfs *vfs, const char *path, int n, char *to)
{
    (void)vfs;
    const size_t len = strlen(path);
    if (len >= (size_t)n)
        return SQLITE_CANTOPEN;
    memcpy(to, path, len + 1);
    return SQLITE_OK;
}

static bool is_registered;

static void register_once(void)
{
    static sqlite3_vfs vfs;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (!system)
        return;
    vfs = *system;
    vfs.zName = "ascope";
    vfs.pAppData = system;
    vfs.pNext = NULL;
    vfs.mxPathname = PATH_BYTES;
    vfs.szOsFile =
        system->szOsFile > (int)sizeof(struct sqlite_file) ? system->szOsFile : (int)sizeof(struct sqlite_file);
    vfs.xOpen = open_file;
    vfs.xDelete = delete_nothing;
    vfs.xAccess = nothing_is_there;
    vfs.xFullPathname = same_path;
    is_registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
}

bool sqlite_file_register(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_once);
    return is_registered;
}

const struct sqlite_file *sqlite_file_of(sqlite3 *db)
{
    sqlite3_file *f = NULL;
    const int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &f);
    return code == SQLITE_OK && f && f->pMethods == &methods ? (struct sqlite_file *)f : NULL;
}

int sqlite_file_copy(const struct sqlite_file *f, int to)
{
    enum { BLOCK = 8192, WRITE_VERSION = 18, READ_VERSION };
    uint8_t block[BLOCK];
    sqlite3_file *from = (sqlite3_file *)&f->base;
    sqlite3_int64 bytes, at = 0;
    file_size(from, &bytes);
    while (at < bytes) {
        const int n = bytes - at < BLOCK ? (int)(bytes - at) : BLOCK;
        if (read_file(from, block, n, at) != SQLITE_OK)
            return NOT_A_FILE;
        if (at == 0 && n > READ_VERSION)
            block[WRITE_VERSION] = block[READ_VERSION] = 1; /* the copy has no log */
        for (int done = 0; done < n;) {
            const ssize_t put = TEMP_FAILURE_RETRY(write(to, block + done, (size_t)(n - done)));
            if (put < 0)
                return errno;
            done += (int)put;
        }
        at += n;
    }
    return 0;
}

void sqlite_file_forget_log(const char *path)
{
    static const char *const behind[] = { "-wal", "-shm" };
    char name[PATH_BYTES + 8];
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        if (snprintf(name, sizeof name, "%s%s", path, behind[i]) < (int)sizeof name)
            inside_remove(name, 0);
}
