/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/region.h"

#include <string.h>
#include <sys/mman.h>

/* Marks memory that is not allocated, for AddressSanitizer. */
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

enum {
    UNIT = 1 << 16,      /* runs are multiples of it: the largest page size of aarch64 */
    HUGE_FROM = 2 << 20, /* huge pages begin here: small jobs would not fill one */
    HUGE_PAGE = 2 << 20,
};

/* The header of an allocated or a free part of the region. */
struct region_run {
    _Alignas(64) size_t bytes; /* with the head */
    struct region_run *next;   /* of the free runs */
};

static struct region_run *head_of(void *at)
{
    return (struct region_run *)at - 1;
}

static char *region_end_of(const struct region_run *run)
{
    return (char *)run + run->bytes;
}

static size_t whole_units(size_t bytes)
{
    return (bytes + sizeof(struct region_run) + UNIT - 1) / UNIT * UNIT;
}

void region_open(struct region *r, size_t bytes)
{
    bytes = bytes / HUGE_PAGE * HUGE_PAGE;
    char *at = bytes > HUGE_PAGE
                   ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                   : MAP_FAILED;
    if (at == MAP_FAILED)
        return;
    if (bytes > HUGE_FROM)
        madvise(at + HUGE_FROM, bytes - HUGE_FROM, MADV_HUGEPAGE);
    r->at = at;
    r->bytes = bytes;
}

static struct region_run *run_make(char *at, size_t bytes)
{
    struct region_run *run = (struct region_run *)(void *)at;
    ASAN_UNPOISON_MEMORY_REGION(run, sizeof *run);
    run->bytes = bytes;
    return run;
}

/* Takes the first bytes of a free run out of the list. */
static void cut_free(struct region_run **link, size_t bytes)
{
    struct region_run *run = *link, *next = run->next;
    if (run->bytes > bytes) {
        *link = run_make((char *)run + bytes, run->bytes - bytes);
        (*link)->next = next;
    } else {
        *link = next;
    }
}

/* Takes the first free run that is large enough, else memory that was never used, together with a free run that ends
 * there. NULL: it would not end before `end`. *used: how many of its bytes may differ from zero. */
static struct region_run *region_find(struct region *r, size_t bytes, const char *end, size_t *used)
{
    char *const fresh = r->at + atomic_load(&r->touched);
    struct region_run **link = &r->free;
    while (*link && (*link)->bytes < bytes && region_end_of(*link) < fresh)
        link = &(*link)->next;
    char *at = *link ? (char *)*link : fresh;
    if (at > end || bytes > (size_t)(end - at))
        return NULL;
    *used = bytes;
    if (at != fresh && (*link)->bytes >= bytes) {
        cut_free(link, bytes);
    } else {
        *link = NULL; /* it was the last */
        *used = (size_t)(fresh - at);
        atomic_store(&r->touched, (size_t)(at - r->at) + bytes);
    }
    return run_make(at, bytes);
}

void *region_take(struct region *r, size_t bytes, size_t spare)
{
    if (!r->at || bytes > r->bytes)
        return NULL;
    const size_t whole = whole_units(bytes);
    size_t used = 0;
    pthread_mutex_lock(&r->lock);
    struct region_run *run = region_find(r, whole, r->at + r->bytes - spare, &used);
    pthread_mutex_unlock(&r->lock);
    if (!run)
        return NULL;
    ASAN_UNPOISON_MEMORY_REGION(run + 1, bytes);
    ASAN_POISON_MEMORY_REGION((char *)(run + 1) + bytes, whole - sizeof *run - bytes);
    const size_t old = used > sizeof *run ? used - sizeof *run : 0;
    return memset(run + 1, 0, old < bytes ? old : bytes);
}

/* Adds a run to the free ones, and merges it with its neighbours. */
static void give(struct region *r, struct region_run *run)
{
    pthread_mutex_lock(&r->lock);
    struct region_run *before = NULL, *next = r->free;
    for (; next && next < run; next = next->next)
        before = next;
    if (next && region_end_of(run) == (char *)next) {
        run->bytes += next->bytes;
        next = next->next;
    }
    run->next = next;
    if (before && region_end_of(before) == (char *)run) {
        before->bytes += run->bytes;
        before->next = next;
    } else if (before) {
        before->next = run;
    } else {
        r->free = run;
    }
    pthread_mutex_unlock(&r->lock);
}

static bool is_inside(const struct region *r, const char *at)
{
    return r->at && at >= r->at && at < r->at + r->bytes;
}

bool region_give(struct region *r, void *at)
{
    if (!is_inside(r, at))
        return false;
    struct region_run *run = head_of(at);
    ASAN_POISON_MEMORY_REGION(at, run->bytes - sizeof *run);
    give(r, run);
    return true;
}

bool region_trim(struct region *r, void *at, size_t bytes)
{
    if (!is_inside(r, at))
        return false;
    struct region_run *run = head_of(at);
    const size_t whole = whole_units(bytes), before = run->bytes;
    if (whole < before) {
        run->bytes = whole;
        ASAN_POISON_MEMORY_REGION((char *)run + whole, before - whole);
        give(r, run_make((char *)run + whole, before - whole));
    }
    return true;
}

/* The last run, if it ends where the used part ends, is unused again. The others keep the page with their header. */
void region_rest(struct region *r, size_t kept)
{
    size_t bytes = 0;
    pthread_mutex_lock(&r->lock);
    for (const struct region_run *run = r->free; run; run = run->next)
        bytes += run->bytes;
    for (struct region_run **link = &r->free; bytes > kept && *link;) {
        struct region_run *run = *link;
        const bool is_last = region_end_of(run) == r->at + atomic_load(&r->touched);
        /* if madvise() fails, the bytes are not zero and the run stays in the list */
        if (is_last && madvise(run, run->bytes, MADV_DONTNEED) == 0) {
            atomic_store(&r->touched, (size_t)((char *)run - r->at));
            *link = NULL;
        } else {
            madvise((char *)run + UNIT, run->bytes - UNIT, MADV_DONTNEED);
            link = &run->next;
        }
    }
    pthread_mutex_unlock(&r->lock);
}

size_t region_touched(const struct region *r)
{
    return atomic_load(&r->touched);
}
