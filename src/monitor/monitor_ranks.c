/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/monitor_ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"

enum { BLOCK_RECORDS = 256 };

bool monitor_ranks_open(struct monitor_ranks *m, const char *dir, int64_t keep_ns, struct error *e)
{
    *m = (struct monitor_ranks){ .dir = strdup(dir), .keep_ns = keep_ns };
    return m->dir || error_no_memory(e, dir);
}

static void rank_free(struct monitor_rank *r)
{
    if (r->fd >= 0)
        close(r->fd);
    free(r->path);
    free(r->at);
    free(r);
}

void monitor_ranks_close(struct monitor_ranks *m)
{
    for (size_t i = 0; i < m->n; i++)
        rank_free(m->rank[i]);
    free(m->rank);
    free(m->dir);
    *m = (struct monitor_ranks){ 0 };
}

/* ---- records ---- */

static bool record_keep(struct monitor_rank *r, const struct monitor_record *record)
{
    if (r->n == r->cap) {
        const size_t cap = r->cap ? r->cap * 2 : 64;
        struct monitor_record *const at = realloc(r->at, cap * sizeof *at);
        if (!at)
            return false;
        r->at = at;
        r->cap = cap;
    }
    r->at[r->n++] = *record;
    r->next = record->number + 1;
    r->is_ended = record->flags & MONITOR_STOPPED;
    r->n_records++;
    r->n_steps += record->n_steps;
    r->time_ns += record->time_ns;
    for (size_t i = 0; i < MONITOR_VALUES; i++)
        if (record->value[i] != MONITOR_UNKNOWN) {
            r->is_recorded[i] = true;
            r->sum[i] = monitor_value_rows[i].is_sum ? r->sum[i] + record->value[i] : record->value[i];
        }
    return true;
}

static void records_forget(struct monitor_rank *r, int64_t before_ns)
{
    size_t n = 0;
    while (n + 1 < r->n && monitor_record_end_ns(&r->at[n]) < before_ns) /* the last one says where it is */
        n++;
    if (n > 0)
        memmove(r->at, r->at + n, (r->n - n) * sizeof *r->at);
    r->n -= n;
}

/* The smallest number in the ring that is not below the next one: other records were overwritten before this look. */
static bool record_oldest(const struct monitor_rank *r, uint64_t *number)
{
    struct monitor_record block[BLOCK_RECORDS];
    bool is_there = false;
    for (uint64_t place = 0; place < r->head.capacity; place += BLOCK_RECORDS) {
        const ssize_t got = pread(r->fd, block, sizeof block, (off_t)monitor_record_at(place));
        const size_t n = got > 0 ? (size_t)got / sizeof *block : 0;
        for (size_t i = 0; i < n; i++)
            if (monitor_record_is_valid(&block[i], place + i, r->head.capacity) && block[i].number >= r->next &&
                (!is_there || block[i].number < *number)) {
                *number = block[i].number;
                is_there = true;
            }
        if (n < BLOCK_RECORDS)
            break;
    }
    return is_there;
}

/* Takes records from the next one on, as far as they follow each other. False: no memory. */
static bool records_take(struct monitor_rank *r, int64_t until_ns, size_t *n_taken)
{
    struct monitor_record block[BLOCK_RECORDS];
    *n_taken = 0;
    for (;;) {
        const uint64_t place = r->next % r->head.capacity, left = r->head.capacity - place;
        const size_t most = left < BLOCK_RECORDS ? (size_t)left : BLOCK_RECORDS;
        const ssize_t got = pread(r->fd, block, most * sizeof *block, (off_t)monitor_record_at(place));
        const size_t n = got > 0 ? (size_t)got / sizeof *block : 0;
        for (size_t i = 0; i < n; i++) {
            if (!monitor_record_is_valid(&block[i], place + i, r->head.capacity) || block[i].number != r->next ||
                monitor_record_end_ns(&block[i]) > until_ns)
                return true;
            if (!record_keep(r, &block[i]))
                return false;
            (*n_taken)++;
        }
        if (n < most)
            return true;
    }
}

static bool record_is_there(const struct monitor_rank *r, uint64_t number)
{
    struct monitor_record one;
    const uint64_t place = number % r->head.capacity;
    return pread(r->fd, &one, sizeof one, (off_t)monitor_record_at(place)) == (ssize_t)sizeof one &&
           monitor_record_is_valid(&one, place, r->head.capacity) && one.number == number;
}

