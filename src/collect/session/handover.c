/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/process/shared_words.h"
#include "collect/ring/rings_left.h"

#define HANDOVER_MAGIC UINT64_C(0x7265766f646e6168) /* "handover" */
enum { HANDOVER_VERSION = 2 };

struct handover_file { /* of a session */
    struct rings_id id;
    char path[PATH_MAX];
};

/* The collector writes, programs read. The file belongs to the session with that number: it is written while the number
 * is 0, and a reader checks afterwards that the number is still the same (shared_words.h). */
struct handover_page {
    uint64_t magic;
    uint32_t version, bytes;
    uint64_t namespace; /* inode of the collector's namespace of process numbers */
    uint32_t recorded, calls;
    char domain_include[HANDOVER_DOMAINS_BYTES], domain_exclude[HANDOVER_DOMAINS_BYTES];
    _Atomic uint32_t session; /* 0: none is open */
    _Atomic uint64_t file[SHARED_WORDS(sizeof(struct handover_file))];
};

struct handover {
    int fd;
    uint32_t n_sessions;
    struct handover_page *page;
};

/* Identifies the namespace of process ids: equal for processes that see each other under the same ids. 0: not known. */
static uint64_t process_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* ---- the collector ---- */

static bool page_make(struct handover *h)
{
    const size_t bytes = sizeof *h->page;
    h->fd = memfd_create("ascope-run", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (h->fd < 0 || ftruncate(h->fd, (off_t)bytes) != 0 ||
        fcntl(h->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return false;
    void *const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
    if (at == MAP_FAILED)
        return false;
    h->page = at;
    *h->page = (struct handover_page){
        .magic = HANDOVER_MAGIC, .version = HANDOVER_VERSION, .bytes = (uint32_t)bytes, .namespace = process_namespace()
    };
    return true;
}

struct handover *handover_make(char path[HANDOVER_PATH_BYTES], struct error *e)
{
    struct handover *const h = calloc(1, sizeof *h);
    if (!h) {
        error_no_memory(e, "the page that the program shares");
        return NULL;
    }
    h->fd = -1;
    if (!page_make(h)) {
        error_set(e, FAULT_LIMIT, "memory to share with the program: %s", strerror(errno));
        handover_free(h);
        return NULL;
    }
    snprintf(path, HANDOVER_PATH_BYTES, "/proc/%d/fd/%d", (int)getpid(), h->fd);
    return h;
}

static bool list_copy(char to[HANDOVER_DOMAINS_BYTES], const char *from, struct error *e)
{
    if (from && strlen(from) >= HANDOVER_DOMAINS_BYTES)
        return error_set(e, FAULT_ASKED, "%.40s...: a list of domains has at most %d bytes", from,
                         HANDOVER_DOMAINS_BYTES - 1);
    strcpy(to, from ? from : "");
    return true;
}

bool handover_wish(struct handover *h, const struct handover_wish *w, struct error *e)
{
    h->page->recorded = w->recorded;
    h->page->calls = w->calls;
    return list_copy(h->page->domain_include, w->domain_include, e) &&
           list_copy(h->page->domain_exclude, w->domain_exclude, e);
}

void handover_open(struct handover *h)
{
    struct handover_file file = { .id = rings.id };
    strcpy(file.path, rings.path);
    words_put(h->page->file, &file, sizeof file);
    atomic_store(&h->page->session, OUTSIDE_SESSION + h->n_sessions++); /* (at least) release: the file is there */
}

void handover_close(struct handover *h)
{
    enum { PUTTING_MS = 2 }; /* a record takes less than a microsecond, of a thread that has a processor */
    if (atomic_exchange(&h->page->session, 0) != 0)
        nanosleep(&(struct timespec){ .tv_nsec = PUTTING_MS * 1000000 }, NULL);
}

void handover_free(struct handover *h)
{
    if (!h)
        return;
    if (h->page)
        munmap(h->page, sizeof *h->page);
    if (h->fd >= 0)
        close(h->fd);
    free(h);
}

/* ---- the program ---- */

static const struct handover_page *page;

static bool handover_find(uint32_t session, struct rings_outside *out)
{
    struct handover_file file;
    words_get(&file, page->file, sizeof file);
    out->id = file.id;
    memcpy(out->path, file.path, sizeof out->path);
    out->path[sizeof out->path - 1] = '\0';
    out->owner = process_namespace() == page->namespace ? (uint32_t)getpid() : (uint32_t)OWNER_UNKNOWN;
    return atomic_load(&page->session) == session;
}

/* Maps only what the collector makes: sealed memory, which nobody can truncate. */
static const struct handover_page *page_map(const char *path)
{
    enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    struct stat st;
    const struct handover_page *at = MAP_FAILED;
    const int seals = fcntl(fd, F_GET_SEALS); /* -1: a plain file, which anybody may truncate */
    if (seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof *at)
        at = mmap(NULL, sizeof *at, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    if (at->magic == HANDOVER_MAGIC && at->version == HANDOVER_VERSION && at->bytes == sizeof *at)
        return at;
    munmap((void *)(uintptr_t)at, sizeof *at);
    return NULL;
}

bool handover_attach(struct handover_wish *wish)
{
    const char *const path = secure_getenv("ASCOPE_RUN");
    const int errno_was = errno;
    if (path && *path && !page)
        page = page_map(path);
    errno = errno_was;
    if (!page)
        return false;
    *wish = (struct handover_wish){ .recorded = page->recorded,
                                    .calls = page->calls,
                                    .domain_include = page->domain_include,
                                    .domain_exclude = page->domain_exclude };
    rings_follow(&page->session, handover_find);
    return true;
}
