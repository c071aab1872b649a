/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/rings_map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/text/error.h"
#include "collect/ring/ring.h"

struct rings rings = { .file = KEPT_NONE };

struct ring_shared *rings_shared(uint32_t ring)
{
    return (struct ring_shared *)atomic_load_explicit(&rings.base[ring], memory_order_acquire);
}

/* A thread that got its ring after the count was read has raised the count before: then this is no damage. */
bool rings_were_emptied(uint32_t n_read)
{
    return n_read < RINGS_MOST && rings_shared(n_read) &&
           atomic_load_explicit(&rings.front->n_rings, memory_order_acquire) <= n_read;
}

uint8_t *ring_lane_at(uint8_t *base, unsigned lane)
{
    const struct rings_layout *h = &rings.layout;
    return base + h->lane_at[lane] + (lane > 0 ? h->lane_bytes[0] : 0);
}

uint8_t *rings_lane(uint32_t ring, unsigned lane)
{
    return ring_lane_at(atomic_load_explicit(&rings.base[ring], memory_order_acquire), lane);
}

/* ---- one ring ---- */

static uint64_t page_round(uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

int rings_fd(struct kept *own)
{
    const int fd = kept_fd(&rings.file);
    *own = rings.file;
    own->fd = -1;
    if (fd >= 0)
        return fd;
    kept_open(own, AT_FDCWD, rings.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    return own->fd;
}

/* False: the program has closed it meanwhile, and may have given the number to a file of its own. */
static bool is_of_rings(int fd, struct stat *st)
{
    if (fstat(fd, st) == 0 && st->st_dev == rings.file.device && st->st_ino == rings.file.inode)
        return true;
    errno = EBADF;
    return false;
}

/* Room on the disk, or none: a page of a mapped file that finds no room when it is touched would kill the program, and
 * so would a file that grows beyond what the process may write. */
static bool file_grow(int fd, uint64_t offset, uint64_t bytes, int *why)
{
    struct rlimit limit;
    struct stat st;
    if (!is_of_rings(fd, &st))
        *why = EBADF;
    else if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur)
        *why = EFBIG;
    else
        *why = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
    return *why == 0;
}

static bool map_at(int fd, uint8_t *at, uint64_t bytes, uint64_t offset)
{
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) != MAP_FAILED;
}

uint64_t rings_addresses(void)
{
    const struct rings_layout *h = &rings.layout;
    return h->ring_bytes + h->lane_bytes[0] + h->lane_bytes[1];
}

