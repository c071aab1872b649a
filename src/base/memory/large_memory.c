/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/large_memory.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/process/background.h"
#include "base/files/inside.h"
#include "base/memory/region.h"

enum {
    MAPPED_MOST = 48 << 20,  /* resident pages of files; pages above this limit are dropped */
    MAPPED_MORE = 128 << 20, /* additional pages while columns leave room */
    STEP_BYTES = 4 << 20,    /* dropped between two readings of what is resident */
    SPILL_LEAST = 1 << 20,   /* smaller columns are not worth a mapping */
    OTHER_MEMORY = 80 << 20, /* neither columns nor files: names, buffers, small columns, SQLite's cache, the program */
    WATCH_NS = 5000000,      /* between two readings */
};

/* A column in the file. */
struct spilled {
    struct mapped map;
    off_t at;
    struct spilled *next;
};

static struct {
    pthread_mutex_t lock;
    struct mapped *maps; /* everything whose pages can be dropped */
    struct mapped *next; /* the one that was dropped last; NULL: none */
    struct spilled *spilled;
    char *dir;             /* of the file */
    int fd;                /* the file, once it is needed */
    off_t end;             /* of it */
    bool is_strict;        /* fail instead of exceeding the limit */
    struct region region;  /* of columns, as long as there is room */
    size_t columns_most;   /* in memory; SIZE_MAX: no limit */
    size_t mapped_most;    /* lower limit for pages of files, which may also use the room that columns leave */
    atomic_size_t columns; /* bytes of those that are not in the region */
    atomic_bool is_met;    /* a request failed because of the limit */
    bool is_watched;
    pthread_t watcher;
    pthread_cond_t unwatched;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER,
          .unwatched = PTHREAD_COND_INITIALIZER,
          .region = REGION_NONE,
          .fd = -1,
          .columns_most = SIZE_MAX,
          .mapped_most = MAPPED_MOST };

void memory_limit(uint64_t bytes, const char *dir, bool is_strict)
{
    const uint64_t mapped = bytes / 4 < MAPPED_MOST ? bytes / 4 : MAPPED_MOST;
    const uint64_t other = bytes / 2 < OTHER_MEMORY ? bytes / 2 : OTHER_MEMORY;
    free(all.dir);
    all.dir = strdup(dir);
    all.is_strict = is_strict;
    all.mapped_most = (size_t)mapped;
    all.columns_most = (size_t)(bytes - mapped - other);
    if (!all.region.at)
        region_open(&all.region, all.columns_most);
}

const char *memory_dir(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

/* Where the file system has no unnamed ones, the name is removed at once. */
int memory_file(const char *dir)
{
    char path[4096];
    uint64_t random;
    int fd = inside_open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC);
    if (fd < 0 && getrandom(&random, sizeof random, 0) == sizeof random &&
        snprintf(path, sizeof path, "%s/ascope-columns-%016" PRIx64, dir, random) < (int)sizeof path) {
        fd = inside_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0)
            inside_remove(path, 0);
    }
    return fd;
}

int memory_file_near(const char *dir)
{
    const char *const places[] = { dir, getenv("TMPDIR"), "/var/tmp", "/tmp" };
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof places / sizeof *places; i++)
        fd = places[i] && *places[i] ? memory_file(places[i]) : -1;
    return fd >= 0 ? fd : memfd_create("ascope", MFD_CLOEXEC);
}

static void maps_add(struct mapped *m)
{
    m->next = all.maps;
    m->link = &all.maps;
    if (m->next)
        m->next->link = &m->next;
    all.maps = m;
}

static void maps_remove(struct mapped *m)
{
    assert(*m->link == m); /* the structure is still where it was linked */
    if (all.next == m)
        all.next = m->next;
    *m->link = m->next;
    if (m->next)
        m->next->link = m->link;
}

bool memory_map(struct mapped *m, int fd, size_t bytes)
{
    return memory_map_part(m, fd, 0, bytes);
}

bool memory_map_part(struct mapped *m, int fd, uint64_t from, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, (off_t)from);
    if (at == MAP_FAILED)
        return false;
    *m = (struct mapped){ .at = at, .bytes = bytes };
    pthread_mutex_lock(&all.lock);
    maps_add(m);
    pthread_mutex_unlock(&all.lock);
    return true;
}

void memory_unmap(struct mapped *m)
{
    if (!m->at)
        return;
    pthread_mutex_lock(&all.lock);
    maps_remove(m);
    pthread_mutex_unlock(&all.lock);
    munmap(m->at, m->bytes);
    m->at = NULL;
}

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

/* A place at the end of the file; -1 when there is none. */
static int take_place(off_t *at, size_t bytes)
{
    pthread_mutex_lock(&all.lock);
    if (all.fd < 0)
        all.fd = memory_file(all.dir);
    *at = all.end;
    all.end += (off_t)bytes;
    const int fd = all.fd;
    pthread_mutex_unlock(&all.lock);
    return fd;
}

/* The room in the file is reserved first: a page that finds the disk full when it is written to would end the process.
 * That may take long, and the watcher does not wait for it. */
static void *spill(size_t bytes)
{
    const size_t whole = whole_pages(bytes);
    struct spilled *s = calloc(1, sizeof *s);
    const int fd = s ? take_place(&s->at, whole) : -1;
    void *at = fd >= 0 && posix_fallocate(fd, s->at, (off_t)whole) == 0
                   ? mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, s->at)
                   : MAP_FAILED;
    if (at == MAP_FAILED) {
        free(s);
        return NULL;
    }
    s->map = (struct mapped){ .at = at, .bytes = whole };
    pthread_mutex_lock(&all.lock);
    maps_add(&s->map);
    s->next = all.spilled;
    all.spilled = s;
    pthread_mutex_unlock(&all.lock);
    return at;
}

