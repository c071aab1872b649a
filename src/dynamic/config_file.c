/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/kept.h"

uint64_t config_hash(const void *bytes, size_t n, uint64_t before)
{
    const unsigned char *p = bytes;
    uint64_t h = before ^ 0xCBF29CE484222325;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001B3;
    h = (h ^ h >> 32) * 0xBF58476D1CE4E5B9;
    return h ^ h >> 29;
}

static bool config_file_fail(struct config_text *t, const char *path, int why, struct error *e)
{
    t->stamp = (struct config_stamp){ .why = why };
    return error_set(e, FAULT_IO, "%s: %s", path,
                     why == NOT_A_FILE ? "not a regular file; expected a file such as profiler_config.json"
                                       : strerror(why));
}

static bool read_all(struct config_text *t, const char *path, int fd, const struct stat *st, struct error *e)
{
    if (st->st_size > CONFIG_BYTES_MOST) {
        t->stamp.why = EFBIG;
        t->stamp.hash = 0;
        return error_set(e, FAULT_LIMIT, "%s: %lld bytes; at most %d are read", path, (long long)st->st_size,
                         CONFIG_BYTES_MOST);
    }
    size_t got = 0;
    int why = 0;
    const size_t room = (size_t)st->st_size;
    char *const text = malloc(room + 1);
    if (!text) {
        t->stamp.why = ENOMEM;
        return error_no_memory(e, path);
    }
    if (!file_read(fd, text, room, &got, &why)) {
        free(text);
        return config_file_fail(t, path, why, e);
    }
    text[got] = '\0';
    t->text = text;
    t->stamp.size =
        got; /* less than it was a moment ago, or the beginning of what is more: the next look sees another file */
    t->stamp.hash = config_hash(text, got, 0);
    return true;
}

bool config_text_read(struct config_text *t, const char *path, struct error *e)
{
    struct stat st, link;
    *t = (struct config_text){ 0 };
    struct kept file = KEPT_NONE; /* the program may close it */
    if (!kept_open(&file, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0))
        return config_file_fail(t, path, errno, e);
    bool is_read = false;
    if (fstat(file.fd, &st) != 0) {
        config_file_fail(t, path, errno, e);
    } else if (!S_ISREG(st.st_mode)) {
        config_file_fail(t, path, NOT_A_FILE, e);
    } else {
        t->stamp = (struct config_stamp){ .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
                                          .size = (uint64_t)st.st_size,
                                          .inode = (uint64_t)st.st_ino,
                                          .is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode) };
        is_read = read_all(t, path, kept_fd(&file), &st, e);
    }
    kept_close(&file);
    return is_read;
}

void config_text_fini(struct config_text *t)
{
    free(t->text);
    t->text = NULL;
}

bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b)
{
    return a->mtime_ns == b->mtime_ns && a->size == b->size && a->inode == b->inode && a->hash == b->hash &&
           a->why == b->why;
}

/* ---- writing ---- */

static bool config_file_write_all(int fd, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t n = TEMP_FAILURE_RETRY(write(fd, text, left));
        if (n <= 0)
            return false;
        text += n;
        left -= (size_t)n;
    }
    return true;
}

int config_part_open(const char *path, char part[PATH_MAX], struct error *e)
{
    uint64_t random = 0; /* containers that share the directory have the same process ids */
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return error_set(e, FAULT_IO, "%s: %s", path, strerror(errno)), -1;
    if (snprintf(part, PATH_MAX, "%s" CONFIG_PART "%016" PRIx64, path, random) >= PATH_MAX)
        return error_set(e, FAULT_IO, "%s: the path is too long", path), -1;
    const int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (fd < 0)
        error_set(e, FAULT_IO, "%s: %s", path, write_trouble(errno));
    return fd;
}

bool config_file_create(const char *path, const char *text, bool *is_new, struct error *e)
{
    char half[PATH_MAX];
    *is_new = false;
    if (access(path, F_OK) == 0)
        return true;
    const int fd = config_part_open(path, half, e);
    if (fd < 0)
        return false;
    bool is_written = config_file_write_all(fd, text);
    is_written &= close(fd) == 0;
    if (is_written) {
        *is_new = link(half, path) == 0;
        if (!*is_new && errno != EEXIST) /* no links here: somebody who looks at this moment sees no file */
            *is_new = access(path, F_OK) != 0 && rename(half, path) == 0;
        is_written = *is_new || access(path, F_OK) == 0;
    }
    const int why = errno;
    unlink(half);
    return is_written || error_set(e, FAULT_IO, "%s: %s", path, write_trouble(why));
}

bool config_dir_make(const char *path, struct error *e)
{
    char part[PATH_MAX];
    struct stat st;
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return error_set(e, FAULT_IO, "%.100s...: the path is too long", path);
    for (char *p = part + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        const char was = *p;
        *p = '\0';
        if (mkdir(part, 0750) != 0 && errno != EEXIST)
            return error_set(e, FAULT_IO, "%s: %s", part, write_trouble(errno));
        *p = was;
        if (was == '\0')
            break;
    }
    if (stat(path, &st) != 0)
        return error_set(e, FAULT_IO, "%s: %s", path, strerror(errno));
    return S_ISDIR(st.st_mode) || error_set(e, FAULT_ASKED, "%s: not a directory", path);
}
