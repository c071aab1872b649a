/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/file_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/growing.h"
#include "base/process/background.h"
#include "base/files/checksum.h"
#include "base/files/durable.h"
#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/kept.h"

/* Deeper directories are not ours. Eight syncs at a time: most of a sync is waiting, and file systems answer several
 * with one write. */
enum { DEPTH_MOST = 8, SYNCS = 8, READ_BYTES = 1 << 17 };

static int file_add(struct file_tree *t, const char *folder, const char *name, bool is_directory)
{
    if (!array_reserve(t->file, t->room, t->n + 1, 64))
        return ENOMEM;
    const size_t a = strlen(folder), b = strlen(name);
    char *path = malloc(a + b + 2);
    if (!path)
        return ENOMEM;
    memcpy(path, folder, a);
    path[a] = '/';
    memcpy(path + a + (a > 0), name, b + 1);
    t->file[t->n++] = (struct tree_file){ .path = path, .is_directory = is_directory };
    return 0;
}

static int folder_list(struct file_tree *t, const char *folder, unsigned depth)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int fd = (int)TEMP_FAILURE_RETRY(openat(t->dir, *folder ? folder : ".", flags));
    if (fd < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? errno : 0;
    DIR *const dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return ENOMEM;
    }
    int why = 0, wrong = 0;
    struct stat st;
    for (const char *name; !wrong && (name = dir_next(dir, &why));) {
        if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
            continue;
        wrong = file_add(t, folder, name, S_ISDIR(st.st_mode));
        if (!wrong && S_ISDIR(st.st_mode) && depth < DEPTH_MOST) {
            char *const below = strdup(t->file[t->n - 1].path);
            wrong = below ? folder_list(t, below, depth + 1) : ENOMEM;
            free(below);
        }
    }
    closedir(dir);
    return wrong ? wrong : why;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct tree_file *)a)->path, ((const struct tree_file *)b)->path);
}

int tree_list(struct file_tree *t, int dir)
{
    *t = (struct file_tree){ .dir = dir };
    const int why = folder_list(t, "", 0);
    if (t->n > 0)
        qsort(t->file, t->n, sizeof *t->file, by_path);
    return why;
}

struct tree_file *tree_find(const struct file_tree *t, const char *path)
{
    const struct tree_file key = { .path = (char *)(uintptr_t)path };
    return t->n > 0 ? bsearch(&key, t->file, t->n, sizeof *t->file, by_path) : NULL;
}

/* ---- syncs ---- */

struct syncing {
    struct file_tree *t;
    bool (*is_read)(const char *path);
    bool directories;
    atomic_size_t next;
    atomic_int why;
};

static int sum_read(const struct kept *k, struct tree_file *f)
{
    uint8_t *const block = malloc(READ_BYTES);
    struct checksum sum;
    size_t got = READ_BYTES;
    int why = block ? 0 : ENOMEM;
    checksum_begin(&sum);
    while (!why && got == READ_BYTES && file_read(kept_fd(k), block, READ_BYTES, &got, &why))
        checksum_add(&sum, block, got);
    free(block);
    f->sum = checksum_end(&sum);
    f->bytes = sum.bytes;
    f->has_sum = !why;
    return why;
}

/* Also runs inside a recorded program, which may close our descriptors. */
static int file_sync(const struct syncing *s, struct tree_file *f)
{
    struct kept k = KEPT_NONE;
    struct stat st;
    if (!kept_open(&k, s->t->dir, f->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0))
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? errno : 0;
    int why = fstat(kept_fd(&k), &st) == 0 ? 0 : errno;
    if (!why && S_ISREG(st.st_mode)) {
        f->is_there = true;
        f->bytes = (uint64_t)st.st_size;
        why = durable_file(kept_fd(&k));
        if (!why && !f->has_sum && s->is_read && s->is_read(f->path))
            why = sum_read(&k, f);
    }
    kept_close(&k);
    return why;
}