/* Releases all but the first bytes of a column in the file; 0: all of it. False: it is not in the file. */
static bool unspill(const void *at, size_t bytes)
{
    const size_t whole = whole_pages(bytes);
    pthread_mutex_lock(&all.lock);
    struct spilled **s = &all.spilled, *found;
    while (*s && (*s)->map.at != at)
        s = &(*s)->next;
    const struct spilled was = (found = *s) ? *found : (struct spilled){ 0 };
    if (found && bytes == 0) {
        *s = found->next;
        maps_remove(&found->map);
    } else if (found && whole < was.map.bytes) {
        found->map.bytes = whole;
    }
    pthread_mutex_unlock(&all.lock);
    if (found && whole < was.map.bytes) {
        const size_t gone = was.map.bytes - whole;
        munmap((char *)was.map.at + whole, gone);
        fallocate(all.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, was.at + (off_t)whole, (off_t)gone);
    }
    if (bytes == 0)
        free(found);
    return found;
}

static void *large_memory_take(size_t bytes, size_t spare)
{
    void *at = bytes >= REGION_LEAST ? region_take(&all.region, bytes, spare) : NULL;
    if (at)
        return at;
    const size_t most = all.columns_most > all.region.bytes ? all.columns_most - all.region.bytes : 0;
    const bool is_beyond = bytes >= SPILL_LEAST && (bytes > most || atomic_load(&all.columns) > most - bytes);
    at = is_beyond && all.dir ? spill(bytes) : NULL;
    if (at)
        return at;
    if (is_beyond && all.is_strict) {
        atomic_store(&all.is_met, true);
        return NULL;
    }
    at = calloc(1, bytes);
    if (at)
        atomic_fetch_add(&all.columns, malloc_usable_size(at));
    return at;
}

void *memory_take(size_t bytes)
{
    return large_memory_take(bytes, 0);
}

/* Sorts and joins write to all of their memory, which should not be in the file: a part of the region is left to
 * them. */
void *memory_column(size_t bytes)
{
    return large_memory_take(bytes, all.region.bytes / 8);
}

bool memory_limit_met(void)
{
    return atomic_load(&all.is_met);
}

void memory_give(void *at)
{
    if (!at || region_give(&all.region, at) || (all.dir && unspill(at, 0)))
        return;
    atomic_fetch_sub(&all.columns, malloc_usable_size(at));
    free(at);
}

void *memory_trim(void *at, size_t bytes)
{
    if (region_trim(&all.region, at, bytes) || (all.dir && unspill(at, bytes)))
        return at;
    const size_t before = malloc_usable_size(at);
    void *less = realloc(at, bytes);
    if (!less)
        return at;
    atomic_fetch_sub(&all.columns, before);
    atomic_fetch_add(&all.columns, malloc_usable_size(less));
    return less;
}

void memory_rest(void)
{
    enum { KEPT_PART = 4 }; /* of the region */
    region_rest(&all.region, all.region.bytes / KEPT_PART);
}

/* Bytes of files that the process holds in memory; 0 when the system does not report. */
static size_t mapped_now(int statm)
{
    char text[128];
    const ssize_t len = pread(statm, text, sizeof text - 1, 0);
    size_t pages;
    text[len > 0 ? len : 0] = 0;
    return sscanf(text, "%*s %*s %zu", &pages) == 1 ? pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Drops one mapping after the other, round-robin, until no more than that is resident: pages in use are mapped again,
 * and are dropped again only after all others. */
static void let_go(int statm, size_t most)
{
    const struct mapped *first = all.next ? all.next : all.maps;
    for (struct mapped *m = all.next; mapped_now(statm) > most;) {
        for (size_t bytes = 0; bytes < STEP_BYTES; bytes += m->bytes) {
            m = m && m->next ? m->next : all.maps;
            if (!m)
                return;
            madvise(m->at, m->bytes, MADV_DONTNEED);
            if ((all.next = m) == first)
                return;
        }
    }
}

static void *watch(void *unused)
{
    const int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    pthread_mutex_lock(&all.lock);
    while (all.is_watched && statm >= 0) {
        const size_t columns = atomic_load(&all.columns) + region_touched(&all.region);
        const size_t left = all.dir && columns < all.columns_most ? all.columns_most - columns : 0;
        const size_t most = all.mapped_most + (left < MAPPED_MORE ? left : MAPPED_MORE);
        if (mapped_now(statm) > most)
            let_go(statm, most / 4 * 3);
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WATCH_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&all.unwatched, &all.lock, &until);
    }
    pthread_mutex_unlock(&all.lock);
    if (statm >= 0)
        close(statm);
    return unused;
}

void memory_watch(void)
{
    all.is_watched = true;
    if (background_thread(&all.watcher, "ascope-memory", watch, NULL) != 0)
        all.is_watched = false;
}

void memory_unwatch(void)
{
    if (!all.is_watched)
        return;
    pthread_mutex_lock(&all.lock);
    all.is_watched = false;
    pthread_cond_signal(&all.unwatched);
    pthread_mutex_unlock(&all.lock);
    pthread_join(all.watcher, NULL);
}
