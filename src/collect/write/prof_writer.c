/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/write/prof_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/durable.h"
#include "base/files/file.h"

/* 128 KiB: a hundred streams may be open at once. Greater than any record and any line of text. */
enum { SLICES_BUFFER = 1 << 17, TEXT_MOST = 4096, BEGIN_BYTES = 1 << 20, SUMS_MOST = 1 << 16 };

static bool is_well(const struct prof_writer *w)
{
    return w->error.fault == FAULT_NONE;
}

static void prof_writer_fail(struct prof_writer *w, const char *path, const char *what, int why)
{
    if (is_well(w))
        w->why = why;
    error_set(&w->error, FAULT_IO, "%s: %s: %s", path, what, write_trouble(why));
}

/* New things are for the owner of what they lie in: a collection that root has recovered is still its owner's. */
static bool is_given(const struct prof_writer *w, int fd, mode_t mode)
{
    return fchmod(fd, mode) == 0 && (!w->is_of_others || geteuid() != 0 || fchown(fd, w->owner, w->group) == 0);
}

/* The umask may take bits away from the mode of mkdir() and open(), so the mode is set once more. */
static void directory_create(struct prof_writer *w, int dir, const char *name, const char *path)
{
    int fd = -1;
    if (mkdirat(dir, name, 0750) != 0 ||
        (fd = (int)TEMP_FAILURE_RETRY(openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))) < 0 ||
        !is_given(w, fd, 0750))
        prof_writer_fail(w, path, "cannot be created", errno);
    if (fd >= 0)
        close(fd);
}

static bool file_create(struct prof_writer *w, struct kept *file, int dir, const char *name, const char *path)
{
    *file = (struct kept)KEPT_NONE;
    const bool is_created = kept_open(file, dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0640);
    if (!is_created || !is_given(w, file->fd, 0640))
        prof_writer_fail(w, path, "cannot be created", errno);
    return is_created;
}

static bool prof_writer_write_all(struct prof_writer *w, int fd, const void *bytes, size_t n, size_t at,
                                  const char *path)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        const ssize_t done = TEMP_FAILURE_RETRY(pwrite(fd, p, n, (off_t)at));
        if (done <= 0) {
            prof_writer_fail(w, path, "cannot be written", done < 0 ? errno : EIO);
            return false;
        }
        p += done;
        at += (size_t)done;
        n -= (size_t)done;
    }
    return true;
}

/* A folder of PyTorch's collector: its files have no slices and no markers. */
static bool is_plain(int device)
{
    return device == FOLDER_FRAMEWORK || device == FOLDER_SESSION;
}

enum { NAME_ROOM = 128 };

/* "host", "device_3"; "": the directory itself. */
static void folder_name(int device, char name[32])
{
    static const char *const named[] = { [-FOLDER_HOST] = "host",
                                         [-FOLDER_FRAMEWORK] = "FRAMEWORK",
                                         [-FOLDER_SESSION] = "" };
    if (device < 0)
        snprintf(name, 32, "%s", named[-device]);
    else
        snprintf(name, 32, "device_%d", device);
}

static const char *const data_folder = "data";

/* For messages. */
static void path_in(const struct prof_writer *w, int device, const char *below, const char *name, char out[PATH_MAX])
{
    char folder[32];
    folder_name(device, folder);
    snprintf(out, PATH_MAX, "%s%s%s%s%s/%s", w->path, *folder ? "/" : "", folder, *below ? "/" : "", below, name);
}

/* The directory itself. Of one that was not opened by name there is no name. -1 with errno. */
static int writer_dir(struct prof_writer *w)
{
    const int fd = kept_fd(&w->dir);
    if (fd < 0 && !w->is_of_others && w->dir.inode != 0)
        kept_open(&w->dir, AT_FDCWD, w->path, O_PATH | O_DIRECTORY, 0);
    return fd >= 0 ? fd : w->dir.fd;
}

/* Opens a folder, or its data/; the caller closes it. -1: errno says why. */
static int folder_open(struct prof_writer *w, int device, const char *below)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    char name[32];
    folder_name(device, name);
    int fd = (int)TEMP_FAILURE_RETRY(openat(writer_dir(w), *name ? name : ".", flags));
    if (fd < 0 || !*below)
        return fd;
    const int inner = (int)TEMP_FAILURE_RETRY(openat(fd, below, flags)), why = errno;
    close(fd);
    errno = why;
    return inner;
}

