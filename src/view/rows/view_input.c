/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rows/view_input.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/gunzip.h"
#include "base/files/inside.h"
#include "base/memory/hash.h"
#include "base/process/background.h"
#include "base/text/stamp.h"
#include "load/trace/trace_readers.h"
#include "view/answers/operator_times.h"
#include "view/server/bus_guard.h"

/* Detects changes of a file or directory: a hash of the sizes and times of all files in it.
 *
 * Results that an analysis wrote into a collection are ignored. Of large trees only a part is examined, so that a
 * change may be missed. */

enum { SOURCE_GONE = 0 };

enum { DEEPEST = 8, MOST_ENTRIES = 20000 };

/* Directories of results. */
static bool is_result(const char *name)
{
    static const char *const results[] = { "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output", "analyze", "sqlite",
                                           "logs" };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (!strcmp(name, results[i]))
            return true;
    return false;
}

static uint64_t stamp_of_stat(const struct stat *st)
{
    const uint64_t time = hash_more(hash_u64((uint64_t)st->st_mtim.tv_sec), (uint64_t)st->st_mtim.tv_nsec);
    return hash_more(hash_more(time, (uint64_t)st->st_size), (uint64_t)st->st_ino);
}

/* The sum over its files, which does not depend on the order in which a directory lists them. Closes d. */
static uint64_t stamp_of_directory(DIR *d, int depth, size_t *n_left)
{
    uint64_t sum = 0;
    int why;
    for (const char *name; d && *n_left > 0 && (name = dir_next(d, &why)) != NULL;) {
        struct stat st;
        if (is_result(name) || fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        --*n_left;
        if (S_ISREG(st.st_mode))
            sum += stamp_of_stat(&st);
        if (S_ISDIR(st.st_mode) && depth < DEEPEST)
            sum += stamp_of_directory(dir_below(d, name), depth + 1, n_left);
    }
    if (d)
        closedir(d);
    return sum;
}

/* SOURCE_GONE: it is not there */
static uint64_t source_stamp(const char *path)
{
    struct stat st;
    size_t n_left = MOST_ENTRIES;
    uint64_t stamp;
    if (inside_stat(path, &st) != 0)
        return SOURCE_GONE;
    if (S_ISDIR(st.st_mode)) {
        DIR *d = inside_list(path);
        if (!d)
            return SOURCE_GONE;
        stamp = stamp_of_directory(d, 0, &n_left);
    } else {
        stamp = stamp_of_stat(&st);
    }
    return stamp == SOURCE_GONE ? 1 : stamp;
}

enum { LOOK_NS = 1000000000, FIRST_BYTES = 32 << 20, LARGE = 8 /* times that */ };

static void release(struct view_input *in)
{
    chrome_trace_free(&in->trace);
    memory_unmap(&in->drawn);
    operator_times_free(in->operators);
    arena_free(in->mem);
    const size_t kept = offsetof(struct view_input, error);
    memset((char *)in + kept, 0, sizeof *in - kept);
}

static bool timeline_build(struct view_input *in)
{
    in->operators = arena_take(in->mem, 1, sizeof *in->operators);
    return (in->operators && view_timeline_build(&in->timeline, &in->trace, in->mem) && device_tracks_first(in)) ||
           error_no_memory(&in->error, in->path);
}

void view_load_first(struct view_input *in, uint64_t most_bytes)
{
    struct view_input *first = calloc(1, sizeof *first);
    struct error e = { 0 };
    if (!first)
        return;
    first->path = in->path;
    first->mem = arena_new();
    const bool is_there =
        first->mem && chrome_load_first(&first->trace, in->path, most_bytes, &e) && timeline_build(first);
    if (!is_there) {
        release(first);
        free(first);
        return;
    }
    pthread_rwlock_wrlock(&in->lock);
    in->first = first;
    pthread_rwlock_unlock(&in->lock);
}

/* With the lock, or when no other thread uses the input. */
static void first_free(struct view_input *in)
{
    if (in->first)
        release(in->first);
    free(in->first);
    in->first = NULL;
}

const struct view_input *view_input_shown(const struct view_input *in)
{
    return atomic_load(&in->state) == VIEW_READY ? in : atomic_load(&in->state) == VIEW_LOADING ? in->first : NULL;
}

const struct view_rank *view_rank_of(const struct view_input *in, uint32_t process)
{
    size_t low = 0, n = in->ranks.n;
    while (n > 1) {
        const size_t half = n / 2;
        if (in->ranks.at[low + half].first_process <= process)
            low += half;
        n -= half;
    }
    return n == 1 ? &in->ranks.at[low] : NULL;
}

/* The stamp of all files of an input; SOURCE_GONE if one of them is gone. */
static uint64_t stamp_of(const struct view_input *in)
{
    inside_again();
    uint64_t stamp = source_stamp(in->path);
    for (size_t i = 0; i < in->n_more_paths && stamp != SOURCE_GONE; i++) {
        const uint64_t more = source_stamp(in->more_paths[i]);
        stamp = more == SOURCE_GONE ? SOURCE_GONE : hash_more(stamp, more) | 1;
    }
    return stamp;
}

static void *view_input_run(void *of)
{
    struct view_input *in = of;
    bus_guard_here();
    view_progress_begin(&in->progress);
    atomic_store(&in->has_answers, false);
    pthread_rwlock_wrlock(&in->lock); /* waits for answers that still use the previous data */
    release(in);
    in->mem = arena_new();
    pthread_rwlock_unlock(&in->lock);
    const uint64_t stamp = stamp_of(in);
    atomic_store(&in->stamp_now, stamp); /* so that it is known as there before anyone has looked again */
    atomic_store(&in->stamp, stamp);
    atomic_store(&in->looked_ns, 0);
    const bool is_there =
        (in->mem || error_no_memory(&in->error, in->path)) && in->load(in, &in->error) && timeline_build(in);
    view_progress_end(&in->progress);
    void (*const add)(struct view_input *) = is_there ? in->add : NULL;
    atomic_store(&in->is_adding, add != NULL);
    pthread_rwlock_wrlock(&in->lock);
    atomic_fetch_add(&in->n_loads, 1);
    atomic_store(&in->state, is_there ? VIEW_READY : VIEW_FAILED);
    first_free(in);
    pthread_rwlock_unlock(&in->lock);
    if (add)
        add(in);
    atomic_store(&in->is_adding, false);
    return NULL;
}

void view_input_init(struct view_input *in)
{
    pthread_rwlock_init(&in->lock, NULL);
    pthread_mutex_init(&in->starting, NULL);
    atomic_store(&in->state, VIEW_NEW);
}

bool view_input_start(struct view_input *in, struct error *e)
{
    int was = atomic_load(&in->state);
    do
        if (was == VIEW_LOADING)
            return true;
    while (!atomic_compare_exchange_weak(&in->state, &was, VIEW_LOADING));
    pthread_mutex_lock(&in->starting); /* the thread before may be done before its starter has noted it */
    if (in->has_thread)
        pthread_join(in->thread, NULL);
    const int failed = background_thread(&in->thread, "ascope-load", view_input_run, in);
    in->has_thread = failed == 0;
    pthread_mutex_unlock(&in->starting);
    if (failed) {
        atomic_store(&in->state, was);
        return error_set(e, FAULT_LIMIT, "%s: no thread: %s", in->path, strerror(failed));
    }
    return true;
}

enum view_source view_input_source(struct view_input *in)
{
    const uint64_t now = steady_ns();
    unsigned long long looked = atomic_load(&in->looked_ns);
    if ((looked == 0 || now - looked >= LOOK_NS) && atomic_compare_exchange_strong(&in->looked_ns, &looked, now))
        atomic_store(&in->stamp_now, stamp_of(in));
    const uint64_t stamp = atomic_load(&in->stamp_now);
    return stamp == SOURCE_GONE ? VIEW_GONE : stamp == atomic_load(&in->stamp) ? VIEW_AS_LOADED : VIEW_CHANGED;
}

void view_input_wait(struct view_input *in)
{
    if (in->has_thread)
        pthread_join(in->thread, NULL);
    in->has_thread = false;
}

void view_input_close(struct view_input *in)
{
    if (in->has_thread)
        pthread_join(in->thread, NULL);
    first_free(in);
    release(in);
    pthread_rwlock_destroy(&in->lock);
    pthread_mutex_destroy(&in->starting);
}

static bool fact_add(struct view_input *in, const char *name, uint64_t n)
{
    struct view_fact *f = list_add(&in->facts, in->mem);
    if (f)
        *f = (struct view_fact){ name, arena_printf(in->mem, "%llu", (unsigned long long)n) };
    return f && f->text;
}

struct text_size {
    uint64_t text;
    bool is_packed; /* compressed: its bytes are processed twice */
};

static struct text_size text_size(const char *path)
{
    struct stat st;
    int why;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    if (fd < 0)
        return (struct text_size){ 0 }; /* the reader reports it */
    const bool is_packed = gunzip_is(fd);
    const uint64_t bytes = (uint64_t)st.st_size;
    const struct text_size size = { is_packed ? gunzip_size(fd, bytes) : bytes, is_packed };
    close(fd);
    return size;
}

bool view_losses_keep(struct view_input *in, const struct losses *lost)
{
    for (enum loss why = 0; why < LOSS_KINDS; why++) {
        const char *file = lost->by[why].file ? lost->by[why].file : "";
        struct view_loss *new = lost->by[why].n ? list_add(&in->losses, in->mem) : NULL;
        if (new)
            *new = (struct view_loss){ loss_text((enum loss)why), arena_text(in->mem, file, strlen(file)),
                                       lost->by[why].n, lost->by[why].first_at, loss_is_damage((enum loss)why) };
        if (lost->by[why].n && (!new || !new->file))
            return false;
    }
    return true;
}

bool view_is_large(uint64_t bytes)
{
    return bytes / LARGE >= FIRST_BYTES;
}

bool view_load_chrome(struct view_input *in, struct error *e)
{
    enum { PARSED = 85 };
    const struct text_size size = text_size(in->path);
    if (view_is_large(size.text))
        view_load_first(in, FIRST_BYTES);
    view_progress_stage(&in->progress, VIEW_READING, 0, PARSED, size.text * (size.is_packed ? 2 : 1));
    if (!chrome_load(&in->trace, in->path, e))
        return false;
    view_progress_stage(&in->progress, VIEW_ARRANGING, PARSED, 100, 1);
    const struct chrome_trace *t = &in->trace;
    in->is_lossy = losses_damage(&t->lost) > 0;
    return (view_losses_keep(in, &t->lost) && fact_add(in, "events", t->n_events) &&
            fact_add(in, "slices", t->slices.n) && fact_add(in, "flow events", t->flows.n) &&
            fact_add(in, "lost events", losses_damage(&t->lost))) ||
           error_no_memory(e, in->path);
}

void view_series_sum(struct view_series *s)
{
    for (size_t i = 0; i < s->steps.n; i++) {
        s->whole_ns = stamp_add(s->whole_ns, s->steps.at[i].time_ns);
        for (size_t p = 0; p < 4; p++)
            s->whole_part_ns[p] = stamp_add(s->whole_part_ns[p], s->steps.at[i].part_ns[p]);
    }
}

const struct view_step *view_slowest(const struct view_series *s)
{
    const struct view_step *slowest = NULL;
    for (size_t i = 0; i < s->steps.n; i++)
        if (s->steps.at[i].is_slow && (!slowest || s->steps.at[i].time_ns > slowest->time_ns))
            slowest = &s->steps.at[i];
    return slowest;
}
