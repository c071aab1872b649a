/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/rings_outside.h"

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

#include "collect/rings_guard.h"

/* ---- the file of another process ---- */

static struct {
    const _Atomic uint32_t *word;
    rings_find *find;
    _Atomic bool is_busy; /* a lock: one thread at a time gets a ring, and changes this structure and `rings` */
    struct rings_outside file;
} outside;

/* The file is opened for each new thread and closed again: programs close descriptors that they did not open, and reuse their numbers. */
static int outside_open(bool is_first)
{
    const int fd = open(outside.file.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < rings_front_bytes() ||
        (!is_first && (rings.inode != st.st_ino || rings.device != st.st_dev))) {
        close(fd);
        return -1;
    }
    rings.inode = st.st_ino;
    rings.device = st.st_dev;
    return fd;
}

static bool is_good_header(const struct rings_header *h)
{
    return h->magic == RINGS_MAGIC && h->version == RINGS_VERSION && h->bytes == sizeof *h &&
           h->check == header_check(h) && memcmp(&h->id, &outside.file.id, sizeof h->id) == 0;
}

/* Makes `rings` describe the file of a session. Mappings of the session before it stay: a thread may still use them. */
static int outside_join(uint32_t session)
{
    const uint64_t bytes = rings_front_bytes();
    const int fd = outside.find(session, &outside.file) ? outside_open(true) : -1;
    void *const front = fd >= 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (front != MAP_FAILED && is_good_header(front)) {
        madvise(front, bytes, MADV_DONTFORK);
        rings.front = front;
        rings.layout = rings.front->header.layout;
        rings.id = rings.front->header.id;
        for (uint32_t i = 0; i < RINGS_MOST; i++)
            atomic_store(&rings.base[i], NULL);
        bus_errors_guard();
        atomic_store(&rings.session, session);
        return fd;
    }
    if (front != MAP_FAILED)
        munmap(front, bytes);
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Threads wait for each other, also for one that has lost its processor; no handler comes here while its own thread is here. One that was
 * ended here is waited for in vain, once. */
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
    const int fd = atomic_load(&rings.session) == session ? outside_open(false) : outside_join(session);
    uint8_t *base = NULL;
    if (fd >= 0) {
        *number = ring_claim(fd, outside.file.owner, why);
        base = *number < RINGS_MOST ? ring_map(fd, *number) : NULL;
        close(fd);
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

void outside_drop(enum stream_id stream)
{
    struct rings_front *const front = rings.front;
    if (front && atomic_load(&rings.session) == ring_session())
        atomic_fetch_add_explicit(&front->dropped[stream], 1, memory_order_relaxed);
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
    if (owner == 0 || owner == (uint32_t)getpid() || rings.fd < 0)
        return false;
    uint8_t *const base = ring_map(rings.fd, ring);
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