uint8_t *ring_map(int fd, uint32_t number)
{
    const struct rings_layout *h = &rings.layout;
    const uint64_t offset = h->rings_at + number * h->ring_bytes;
    uint8_t *base = mmap(NULL, rings_addresses(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    bool is_mapped = map_at(fd, base, h->lane_at[0], offset);
    for (unsigned l = 0; l < RING_LANES && is_mapped; l++) {
        uint8_t *at = ring_lane_at(base, l);
        is_mapped = map_at(fd, at, h->lane_bytes[l], offset + h->lane_at[l]) &&
                    map_at(fd, at + h->lane_bytes[l], h->lane_bytes[l], offset + h->lane_at[l]);
    }
    madvise(base, rings_addresses(), MADV_RANDOM); /* a first touch would read ahead, in holes, for milliseconds */
    struct stat st;
    if (is_mapped && madvise(base, rings_addresses(), MADV_DONTFORK) == 0 && is_of_rings(fd, &st))
        return base;
    const int why = errno;
    munmap(base, rings_addresses());
    errno = why;
    return NULL;
}

/* Somebody cut the file, and a ring behind the end would make it long again: its holes would pass for rings that have
 * nothing in them. Of as many rings as come before this one, whichever they are, one ends here or later. */
static bool is_cut_short(int fd, uint32_t n)
{
    const struct rings_layout *h = &rings.layout;
    struct stat st;
    return atomic_load(&rings.front->n_ready) >= n && is_of_rings(fd, &st) &&
           (uint64_t)st.st_size < h->rings_at + n * h->ring_bytes;
}

/* What a new ring needs. Its last page has room only so that the file is as long as if it were whole. */
static bool ring_grow_first(int fd, uint64_t at, int *why)
{
    const struct rings_layout *h = &rings.layout;
    const uint64_t page = page_round(1), first = lane_first_bytes(h, 0);
    if (!rings.front->grows)
        return file_grow(fd, at, h->ring_bytes, why);
    return file_grow(fd, at + h->ring_bytes - page, page, why) && file_grow(fd, at, h->open_at, why) &&
           file_grow(fd, at + h->lane_at[0], first, why);
}

/* The number first: where the file system cannot make room by itself, the
 * library touches every block, and must not meet another thread's records there. */
uint32_t ring_claim(int fd, uint32_t owner, int *why)
{
    const struct rings_layout *h = &rings.layout;
    uint32_t n = atomic_load(&rings.front->n_rings);
    for (uint32_t i = 0; i < n && i < RINGS_MOST; i++) { /* a ring of a process that has ended */
        uint32_t left = OWNER_LEFT;
        if (atomic_load_explicit(&rings.front->owner[i], memory_order_relaxed) == left &&
            atomic_compare_exchange_strong(&rings.front->owner[i], &left, owner))
            return i;
    }
    do {
        if (n >= RINGS_MOST) {
            *why = EUSERS;
            return RINGS_MOST;
        }
    } while (!atomic_compare_exchange_weak(&rings.front->n_rings, &n, n + 1));
    if (is_cut_short(fd, n)) {
        rings_end_early();
        return RINGS_MOST;
    }
    if (ring_grow_first(fd, h->rings_at + n * h->ring_bytes, why)) {
        atomic_store_explicit(&rings.front->owner[n], owner,
                              memory_order_release); /* its space in the file is allocated */
        atomic_fetch_add(&rings.front->n_ready, 1);
        return n;
    }
    uint32_t next = n + 1;
    atomic_compare_exchange_strong(&rings.front->n_rings, &next,
                                   n); /* gives the number back, unless the next one is in use already */
    return RINGS_MOST;
}

/* ---- the whole file ---- */

uint64_t rings_front_bytes(void)
{
    return page_round(sizeof(struct rings_front));
}

enum { LANE_LEAST = 1 << 16 };

static struct rings_layout layout_for(uint32_t wanted)
{
    struct rings_layout l;
    uint64_t bytes = page_round(LANE_LEAST);
    while (bytes < wanted && bytes < (uint64_t)1 << 30)
        bytes *= 2;
    l.rings_at = rings_front_bytes();
    l.open_at = page_round(sizeof(struct ring_shared));
    l.lane_bytes[0] = bytes;
    l.lane_bytes[1] = bytes / 16 > page_round(LANE_LEAST) ? bytes / 16 : page_round(LANE_LEAST);
    const uint64_t open_most = (uint64_t)OPEN_SLOT_BYTES << 16; /* ids have 16 bits for a slot */
    l.lane_at[0] = l.open_at + page_round(bytes / 4 < open_most ? bytes / 4 : open_most);
    l.lane_at[1] = l.lane_at[0] + l.lane_bytes[0];
    l.ring_bytes = l.lane_at[1] + l.lane_bytes[1];
    return l;
}

void rings_header_put(struct rings_header *h)
{
    h->check = header_check(h);
    rings.front->header = *h;
    atomic_signal_fence(memory_order_seq_cst); /* if the process is killed here, one copy is complete */
    rings.front->header_again = *h;
}

/* False: not 32 hexadecimal digits. */
static bool id_read(struct rings_id *id, const char *digits)
{
    *id = (struct rings_id){ { 0, 0 } };
    for (size_t i = 0; i < RINGS_ID_DIGITS; i++) {
        static const char known[] = "0123456789ABCDEF";
        const char *const at = digits[i] ? strchr(known, digits[i]) : NULL;
        if (!at)
            return false;
        id->word[i / 16] = id->word[i / 16] << 4 | (uint64_t)(at - known);
    }
    return digits[RINGS_ID_DIGITS] == '\0';
}

/* Locks the new file and maps its beginning. */
static bool front_map(int fd)
{
    const uint64_t bytes = rings_front_bytes();
    int why = 0;
    if (lock_try(fd, 0, 0)) /* if the file system has no locks, recovery reports it */
        rings.lock = lock_keep(fd);
    if (fchmod(fd, 0640) != 0)
        return false;
    if (!file_grow(fd, 0, bytes, &why)) {
        errno = why;
        return false;
    }
    void *const front = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (front == MAP_FAILED)
        return false;
    madvise(front, bytes, MADV_DONTFORK);
    madvise(front, bytes, MADV_RANDOM);
    rings.front = front;
    rings.front->grows = rings_can_grow(fd, front);
    return true;
}

static void file_leave(void)
{
    if (rings.front)
        munmap(rings.front, rings_front_bytes());
    rings.front = NULL;
    lock_release(rings.lock);
    rings.lock = NULL;
}

/* The file that is locked is opened for that alone: a lock belongs to what open() returns, which a forked child has,
 * too. */
static bool file_create(struct error *e)
{
    struct kept locked = KEPT_NONE;
    const int flags = O_RDWR | O_NOFOLLOW;
    if (!kept_open(&locked, AT_FDCWD, rings.path, flags | O_CREAT | O_EXCL, 0640))
        return error_set(e, FAULT_IO, "%s: cannot be created: %s", rings.path, write_trouble(errno));
    rings.file = locked;
    const bool is_mapped = front_map(locked.fd),
               is_open = is_mapped && kept_open(&rings.file, AT_FDCWD, rings.path, flags, 0);
    const int why = errno;
    kept_close(&locked);
    if (is_open)
        return true;
    file_leave();
    unlink(rings.path);
    return error_set(e, FAULT_IO, "%s: no space for records: %s", rings.path, write_trouble(why));
}

bool rings_create(const struct rings_options *o, struct error *e)
{
    if (strlen(o->path) >= sizeof rings.path)
        return error_set(e, FAULT_ASKED, "%.200s...: the path is too long", o->path);
    if (!id_read(&rings.id, o->id))
        return error_set(e, FAULT_ASKED, "%s: a session's id has %d hexadecimal digits", o->id, RINGS_ID_DIGITS);
    strcpy(rings.path, o->path);
    if (!file_create(e))
        return false;
    rings.layout = layout_for(o->ring_bytes);
    memset(rings.dropped, 0, sizeof rings.dropped); /* no session is open yet */
    atomic_store(&rings.trouble, 0);
    atomic_store(&rings.is_gone, false);
    return true;
}

void rings_unmap(uint8_t *const kept[RINGS_MOST])
{
    for (uint32_t i = 0; i < RINGS_MOST; i++) {
        uint8_t *base = atomic_exchange(&rings.base[i], NULL);
        if (base && base != kept[i])
            munmap(base, rings_addresses());
    }
    file_leave();
}