static void whole_file(struct prof_writer *w, int device, const char *below, const char *name, const void *bytes,
                       size_t n)
{
    char path[PATH_MAX];
    if (!is_well(w))
        return;
    path_in(w, device, below, name, path);
    const int dir = folder_open(w, device, below);
    if (dir < 0) {
        prof_writer_fail(w, path, "cannot be created", errno);
        return;
    }
    struct kept file;
    const bool is_created = file_create(w, &file, dir, name, path);
    close(dir);
    if (is_created)
        prof_writer_write_all(w, kept_fd(&file), bytes, n, 0, path);
    if (is_created && !kept_close(&file))
        prof_writer_fail(w, path, "cannot be written", errno);
}

static bool is_short(struct prof_writer *w, const char *path, size_t slice_bytes, struct error *e)
{
    *w = (struct prof_writer){ .slice_bytes = slice_bytes, .dir = KEPT_NONE };
    if (strlen(path) >= sizeof w->path)
        return error_set(e, FAULT_ASKED, "%.200s...: the path is too long", path);
    memcpy(w->path, path, strlen(path) + 1);
    return true;
}

bool prof_writer_join(struct prof_writer *w, const char *path, size_t slice_bytes, struct error *e)
{
    if (!is_short(w, path, slice_bytes, e))
        return false;
    return kept_open(&w->dir, AT_FDCWD, path, O_PATH | O_DIRECTORY, 0) ||
           error_set(e, FAULT_IO, "%s: cannot be used: %s", path, write_trouble(errno));
}

bool prof_writer_adopt(struct prof_writer *w, int dir, const char *path, size_t slice_bytes, struct error *e)
{
    struct stat st;
    if (fstat(dir, &st) != 0 || !is_short(w, path, slice_bytes, e)) {
        close(dir);
        return error_set(e, FAULT_IO, "%s: cannot be used: %s", path, write_trouble(errno));
    }
    if (!kept_take(&w->dir, dir))
        return error_set(e, FAULT_IO, "%s: cannot be used: %s", path, write_trouble(errno));
    w->is_of_others = true;
    w->owner = st.st_uid;
    w->group = st.st_gid;
    return true;
}

bool prof_writer_open(struct prof_writer *w, const char *path, size_t slice_bytes, struct error *e)
{
    if (!is_short(w, path, slice_bytes, e))
        return false;
    directory_create(w, AT_FDCWD, path, path);
    return prof_writer_close(w, e) && prof_writer_join(w, path, slice_bytes, e);
}

void prof_writer_forget(struct prof_writer *w)
{
    kept_close(&w->dir);
}

void prof_writer_rest(struct prof_writer *w)
{
    if (!w->is_of_others)
        kept_close(&w->dir);
}

bool prof_writer_is_well(const struct prof_writer *w, struct error *e)
{
    return is_well(w) || error_set(e, w->error.fault, "%s", w->error.text);
}

bool prof_writer_close(struct prof_writer *w, struct error *e)
{
    prof_writer_forget(w);
    return prof_writer_is_well(w, e);
}