static void *syncs_run(void *context)
{
    struct syncing *const s = context;
    for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->t->n;) {
        struct tree_file *const f = &s->t->file[i];
        int none = 0;
        const int why = f->is_directory != s->directories ? 0
                        : s->directories                  ? durable_dir(s->t->dir, f->path)
                                                          : file_sync(s, f);
        if (why && !(s->directories && why == ENOENT))
            atomic_compare_exchange_strong(&s->why, &none, why);
    }
    return NULL;
}

static int syncs_do(struct syncing *s)
{
    pthread_t thread[SYNCS - 1];
    unsigned n = 0;
    atomic_store(&s->next, 0);
    while (n < SYNCS - 1 && n + 1 < s->t->n && durable_is_wanted() &&
           background_thread(&thread[n], "ascope-sync", syncs_run, s) == 0)
        n++;
    syncs_run(s);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    return atomic_load(&s->why);
}

int tree_sync(struct file_tree *t, bool (*is_read)(const char *path))
{
    struct syncing s = { .t = t, .is_read = is_read };
    int why = syncs_do(&s);
    s.directories = true;
    why = why ? why : syncs_do(&s);
    return why ? why : durable_dir(t->dir, ".");
}

void tree_free(struct file_tree *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->file[i].path);
    free(t->file);
    *t = (struct file_tree){ .dir = -1 };
}

/* ---- removal ---- */

/* Directories that we make are less deep. A deeper tree is somebody else's, and could exhaust the stack. */
enum { REMOVED_MOST = 16 };

/* Wraps a descriptor that the caller closes. */
static struct kept lent(int dir)
{
    struct stat st;
    return fstat(dir, &st) == 0 ? (struct kept){ .fd = dir, .device = st.st_dev, .inode = st.st_ino }
                                : (struct kept)KEPT_NONE;
}

static int name_remove(const struct kept *parent, const char *name, int flags)
{
    return unlinkat(kept_fd(parent), name, flags) == 0 ? 0 : errno;
}

static int entry_remove(const struct kept *parent, const char *name, unsigned depth);

/* Not by readdir(), which needs memory and keeps the descriptor's number. */
static int folder_empty(const struct kept *folder, unsigned depth)
{
    _Alignas(struct dirent64) char names[2048];
    int first = 0;
    for (ssize_t n; (n = getdents64(kept_fd(folder), (void *)names, sizeof names)) != 0;) {
        if (n < 0)
            return first ? first : errno;
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *const d = (const struct dirent64 *)(const void *)(names + at);
            at += d->d_reclen;
            if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
                continue;
            const int why = entry_remove(folder, d->d_name, depth);
            first = first ? first : why;
        }
    }
    return first;
}

/* May run inside a recorded program, which may close our descriptors and give their numbers to directories of its
 * own. */
static int entry_remove(const struct kept *parent, const char *name, unsigned depth)
{
    struct kept folder;
    const int why = name_remove(parent, name, 0);
    if (why != EISDIR)
        return why;
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int fd = (int)TEMP_FAILURE_RETRY(openat(kept_fd(parent), name, flags));
    if (fd < 0 || !kept_take(&folder, fd))
        return errno;
    const bool is_ours = depth < REMOVED_MOST && folder.device == parent->device;
    const int first = is_ours ? folder_empty(&folder, depth + 1) : 0;
    kept_close(&folder);
    return first ? first : name_remove(parent, name, AT_REMOVEDIR);
}

int tree_empty(int dir)
{
    const struct kept folder = lent(dir);
    return folder_empty(&folder, 0);
}

int tree_remove(int parent, const char *name)
{
    const struct kept folder = lent(parent);
    return entry_remove(&folder, name, 0);
}

int tree_remove_path(const char *path)
{
    const char *name;
    struct kept parent;
    const int dir = inside_parent(path, &name);
    if (dir < 0 || !kept_take(&parent, dir))
        return errno;
    const int why = tree_remove(kept_fd(&parent), name);
    kept_close(&parent);
    return why;
}
