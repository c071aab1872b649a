/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/rings_left.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- the file of another process ---- */

static struct {
    const _Atomic uint32_t *word;
    rings_find *find;
    _Atomic bool is_busy; /* a lock: one thread at a time gets a ring, and changes this structure and `rings` */
    struct rings_outside file;
} outside;

/* The file is opened for each new thread and closed again. The first time any file will do. */
static bool outside_open(struct kept *file, bool is_first)
{
    struct stat st;
    *file = is_first ? (struct kept)KEPT_NONE : rings.file;
    if (!kept_open(file, AT_FDCWD, outside.file.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0))
        return false;
    if (fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= rings_front_bytes() &&
        kept_fd(file) >= 0) {
        rings.file = *file;
        rings.file.fd = -1;
        return true;
    }
    kept_close(file);
    return false;
}

static bool is_good_header(const struct rings_header *h)
{
    return h->magic == RINGS_MAGIC && h->version == RINGS_VERSION && h->bytes == sizeof *h &&
           h->check == header_check(h) && memcmp(&h->id, &outside.file.id, sizeof h->id) == 0;
}

/* Makes `rings` describe the file of a session. Mappings of the session before it stay: a thread may still use them. */
static bool outside_join(struct kept *file, uint32_t session)
{
    const uint64_t bytes = rings_front_bytes();
    if (!outside.find(session, &outside.file) || !outside_open(file, true))
        return false;
    void *const front = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (front != MAP_FAILED && kept_fd(file) >= 0 && is_good_header(front)) {
        madvise(front, bytes, MADV_DONTFORK);
        rings.front = front;
        rings.layout = rings.front->header.layout;
        rings.id = rings.front->header.id;
        for (uint32_t i = 0; i < RINGS_MOST; i++)
            atomic_store(&rings.base[i], NULL);
        faults_guard();
        atomic_store(&rings.session, session);
        return true;
    }
    if (front != MAP_FAILED)
        munmap(front, bytes);
    kept_close(file);
    return false;
}

/* Threads wait for each other, also for one that has lost its processor; no handler comes here while its own thread is
 * here. One that was ended here is waited for in vain, once. */
static bool outside_lock(void)
{
    enum { YIELDS = 1000, NAPS = 2000 };
    static _Atomic bool is_stuck;
    for (int i = 0; i < YIELDS + NAPS && !atomic_load(&is_stuck); i++) {
        if (!atomic_exchange(&outside.is_busy, true))
            return true;
        if (i < YIELDS)
            sched_yield();
        else /* not nanosleep(), which may be wrapped */
            syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    atomic_store(&is_stuck, true);
    return false;
}

uint8_t *outside_ring(uint32_t session, uint32_t *number, int *why)
{
    if (!outside_lock())
        return NULL;
    enum { TRIES = 8 }; /* as in ring_get() */
    uint8_t *base = NULL;
    *number = RINGS_MOST;
    *why = EBADF;
    for (int i = 0; i < TRIES && !base && *why == EBADF; i++) {
        struct kept file;
        const bool is_open =
            atomic_load(&rings.session) == session ? outside_open(&file, false) : outside_join(&file, session);
        *why = is_open ? 0 : errno;
        if (is_open && *number >= RINGS_MOST)
            *number = ring_claim(file.fd, outside.file.owner, why);
        if (is_open && *number < RINGS_MOST)
            base = ring_map(file.fd, *number);
        if (!base && *why == 0)
            *why = errno;
        if (is_open)
            kept_close(&file);
    }
    atomic_store(&outside.is_busy, false);
    return base;
}

void outside_forget(const struct ring *r)
{
    if (is_outside(r->session) && r->session != RING_NEVER_ATTACHED)
        mmap(r->shared, r->addresses, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
             -1, 0);
}

void outside_drop(enum drop_reason reason, enum stream_id stream)
{
    struct rings_front *const front = rings.front;
    if (front && atomic_load(&rings.session) == ring_session())
        atomic_fetch_add_explicit(&front->dropped[reason][stream], 1, memory_order_relaxed);
}

void rings_follow(const _Atomic uint32_t *word, rings_find *find)
{
    outside.word = word;
    outside.find = find;
    rings_session_from(word);
}

bool outside_leave(void)
{
    const bool was_followed = outside.word;
    outside.word = NULL;
    return was_followed;
}

const _Atomic uint32_t *outside_in_child(void)
{
    atomic_store(&outside.is_busy, false);
    return outside.word;
}

/* ---- for the writer ---- */

bool rings_adopt(uint32_t ring)
{
    const uint32_t owner = atomic_load_explicit(&rings.front->owner[ring], memory_order_acquire);
    if (owner == 0 || owner == (uint32_t)getpid() || rings.file.fd < 0)
        return false;
    struct kept own;
    const int fd = rings_fd(&own);
    uint8_t *const base = fd >= 0 ? ring_map(fd, ring) : NULL;
    kept_close(&own);
    atomic_store_explicit(&rings.base[ring], base, memory_order_release);
    return base;
}

void rings_reclaim(uint32_t ring)
{
    const uint32_t owner = atomic_load_explicit(&rings.front->owner[ring], memory_order_acquire);
    const struct ring_shared *const shared = rings_shared(ring);
    if (!shared || owner == 0 || owner >= OWNER_LEFT || owner == (uint32_t)getpid() || kill((pid_t)owner, 0) == 0 ||
        errno != ESRCH)
        return;
    for (unsigned l = 0; l < RING_LANES; l++)
        if (atomic_load_explicit(&shared->lane[l].head, memory_order_acquire) !=
            atomic_load_explicit(&shared->lane[l].tail, memory_order_relaxed))
            return;
    atomic_store_explicit(&rings.front->owner[ring], OWNER_LEFT, memory_order_release);
}