/* One step down. */
static void folder_step(struct prof_writer *w, int dir, const char *name, const char *path, bool may_exist)
{
    struct stat st;
    if (dir < 0)
        prof_writer_fail(w, path, "cannot be created", errno);
    else if (!may_exist || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        directory_create(w, dir, name, path);
    else if (!S_ISDIR(st.st_mode))
        prof_writer_fail(w, path, "cannot be written to", ENOTDIR);
}

static void folder_make(struct prof_writer *w, int device, bool may_exist)
{
    char folder[32], path[PATH_MAX];
    folder_name(device, folder);
    path_in(w, FOLDER_SESSION, "", folder, path);
    if (is_well(w) && *folder)
        folder_step(w, writer_dir(w), folder, path, may_exist);
    if (!is_well(w) || is_plain(device))
        return;
    const int dir = folder_open(w, device, "");
    path_in(w, device, "", data_folder, path);
    folder_step(w, dir, data_folder, path, may_exist);
    if (dir >= 0)
        close(dir);
}

void folder_create(struct prof_writer *w, int device)
{
    folder_make(w, device, false);
}

void folder_complete(struct prof_writer *w, int device)
{
    folder_make(w, device, true);
}

void folder_file(struct prof_writer *w, int device, const char *name, const char *text, size_t len)
{
    char full[NAME_ROOM], done[48];
    const bool is_numbered = device >= 0 && strcmp(name, "sample.json") != 0;
    if (is_numbered)
        snprintf(full, sizeof full, "%s.%d", name, device);
    else
        snprintf(full, sizeof full, "%s", name);
    whole_file(w, device, "", full, text, len);
    if (is_plain(device))
        return;
    const int n = snprintf(done, sizeof done, "filesize:%zu\n", len);
    strcat(full, ".done");
    whole_file(w, device, "", full, done, (size_t)n);
}

void slices_init(struct slices *s, struct prof_writer *to, int device, const char *family, enum cut cut)
{
    *s = (struct slices){ .to = to, .device = device, .cut = cut, .file = KEPT_NONE, .next = to->first_slice };
    snprintf(s->family, sizeof s->family, "%s", family);
}

static const char *slice_folder(const struct slices *s)
{
    return is_plain(s->device) ? "" : data_folder;
}

static void slice_name(const struct slices *s, unsigned number, const char *suffix, char name[NAME_ROOM])
{
    if (is_plain(s->device))
        snprintf(name, NAME_ROOM, "%s", s->family);
    else if (s->device == FOLDER_HOST)
        snprintf(name, NAME_ROOM, "%s.slice_%u%s", s->family, number, suffix);
    else
        snprintf(name, NAME_ROOM, "%s.%d.slice_%u%s", s->family, s->device, number, suffix);
}

static void slice_path(const struct slices *s, unsigned number, char path[PATH_MAX])
{
    char name[NAME_ROOM];
    slice_name(s, number, "", name);
    path_in(s->to, s->device, slice_folder(s), name, path);
}

static void slice_open(struct slices *s)
{
    char path[PATH_MAX], name[NAME_ROOM];
    slice_name(s, s->next, "", name);
    slice_path(s, s->next, path);
    uint64_t unused;
    if (s->is_resumed)
        slices_remove(s, s->next, &unused);
    const int dir = folder_open(s->to, s->device, slice_folder(s));
    if (dir >= 0) {
        s->is_open = file_create(s->to, &s->file, dir, name, path);
        close(dir);
    } else {
        prof_writer_fail(s->to, path, "cannot be created", errno);
    }
    s->next++;
    s->written = 0;
    s->has_sum = s->is_open && s->keeps_sums;
    checksum_begin(&s->sum);
}

/* Without memory, or of a slice that was continued, there is none, and the file is read at the end. */
static void sum_keep(struct slices *s)
{
    if (!s->has_sum)
        return;
    if (s->n_sums == SUMS_MOST) {
        memmove(s->sums, s->sums + SUMS_MOST / 2, SUMS_MOST / 2 * sizeof *s->sums);
        s->n_sums = SUMS_MOST / 2;
    }
    if ((s->n_sums & (s->n_sums - 1)) == 0) { /* full at every power of two */
        struct slice_sum *more = realloc(s->sums, (s->n_sums ? 2 * s->n_sums : 1) * sizeof *more);
        if (!more)
            return;
        s->sums = more;
    }
    s->sums[s->n_sums++] = (struct slice_sum){ checksum_end(&s->sum), s->next - 1 };
    s->has_sum = false;
}

static void slice_close(struct slices *s)
{
    char path[PATH_MAX], name[NAME_ROOM], done[80];
    slice_path(s, s->next - 1, path);
    if (!kept_close(&s->file))
        prof_writer_fail(s->to, path, "cannot be written", errno);
    s->is_open = false;
    sum_keep(s);
    if (is_plain(s->device))
        return;
    /* The times are there in name only: collectors write two zeros, and the second name has two blanks. */
    const int n = snprintf(done, sizeof done, "filesize:%zu\nstarttime:0\nendtime  :0\n", s->written);
    slice_name(s, s->next - 1, ".done", name);
    whole_file(s->to, s->device, slice_folder(s), name, done, (size_t)n);
}

/* Of the open slice: if the program around us has closed its descriptor, it is opened again. -1 with errno. */
static int slice_fd(struct slices *s)
{
    char name[NAME_ROOM];
    const int fd = kept_fd(&s->file);
    if (fd >= 0)
        return fd;
    const int dir = folder_open(s->to, s->device, slice_folder(s));
    slice_name(s, s->next - 1, "", name);
    if (dir < 0)
        return -1;
    kept_open(&s->file, dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    const int why = errno;
    close(dir);
    errno = why;
    return s->file.fd;
}

/* Writes all bytes or none, so that no part of a record is in the file. */
static bool slice_write(struct slices *s, const uint8_t *bytes, size_t n)
{
    char path[PATH_MAX];
    int fd = slice_fd(s);
    slice_path(s, s->next - 1, path);
    if (fd < 0) {
        prof_writer_fail(s->to, path, "cannot be opened again", errno);
        return false;
    }
    if (prof_writer_write_all(s->to, fd, bytes, n, s->written, path)) {
        if (s->has_sum)
            checksum_add(&s->sum, bytes, n);
        if (s->written / BEGIN_BYTES != (s->written + n) / BEGIN_BYTES)
            durable_begin(fd, 0, 0);
        s->written += n;
        return true;
    }
    if ((fd = slice_fd(s)) >= 0 && ftruncate(fd, (off_t)s->written) != 0)
        prof_writer_fail(s->to, path, "cannot be truncated", errno);
    return false;
}

void slices_flush(struct slices *s)
{
    for (size_t at = 0; at < s->n && is_well(s->to);) {
        if (!s->is_open)
            slice_open(s);
        size_t n = s->n - at;
        if (s->cut == CUT_ANYWHERE && n > s->to->slice_bytes - s->written)
            n = s->to->slice_bytes - s->written;
        if (!s->is_open || !slice_write(s, s->buffer + at, n))
            break;
        at += n;
        if (s->cut == CUT_ANYWHERE && s->written == s->to->slice_bytes && is_well(s->to))
            slice_close(s);
    }
    s->n = 0;
}

static bool is_cut_next(const struct slices *s)
{
    return (s->cut == CUT_BETWEEN || s->cut == CUT_SAMPLES) && s->written + s->n >= s->to->slice_bytes;
}

bool slices_next_is_new(const struct slices *s)
{
    return s->written + s->n == 0 || is_cut_next(s);
}

uint8_t *slices_more(struct slices *s, size_t bytes)
{
    if (!s->buffer) {
        s->buffer = malloc(SLICES_BUFFER);
        if (!s->buffer) {
            static uint8_t nowhere[SLICES_BUFFER]; /* callers fill the returned memory, also after an error */
            error_no_memory(&s->to->error, s->family);
            return nowhere;
        }
    }
    if (bytes > SLICES_BUFFER - s->n)
        slices_flush(s);
    uint8_t *at = s->buffer + s->n;
    s->n += bytes;
    return at;
}

uint8_t *slices_take(struct slices *s, size_t bytes)
{
    if (is_cut_next(s)) {
        slices_flush(s);
        if (s->is_open && is_well(s->to))
            slice_close(s);
        s->written = 0;
    }
    return slices_more(s, bytes);
}

uint8_t *slices_record(struct slices *s, const struct layout *l)
{
    uint8_t *rec = slices_take(s, l->size);
    layout_init(l, rec);
    return rec;
}

void slices_text(struct slices *s, const char *fmt, ...)
{
    char text[TEXT_MOST];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const size_t used = n <= 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    if (used > 0)
        memcpy(slices_take(s, used), text, used);
}

bool slices_read(struct slices *s, uint8_t *to, size_t bytes)
{
    const int fd = slice_fd(s);
    for (size_t got = 0; got < bytes;) {
        const ssize_t part = TEMP_FAILURE_RETRY(pread(fd, to + got, bytes - got, (off_t)got));
        if (part <= 0)
            return false;
        got += (size_t)part;
    }
    return true;
}

static bool slice_exists(const struct slices *s, unsigned number)
{
    char name[NAME_ROOM];
    struct stat st;
    const int dir = folder_open(s->to, s->device, slice_folder(s));
    slice_name(s, number, "", name);
    const bool is_there = dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (dir >= 0)
        close(dir);
    return is_there;
}

bool slices_remove(const struct slices *s, unsigned number, uint64_t *bytes)
{
    char name[NAME_ROOM];
    struct stat st;
    const int dir = folder_open(s->to, s->device, slice_folder(s));
    slice_name(s, number, ".done", name);
    if (dir >= 0)
        unlinkat(dir, name, 0); /* first: a slice without its marker can be removed again, a marker alone would stay */
    slice_name(s, number, "", name);
    const bool is_gone = dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && unlinkat(dir, name, 0) == 0;
    if (is_gone)
        *bytes = (uint64_t)st.st_size;
    if (dir >= 0)
        close(dir);
    return is_gone;
}

/* Only a plain file that belongs to the collection's owner is continued. */
static int slice_check(const struct prof_writer *w, int fd, struct stat *st)
{
    if (fd < 0 || fstat(fd, st) != 0)
        return errno;
    return !S_ISREG(st->st_mode) ? EINVAL : w->is_of_others && st->st_uid != w->owner ? EPERM : 0;
}

int slices_open(const struct slices *s, unsigned number)
{
    char name[NAME_ROOM];
    struct stat st;
    const int dir = folder_open(s->to, s->device, slice_folder(s));
    slice_name(s, number, "", name);
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = dir >= 0 ? (int)TEMP_FAILURE_RETRY(openat(dir, name, flags)) : -1;
    if (fd >= 0 && slice_check(s->to, fd, &st) != 0) {
        close(fd);
        fd = -1;
    }
    if (dir >= 0)
        close(dir);
    return fd;
}

/* Opens the last slice again, and cuts it to its committed length. */
static bool slice_reopen(struct slices *s, uint64_t bytes)
{
    char path[PATH_MAX], name[NAME_ROOM];
    struct stat st;
    const int dir = folder_open(s->to, s->device, slice_folder(s));
    if (dir >= 0 && !is_plain(s->device)) {
        slice_name(s, s->next - 1, ".done", name);
        unlinkat(dir, name, 0);
    }
    slice_name(s, s->next - 1, "", name);
    slice_path(s, s->next - 1, path);
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    s->file = (struct kept)KEPT_NONE;
    s->is_open = dir >= 0 && kept_open(&s->file, dir, name, flags, 0);
    if (dir >= 0 && !s->is_open && errno == ENOENT)
        s->is_open = file_create(s->to, &s->file, dir, name, path);
    int why = slice_check(s->to, s->file.fd, &st);
    s->written = why || (uint64_t)st.st_size > bytes ? bytes : (uint64_t)st.st_size;
    if (!why && ftruncate(s->file.fd, (off_t)s->written) != 0)
        why = errno;
    if (why)
        prof_writer_fail(s->to, path, "cannot be continued", why);
    if (dir >= 0)
        close(dir);
    return s->written == bytes;
}

bool slices_resume(struct slices *s, unsigned next, bool is_open, uint64_t bytes)
{
    s->next = next;
    s->is_resumed = true;
    s->has_sum = false;
    const bool is_whole = !is_open || slice_reopen(s, bytes);
    if (is_open && is_plain(s->device)) /* a plain file is the only one */
        return is_whole;
    unsigned end = next;
    while (slice_exists(s, end) && end < (is_plain(s->device) ? next + 1 : UINT_MAX))
        end++;
    /* last one first, so that a kill in between leaves no gap in the numbers */
    for (uint64_t bytes_gone; end-- > next;)
        slices_remove(s, end, &bytes_gone);
    return is_whole;
}

bool slices_leave(struct slices *s)
{
    slices_flush(s);
    const bool is_open = s->is_open;
    slices_forget(s);
    free(s->buffer);
    s->buffer = NULL;
    return is_open;
}

void slices_fini(struct slices *s)
{
    if (s->to)
        slices_flush(s);
    if (s->to && s->is_open)
        slice_close(s);
    free(s->buffer);
    s->buffer = NULL;
}

void slices_rest(struct slices *s)
{
    char path[PATH_MAX];
    slice_path(s, s->next - 1, path);
    if (!kept_close(&s->file))
        prof_writer_fail(s->to, path, "cannot be written", errno);
}

void slices_forget(struct slices *s)
{
    kept_close(&s->file);
    s->is_open = false;
}

void slices_sums(const struct slices *s, const char *folder, struct file_tree *t)
{
    char name[NAME_ROOM], of[32], path[PATH_MAX];
    folder_name(s->device, of);
    for (size_t i = 0; i < s->n_sums; i++) {
        slice_name(s, s->sums[i].number, "", name);
        const char *const data = slice_folder(s);
        snprintf(path, sizeof path, "%s%s%s%s%s%s%s", folder, *folder ? "/" : "", of, *of ? "/" : "", data,
                 *data ? "/" : "", name);
        struct tree_file *const f = tree_find(t, path);
        if (f) {
            f->sum = s->sums[i].sum;
            f->has_sum = true;
        }
    }
}
