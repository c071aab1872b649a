/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file_lock.h"
#include "dynamic/watch.h"

#define BOARD_MAGIC "ascope board 2"
enum {
    LOCK_OWNER,
    LOCK_CHANGES,
    LOCK_SLOTS = 16
}; /* bytes that are locked; LOCK_CHANGES: while a process joins or leaves */
enum { CHANGES_TRIES = 200, CHANGES_WAIT_MS = 10, JOIN_TRIES = 20 };

struct board_page {
    char magic[16];
    _Alignas(64) _Atomic uint32_t news; /* a futex: it changes with each publication */
    _Atomic uint32_t poll_ms;
    _Atomic int32_t owner_pid;
    _Atomic uint64_t sequence;   /* of everything below but the slots: odd while the owner writes */
    _Atomic uint64_t serial, id; /* of the text */
    _Atomic uint64_t size;
    _Atomic uint64_t has_stamp;
    _Atomic uint64_t stamp[SHARED_WORDS(sizeof(struct config_stamp))];
    _Alignas(4096) struct board_slot slot[BOARD_RANKS];
    _Alignas(4096) _Atomic uint64_t text[SHARED_WORDS(CONFIG_BYTES_MOST)];
};

/* ---- the file ---- */

static uint64_t board_id_of(uint64_t hash, int64_t mtime_ns)
{
    const uint64_t id = config_hash(&mtime_ns, sizeof mtime_ns, hash);
    return id ? id : 1;
}

uint64_t board_id(const void *text, size_t n, int64_t mtime_ns)
{
    return board_id_of(config_hash(text, n, 0), mtime_ns);
}

/* A host's name is in it because the directory may be on several; locks and futexes are of one. False: the path is too
 * long. */
static bool path_of(char path[PATH_MAX], enum board_place place, const struct config_kind *kind, const char *real_dir)
{
    char host[HOST_NAME_BYTES];
    host_status_name(host);
    const int n = place == BOARD_IN_MEMORY
                      ? snprintf(path, PATH_MAX, BOARD_PLACE "/%s_u%u_%016llx", kind->memory_prefix,
                                 (unsigned)geteuid(), (unsigned long long)config_hash(real_dir, strlen(real_dir), 0))
                      : snprintf(path, PATH_MAX, "%s/" BOARD_PREFIX "%s_%s_u%u", real_dir, kind->memory_prefix, host,
                                 (unsigned)geteuid());
    return n < PATH_MAX;
}

/* Whether any process, this one too, has locked one of n bytes. */
static bool is_locked(int fd, off_t byte, off_t n)
{
    int unknown;
    return lock_is_held(fd, byte, n, &unknown);
}

/* Tries for a limited time: other processes hold this lock for microseconds, unless they are stopped. */
static bool lock_changes(int fd)
{
    for (int i = 0; i < CHANGES_TRIES; i++) {
        if (lock_try(fd, LOCK_CHANGES, 1))
            return true;
        if (errno != EAGAIN)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = CHANGES_WAIT_MS * 1000000 }, NULL);
    }
    return false;
}

static bool is_used(int fd)
{
    return is_locked(fd, LOCK_SLOTS, BOARD_RANKS) || is_locked(fd, LOCK_OWNER, 1);
}

/* False: the file does not exist, or it is not one of this user alone; then e is set. */
static bool file_open(struct kept *file, const char *path, int flags, struct stat *st, struct error *e)
{
    *file = (struct kept)KEPT_NONE;
    if (!kept_open(file, AT_FDCWD, path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600)) {
        if (errno != ENOENT)
            error_set(e, FAULT_IO, "%s: %s", path, strerror(errno));
        return false;
    }
    if (fstat(file->fd, st) == 0 && S_ISREG(st->st_mode) && st->st_nlink <= 1 && st->st_uid == geteuid() &&
        (st->st_mode & 077) == 0)
        return true;
    error_set(e, FAULT_IO, "%s: not a file of this user alone", path);
    kept_close(file);
    return false;
}

