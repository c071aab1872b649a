#include "collect/prof_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* 128 KiB: a hundred streams may be open at once. Greater than any record and any line of text. */
enum { SLICES_BUFFER = 1 << 17, TEXT_MOST = 4096 };

static bool is_well(const struct prof_writer *w)
{
    return w->error.fault == FAULT_NONE;
}

static void fail(struct prof_writer *w, const char *path, const char *what, int why)
{
    error_set(&w->error, FAULT_IO, "%s: %s: %s", path, what, write_trouble(why));
}

/* The umask may take bits away from what mkdir() and open() are told, so the mode is set once more. */
static void directory_create(struct prof_writer *w, const char *path)
{
    if (!is_well(w))
        return;
    if (mkdir(path, 0750) != 0 || chmod(path, 0750) != 0)
        fail(w, path, "cannot be created", errno);
}

static int file_create(struct prof_writer *w, const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    const int fd = (int)TEMP_FAILURE_RETRY(open(path, flags, 0640));
    if (fd < 0 || fchmod(fd, 0640) != 0)
        fail(w, path, "cannot be created", errno);
    return fd;
}

static bool write_all(struct prof_writer *w, int fd, const void *bytes, size_t n, const char *path)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        const ssize_t done = TEMP_FAILURE_RETRY(write(fd, p, n));
        if (done <= 0) {
            fail(w, path, "cannot be written", done < 0 ? errno : EIO);
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static void whole_file(struct prof_writer *w, const char *path, const void *bytes, size_t n)
{
    if (!is_well(w))
        return;
    const int fd = file_create(w, path);
    if (fd < 0)
        return;
    write_all(w, fd, bytes, n, path);
    if (close(fd) != 0 && errno != EINTR) /* interrupted, it is closed all the same */
        fail(w, path, "cannot be written", errno);
}

/* One of PyTorch's collector: no slices, no markers. */
static bool is_plain(int device)
{
    return device == FOLDER_FRAMEWORK || device == FOLDER_SESSION;
}

static void folder_path(const struct prof_writer *w, int device, const char *below, char *out)
{
    static const char *const named[] = { [-FOLDER_HOST] = "/host",
                                         [-FOLDER_FRAMEWORK] = "/FRAMEWORK",
                                         [-FOLDER_SESSION] = "" };
    if (device < 0)
        snprintf(out, PATH_MAX, "%s%s%s", w->path, named[-device], below);
    else
        snprintf(out, PATH_MAX, "%s/device_%d%s", w->path, device, below);
}

bool prof_writer_join(struct prof_writer *w, const char *path, size_t slice_bytes, struct error *e)
{
    *w = (struct prof_writer){ .slice_bytes = slice_bytes };
    if (strlen(path) >= sizeof w->path)
        return error_set(e, FAULT_ASKED, "%.200s...: the path is too long", path);
    memcpy(w->path, path, strlen(path) + 1);
    return true;
}

bool prof_writer_open(struct prof_writer *w, const char *path, size_t slice_bytes, struct error *e)
{
    if (!prof_writer_join(w, path, slice_bytes, e))
        return false;
    directory_create(w, path);
    return prof_writer_close(w, e);
}

bool prof_writer_close(struct prof_writer *w, struct error *e)
{
    return is_well(w) || error_set(e, w->error.fault, "%s", w->error.text);
}

static void folder_make(struct prof_writer *w, int device, bool may_exist)
{
    static const char *const below[] = { "", "/data" };
    for (size_t i = 0; i < (is_plain(device) ? 1 : sizeof below / sizeof *below); i++) {
        char path[PATH_MAX];
        struct stat st;
        folder_path(w, device, below[i], path);
        if (!may_exist || lstat(path, &st) != 0)
            directory_create(w, path);
        else if (!S_ISDIR(st.st_mode))
            fail(w, path, "cannot be written to", ENOTDIR);
    }
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
    char below[64], path[PATH_MAX], done[48];
    const bool is_numbered = device >= 0 && strcmp(name, "sample.json") != 0;
    if (is_numbered)
        snprintf(below, sizeof below, "/%s.%d", name, device);
    else
        snprintf(below, sizeof below, "/%s", name);
    folder_path(w, device, below, path);
    whole_file(w, path, text, len);
    if (is_plain(device))
        return;
    const int n = snprintf(done, sizeof done, "filesize:%zu\n", len);
    strcat(below, ".done");
    folder_path(w, device, below, path);
    whole_file(w, path, done, (size_t)n);
}

void slices_init(struct slices *s, struct prof_writer *to, int device, const char *family, enum cut cut)
{
    *s = (struct slices){ .to = to, .device = device, .cut = cut, .fd = -1 };
    snprintf(s->family, sizeof s->family, "%s", family);
}

static void slice_path(const struct slices *s, unsigned number, const char *suffix, char *out)
{
    char below[128];
    if (is_plain(s->device))
        snprintf(below, sizeof below, "/%s", s->family);
    else if (s->device == FOLDER_HOST)
        snprintf(below, sizeof below, "/data/%s.slice_%u%s", s->family, number, suffix);
    else
        snprintf(below, sizeof below, "/data/%s.%d.slice_%u%s", s->family, s->device, number, suffix);
    folder_path(s->to, s->device, below, out);
}

static void slice_open(struct slices *s)
{
    char path[PATH_MAX];
    slice_path(s, s->next, "", path);
    s->fd = file_create(s->to, path);
    s->next++;
    s->written = 0;
}

static void slice_close(struct slices *s)
{
    char path[PATH_MAX], done[80];
    slice_path(s, s->next - 1, "", path);
    if (close(s->fd) != 0 && errno != EINTR)
        fail(s->to, path, "cannot be written", errno);
    s->fd = -1;
    if (is_plain(s->device))
        return;
    /* The times are there in name only: collectors write two zeros, and the second name has two blanks. */
    const int n = snprintf(done, sizeof done, "filesize:%zu\nstarttime:0\nendtime  :0\n", s->written);
    slice_path(s, s->next - 1, ".done", path);
    whole_file(s->to, path, done, (size_t)n);
}

void slices_flush(struct slices *s)
{
    for (size_t at = 0; at < s->n && is_well(s->to);) {
        if (s->fd < 0)
            slice_open(s);
        size_t n = s->n - at;
        if (s->cut == CUT_ANYWHERE && n > s->to->slice_bytes - s->written)
            n = s->to->slice_bytes - s->written;
        if (s->fd < 0 || !write_all(s->to, s->fd, s->buffer + at, n, s->family)) {
            if (s->fd >= 0 && ftruncate(s->fd, (off_t)s->written) != 0) /* no half of a record */
                fail(s->to, s->family, "cannot be cut", errno);
            break;
        }
        s->written += n;
        at += n;
        if (s->cut == CUT_ANYWHERE && s->written == s->to->slice_bytes && is_well(s->to))
            slice_close(s);
    }
    s->n = 0;
}

uint8_t *slices_take(struct slices *s, size_t bytes)
{
    if (!s->buffer) {
        s->buffer = malloc(SLICES_BUFFER);
        if (!s->buffer) {
            static uint8_t
                nowhere[SLICES_BUFFER]; /* nothing is written after a fault, but callers fill what they get */
            error_set(&s->to->error, FAULT_LIMIT, "%s: no memory for a buffer", s->family);
            return nowhere;
        }
    }
    if (s->cut == CUT_BETWEEN && s->written + s->n >= s->to->slice_bytes) {
        slices_flush(s);
        if (s->fd >= 0 && is_well(s->to))
            slice_close(s);
        s->written = 0;
    }
    if (bytes > SLICES_BUFFER - s->n)
        slices_flush(s);
    uint8_t *at = s->buffer + s->n;
    s->n += bytes;
    return at;
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
    if (n > 0)
        memcpy(slices_take(s, (size_t)n), text, (size_t)n);
}

bool slices_read(const struct slices *s, uint8_t *to, size_t bytes)
{
    for (size_t got = 0; got < bytes;) {
        const ssize_t part = TEMP_FAILURE_RETRY(pread(s->fd, to + got, bytes - got, (off_t)got));
        if (part <= 0)
            return false;
        got += (size_t)part;
    }
    return true;
}

bool slices_remove(const struct slices *s, unsigned number, uint64_t *bytes)
{
    char path[PATH_MAX];
    struct stat st;
    slice_path(s, number, "", path);
    if (lstat(path, &st) != 0 || unlink(path) != 0)
        return false;
    *bytes = (uint64_t)st.st_size;
    slice_path(s, number, ".done", path);
    unlink(path);
    return true;
}

/* Opens the last slice again, which may have grown since. */
static bool slice_reopen(struct slices *s, uint64_t bytes)
{
    char path[PATH_MAX];
    struct stat st;
    int why = 0;
    if (!is_plain(s->device)) {
        slice_path(s, s->next - 1, ".done", path);
        unlink(path);
    }
    slice_path(s, s->next - 1, "", path);
    s->fd = (int)TEMP_FAILURE_RETRY(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640));
    if (s->fd < 0 || fstat(s->fd, &st) != 0)
        why = errno;
    else if (!S_ISREG(st.st_mode))
        why = EINVAL;
    s->written = why || (uint64_t)st.st_size > bytes ? bytes : (uint64_t)st.st_size;
    if (!why && (ftruncate(s->fd, (off_t)s->written) != 0 || lseek(s->fd, 0, SEEK_END) < 0))
        why = errno;
    if (why)
        fail(s->to, path, "cannot be continued", why);
    return s->written == bytes;
}

bool slices_resume(struct slices *s, unsigned next, bool is_open, uint64_t bytes)
{
    s->next = next;
    const bool is_whole = !is_open || slice_reopen(s, bytes);
    if (!is_open || !is_plain(s->device)) /* else it is the only one */
        for (uint64_t bytes_gone; slices_remove(s, next, &bytes_gone);)
            next++;
    return is_whole;
}

void slices_fini(struct slices *s)
{
    if (s->to)
        slices_flush(s);
    if (s->to && s->fd >= 0)
        slice_close(s);
    free(s->buffer);
    s->buffer = NULL;
}