/* Whether the next record is not merely unwritten: the one before it was overwritten, or there are later ones. Looking
 * for the oldest record means to read the whole ring, which is not done in each look at a rank without new steps. */
static bool has_gap(const struct monitor_rank *r)
{
    return !record_is_there(r, r->next) &&
           (r->next == 0 || !record_is_there(r, r->next - 1) || record_is_there(r, r->next + 1));
}

static bool rank_look(struct monitor_rank *r, int64_t until_ns, int64_t keep_ns)
{
    size_t n = 0;
    uint64_t oldest = 0;
    int why = 0;
    r->is_alive = lock_is_held(r->fd, 0, 0, &why) || why != 0;
    for (bool goes_on = true; goes_on;) {
        if (!records_take(r, until_ns, &n))
            return false;
        goes_on = has_gap(r) && record_oldest(r, &oldest) && oldest > r->next;
        r->next = goes_on ? oldest : r->next;
    }
    if (r->n > 0)
        records_forget(r, monitor_record_end_ns(&r->at[r->n - 1]) - keep_ns);
    return true;
}

/* ---- files ---- */

static bool is_ring_name(const char *name)
{
    const size_t n = strlen(name), suffix = strlen(MONITOR_SUFFIX);
    return strncmp(name, MONITOR_PREFIX, strlen(MONITOR_PREFIX)) == 0 && n > suffix &&
           strcmp(name + n - suffix, MONITOR_SUFFIX) == 0;
}

static const struct monitor_rank *rank_of_path(const struct monitor_ranks *m, const char *path)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->rank[i]->path, path) == 0)
            return m->rank[i];
    return NULL;
}

/* NULL: it is no ring file, or not complete yet, or there is no memory. */
static struct monitor_rank *rank_open(const char *path)
{
    struct monitor_rank *const r = calloc(1, sizeof *r);
    struct stat st;
    int why;
    if (!r)
        return NULL;
    r->path = strdup(path);
    r->fd = r->path ? file_open(AT_FDCWD, path, &st, &why) : -1;
    const ssize_t n = r->fd >= 0 ? pread(r->fd, &r->head, sizeof r->head, 0) : 0;
    if (n > 0 && monitor_header_is_valid(&r->head, (size_t)n))
        return r;
    rank_free(r);
    return NULL;
}

static int by_rank(const void *a, const void *b)
{
    const struct monitor_rank *const x = *(struct monitor_rank *const *)a, *const y = *(struct monitor_rank *const *)b;
    const int32_t m = monitor_rank_number(x), n = monitor_rank_number(y);
    if (m != n)
        return m < n ? -1 : 1;
    return (x->head.began_unix_ns > y->head.began_unix_ns) - (x->head.began_unix_ns < y->head.began_unix_ns);
}

static bool files_look(struct monitor_ranks *m, struct error *e)
{
    struct dir_names names;
    int why = 0;
    bool done = true;
    if (!dir_names_read(&names, m->dir, is_ring_name, &why))
        return error_set(e, FAULT_IO, "%s: %s", m->dir, read_trouble(why));
    for (size_t i = 0; done && i < names.n && m->n < MONITOR_RANKS_MOST; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", m->dir, names.at[i]) >= (int)sizeof path || rank_of_path(m, path))
            continue;
        struct monitor_rank *const r = rank_open(path);
        struct monitor_rank **const all = r ? realloc(m->rank, (m->n + 1) * sizeof *all) : NULL;
        done = !r || all;
        if (all) {
            m->rank = all;
            m->rank[m->n++] = r;
        } else if (r) {
            rank_free(r);
        }
    }
    dir_names_free(&names);
    return done || error_no_memory(e, m->dir);
}

/* Forgets those whose file was removed. */
static void files_forget(struct monitor_ranks *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        if (access(m->rank[i]->path, F_OK) == 0)
            m->rank[n++] = m->rank[i];
        else
            rank_free(m->rank[i]);
    }
    m->n = n;
}

bool monitor_ranks_look(struct monitor_ranks *m, int64_t until_ns, struct error *e)
{
    files_forget(m);
    if (!files_look(m, e))
        return false;
    for (size_t i = 0; i < m->n; i++)
        if (!rank_look(m->rank[i], until_ns, m->keep_ns))
            return error_no_memory(e, m->dir);
    if (m->n > 1)
        qsort(m->rank, m->n, sizeof *m->rank, by_rank);
    return true;
}