/* Of a board that is shared; opened again if the program has closed it. -1: not possible. */
static int board_fd(struct board *b)
{
    const int fd = kept_fd(&b->file);
    if (fd < 0)
        kept_open(&b->file, AT_FDCWD, b->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    return fd >= 0 ? fd : b->file.fd;
}

static bool is_still(const char *path, const struct stat *st)
{
    struct stat now;
    return lstat(path, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev;
}

/* True: processes have it. Removes one that no process has locked: its job was killed. */
static bool is_used_else_remove(const char *path)
{
    struct stat st;
    struct error ignored = { 0 };
    struct kept file;
    if (!file_open(&file, path, O_RDWR, &st, &ignored))
        return false;
    const bool is = is_used(file.fd);
    if (!is && lock_try(file.fd, LOCK_CHANGES, 1) && !is_used(file.fd) && is_still(path, &st))
        unlink(path);
    kept_close(&file);
    return is;
}

static void remove_left(const struct config_kind *kind, const char *keep)
{
    char prefix[NAME_MAX], path[PATH_MAX];
    snprintf(prefix, sizeof prefix, "%s_u%u_", kind->memory_prefix, (unsigned)geteuid());
    DIR *const dir = opendir(BOARD_PLACE);
    for (const struct dirent *d; dir && (d = readdir(dir));) {
        snprintf(path, sizeof path, BOARD_PLACE "/%.200s", d->d_name);
        if (strncmp(d->d_name, prefix, strlen(prefix)) == 0 && strcmp(path, keep) != 0)
            is_used_else_remove(path);
    }
    if (dir)
        closedir(dir);
}

/* ---- joining ---- */

/* Others may look at it already; an owner offers nothing to a slot without a process. */
static void slot_clear(struct board *b)
{
    b->mine = (struct board_rank){ 0 };
    board_show(b);
    atomic_store(&b->slot->step, 0);
    atomic_store(&b->slot->delivered_id, 0);
    board_offer_set(b, b->number, 0, (struct board_offer){ 0 });
}

/* file: of the board; -1: private. */
static bool slot_take(struct board *b, int fd)
{
    for (unsigned i = 0; i < BOARD_RANKS; i++) {
        if (fd >= 0 && !lock_try(fd, LOCK_SLOTS + (off_t)i, 1))
            continue;
        b->number = i;
        b->slot = &b->page->slot[i];
        slot_clear(b);
        return true;
    }
    return false;
}

/* The page keeps the locks of the open file. A forked child has neither. */
static bool map(struct board *b, int fd, struct error *e)
{
    void *const at =
        mmap(NULL, sizeof *b->page, PROT_READ | PROT_WRITE, fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
    if (at == MAP_FAILED)
        return error_no_memory(e, "dynamic_profile");
    madvise(at, sizeof *b->page, MADV_DONTFORK);
    b->page = at;
    return true;
}

static bool is_current(int fd)
{
    char magic[sizeof BOARD_MAGIC] = "";
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_size == (off_t)sizeof(struct board_page) &&
           pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic && memcmp(magic, BOARD_MAGIC, sizeof magic) == 0;
}

/* Maps the file and takes a slot. LOCK_CHANGES is held, and the file still has its name. */
static bool enter(struct board *b, const struct kept *file, struct error *e)
{
    const int fd = kept_fd(file);
    const bool is_old = is_used(fd);
    if (is_old && !is_current(fd))
        return error_set(e, FAULT_FORMAT, "%s: used by another version of ascope", b->path);
    /* Allocates all pages now: a later store to a page for which there is no memory would kill the job. */
    if (!is_old && (ftruncate(fd, 0) != 0 || posix_fallocate(fd, 0, (off_t)sizeof *b->page) != 0))
        return error_set(e, FAULT_IO, "%s: %s", b->path, strerror(ENOSPC));
    if (!map(b, fd, e))
        return false;
    if (kept_fd(file) < 0)
        return error_set(e, FAULT_IO, "%s: %s", b->path, strerror(EBADF));
    if (!is_old)
        memcpy(b->page->magic, BOARD_MAGIC, sizeof BOARD_MAGIC);
    return slot_take(b, fd) || error_set(e, FAULT_LIMIT, "%s: %d processes listen already", b->path, BOARD_RANKS);
}

static void page_leave(struct board *b)
{
    if (b->page)
        munmap(b->page, sizeof *b->page);
    b->page = NULL;
}

/* Another process may remove the file between opening and locking it; then it is tried again. */
static bool join_shared(struct board *b, struct error *e)
{
    for (int i = 0; i < JOIN_TRIES; i++) {
        struct stat st;
        struct kept file;
        if (!file_open(&file, b->path, O_RDWR | O_CREAT, &st, e))
            return error_set(e, FAULT_IO, "%s: %s", b->path,
                             strerror(ENOENT)); /* error_set() keeps an earlier reason */
        const bool is_locked_now = lock_changes(file.fd), is_same = is_locked_now && is_still(b->path, &st);
        const bool is_in = is_same && enter(b, &file, e);
        if (is_in) {
            lock_drop(file.fd, LOCK_CHANGES, 1);
            b->file = file;
        } else {
            page_leave(b);
        }
        kept_close(&file);
        b->file.fd = -1;
        if (is_in)
            return true;
        if (!is_locked_now)
            return error_set(e, FAULT_IO, "%s: locked by another process", b->path);
        if (is_same)
            break;
    }
    return error_set(e, FAULT_IO, "%s: other processes remove it", b->path);
}

bool board_join(struct board *b, const struct config_kind *kind, const char *config_dir, struct error *e)
{
    char real[PATH_MAX], path[BOARD_PLACES][PATH_MAX];
    bool is_possible[BOARD_PLACES];
    *b = (struct board){ .kind = kind, .file = KEPT_NONE };
    for (unsigned place = 0; place < BOARD_PLACES; place++)
        is_possible[place] = path_of(path[place], place, kind, realpath(config_dir, real) ? real : config_dir);
    remove_left(kind, path[BOARD_IN_MEMORY]);
    /* Ranks that are already in the second place are joined there, also when the first one has become free. */
    const unsigned first = is_possible[BOARD_BESIDE] && is_used_else_remove(path[BOARD_BESIDE]);
    for (unsigned i = 0; i < BOARD_PLACES; i++) {
        const unsigned place = (first + i) % BOARD_PLACES;
        memcpy(b->path, path[place], sizeof b->path);
        if (is_possible[place] && join_shared(b, e))
            return true;
        if (e->fault == FAULT_LIMIT) /* the board is in use, and full */
            break;
    }
    b->is_private = true;
    b->is_owner = true;
    return map(b, -1, e) && slot_take(b, -1);
}

void board_leave(struct board *b)
{
    struct stat st;
    if (!b->page)
        return;
    const int fd = b->is_private ? -1 : board_fd(b);
    const bool is_locked_now = fd >= 0 && lock_changes(fd);
    b->mine.pid = 0;
    board_show(b);
    if (b->is_owner)
        atomic_store(&b->page->owner_pid, 0);
    lock_release(b->owned);
    board_wake(b); /* one of the others becomes the owner */
    page_leave(b); /* ends the lock of the slot */
    if (is_locked_now && !is_used(fd) && fstat(fd, &st) == 0 && is_still(b->path, &st))
        unlink(b->path);
    kept_close(&b->file); /* ends the lock of changes */
    *b = (struct board){ .file = KEPT_NONE };
}

void board_forget(struct board *b)
{
    kept_close(&b->file);
    *b = (struct board){ .file = KEPT_NONE };
}

/* Locks it as an open file of its own, which nobody else has: a lock belongs to what open() returns. */
static bool owner_lock(struct board *b)
{
    struct kept file = b->file;
    if (is_locked(board_fd(b), LOCK_OWNER, 1) || !kept_open(&file, AT_FDCWD, b->path, O_RDWR | O_NOFOLLOW, 0))
        return false;
    if (lock_try(file.fd, LOCK_OWNER, 1))
        b->owned = lock_keep(file.fd);
    kept_close(&file);
    return b->owned;
}

bool board_own(struct board *b)
{
    if (!b->is_owner)
        b->is_owner = owner_lock(b);
    if (b->is_owner)
        atomic_store(&b->page->owner_pid, (int32_t)getpid());
    return b->is_owner;
}

/* ---- slots ---- */

void board_show(struct board *b)
{
    const uint32_t next = atomic_load_explicit(&b->slot->version, memory_order_relaxed) + 1; /* nobody else writes it */
    words_put(b->slot->is[next % 2], &b->mine, sizeof b->mine);
    atomic_store_explicit(&b->slot->version, next, memory_order_release); /* all words are there */
}

void board_delivered(struct board *b, uint64_t id)
{
    atomic_store(&b->slot->delivered_id, id);
}

static void rank_copy(struct board_rank *out, const struct board_slot *from)
{
    enum { TRIES = 100 }; /* it is shown again, meanwhile, at most a few times in a row */
    for (int i = 0; i < TRIES; i++) {
        const uint32_t shown = atomic_load_explicit(&from->version, memory_order_acquire); /* the words of that copy */
        words_get(out, from->is[shown % 2], sizeof *out);
        if (atomic_load_explicit(&from->version, memory_order_relaxed) == shown) /* relaxed: the words were acquired */
            break;
    }
    out->step = atomic_load(&from->step);
    out->delivered_id = atomic_load(&from->delivered_id);
    out->dir[sizeof out->dir - 1] = '\0';
    out->state = out->state <= ASCOPE_DYNAMIC_RUNNING ? out->state : ASCOPE_DYNAMIC_OFF;
    out->fate = out->fate <= FATE_INVALID ? out->fate : FATE_NONE;
}

size_t board_listeners(struct board *b, struct board_rank *out, unsigned *slot)
{
    const int fd = b->is_private ? -1 : board_fd(b);
    size_t n = 0;
    for (unsigned i = 0; i < BOARD_RANKS; i++) {
        rank_copy(&out[n], &b->page->slot[i]);
        const bool is_here = i == b->number || (fd >= 0 && is_locked(fd, LOCK_SLOTS + (off_t)i, 1));
        if (out[n].pid != 0 && is_here)
            slot[n++] = i;
    }
    return n;
}

/* ---- the text ---- */

static uint64_t write_begin(struct board_page *p)
{
    const uint64_t was = atomic_load(&p->sequence) | 1; /* it is odd already if an owner was killed while it wrote */
    atomic_store_explicit(&p->sequence, was, memory_order_relaxed); /* what follows is stored with release */
    return was;
}

static void write_end(struct board_page *p, uint64_t was)
{
    atomic_store_explicit(&p->sequence, was + 1, memory_order_release); /* everything is there */
}

static void stamp_put(struct board_page *p, const struct config_stamp *stamp)
{
    words_put(p->stamp, stamp, sizeof *stamp);
    atomic_store_explicit(&p->has_stamp, 1, memory_order_release); /* as a word */
}

bool board_seen(const struct board *b, struct config_stamp *stamp, bool *is_torn)
{
    *is_torn = atomic_load(&b->page->sequence) % 2 != 0;
    words_get(stamp, b->page->stamp, sizeof *stamp);
    return atomic_load(&b->page->has_stamp) && !*is_torn;
}

void board_see(struct board *b, const struct config_stamp *stamp)
{
    const uint64_t was = write_begin(b->page);
    stamp_put(b->page, stamp);
    write_end(b->page, was);
}

struct board_offer board_offer(const struct board *b, unsigned slot, uint64_t *id)
{
    const struct board_slot *const s = &b->page->slot[slot];
    *id = atomic_load(
        &s->offer_id); /* first: what follows is of this request, or of a newer one, which will be seen, too */
    return (struct board_offer){ .step = atomic_load(&s->offer_step), .is_passed = atomic_load(&s->offer_passed) != 0 };
}

void board_offer_set(struct board *b, unsigned slot, uint64_t id, struct board_offer offer)
{
    struct board_slot *const s = &b->page->slot[slot];
    if (atomic_load(&s->offer_id) != id)
        atomic_store(&s->offer_id, 0); /* so that the offer belongs to no request while it changes */
    atomic_store(&s->offer_passed, offer.is_passed);
    atomic_store(&s->offer_step, offer.step);
    atomic_store(&s->offer_id, id);
}

void board_publish(struct board *b, const char *text, size_t n, uint64_t id, const struct config_stamp *stamp,
                   const struct board_offer *offer)
{
    struct board_page *const p = b->page;
    const uint64_t was = write_begin(p);
    words_put(p->text, text, n);
    atomic_store_explicit(&p->size, n, memory_order_release); /* these three as words */
    atomic_store_explicit(&p->id, id, memory_order_release);
    atomic_store_explicit(&p->serial, atomic_load(&p->serial) + 1, memory_order_release);
    stamp_put(p, stamp);
    for (unsigned i = 0; i < BOARD_RANKS; i++)
        board_offer_set(b, i, id, offer[i]);
    write_end(p, was);
    board_wake(b);
}

void board_poll_set(struct board *b, uint32_t poll_ms)
{
    atomic_store(&b->page->poll_ms, poll_ms);
}

uint64_t board_serial(const struct board *b)
{
    return atomic_load(&b->page->serial);
}

uint64_t board_newest(const struct board *b)
{
    return atomic_load(&b->page->id);
}

bool board_take(const struct board *b, uint64_t *serial, struct board_news *out)
{
    const struct board_page *const p = b->page;
    const uint64_t before = atomic_load_explicit(&p->sequence, memory_order_acquire); /* before what it counts */
    const uint64_t now = atomic_load_explicit(&p->serial, memory_order_acquire);      /* these three as words */
    const size_t n = atomic_load_explicit(&p->size, memory_order_acquire);
    const uint64_t id = atomic_load_explicit(&p->id, memory_order_acquire);
    *out = (struct board_news){ 0 };
    if (before % 2 != 0 || now == *serial || n > CONFIG_BYTES_MOST)
        return false;
    char *const text = malloc(n + 1);
    if (!text)
        return false;
    words_get(text, p->text, n);
    text[n] = '\0';
    *out = (struct board_news){ .text = text,
                                .n = n,
                                .id = id,
                                .offer = { .step = atomic_load(&b->slot->offer_step),
                                           .is_passed = atomic_load(&b->slot->offer_passed) != 0 } };
    if (atomic_load(&p->sequence) != before) { /* a newer text was published meanwhile: it wakes this thread, too */
        free(text);
        return false;
    }
    *serial = now;
    return true;
}

/* ---- waiting ---- */

uint32_t board_news(const struct board *b)
{
    return atomic_load(&b->page->news);
}

void board_wait(const struct board *b, uint32_t news, int64_t timeout_ns)
{
    const struct timespec t = { .tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000 };
    if (timeout_ns > 0)
        syscall(SYS_futex, &b->page->news, FUTEX_WAIT, news, &t, NULL,
                0); /* a relative time: setting the clock does not matter */
}

void board_wake(struct board *b)
{
    atomic_fetch_add(&b->page->news, 1);
    syscall(SYS_futex, &b->page->news, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- from outside ---- */

static int board_by_rank(const void *a, const void *b)
{
    const struct board_rank *const x = a, *const y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static void view(struct board_view *out, const struct board_page *p, int fd)
{
    out->poll_ms = atomic_load(&p->poll_ms);
    struct config_stamp stamp;
    words_get(&stamp, p->stamp, sizeof stamp);
    out->id = atomic_load(&p->id);
    out->seen_id = atomic_load(&p->has_stamp) && stamp.why == 0 ? board_id_of(stamp.hash, stamp.mtime_ns) : 0;
    out->owner_pid = is_locked(fd, LOCK_OWNER, 1) ? atomic_load(&p->owner_pid) : 0;
    for (unsigned i = 0; i < BOARD_RANKS; i++) {
        struct board_rank *const r = &out->rank[out->n_ranks];
        rank_copy(r, &p->slot[i]);
        out->n_ranks += r->pid != 0 && is_locked(fd, LOCK_SLOTS + (off_t)i, 1);
    }
    qsort(out->rank, out->n_ranks, sizeof *out->rank, board_by_rank);
}

static bool view_file(const char *path, struct board_view *out, struct error *e)
{
    struct stat st;
    struct kept file;
    if (!file_open(&file, path, O_RDWR, &st, e))
        return false;
    const int fd = file.fd;
    /* A copy: a mapped file that its owner truncates would end this process. */
    struct board_page *const p = aligned_alloc(_Alignof(struct board_page), sizeof *p);
    if (!p)
        error_no_memory(e, "dynamic_profile");
    else if (pread(fd, p, offsetof(struct board_page, text), 0) == (ssize_t)offsetof(struct board_page, text) &&
             memcmp(p->magic, BOARD_MAGIC, sizeof BOARD_MAGIC) == 0)
        view(out, p, fd);
    free(p);
    kept_close(&file);
    return out->n_ranks > 0;
}

bool board_read(const char *config_dir, enum ascope_dynamic_kind kind, struct board_view *out, struct error *e)
{
    char real[PATH_MAX], path[PATH_MAX];
    *out = (struct board_view){ 0 };
    if (!realpath(config_dir, real))
        return error_set(e, FAULT_IO, "%s: %s", config_dir, strerror(errno));
    for (unsigned place = 0; place < BOARD_PLACES; place++) {
        if (path_of(path, place, &config_kinds[kind], real) && view_file(path, out, e)) {
            *e = (struct error){ 0 };
            return true;
        }
    }
    return false;
}
