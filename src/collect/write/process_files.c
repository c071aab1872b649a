/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/write/outputs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory/sort.h"
#include "collect/ring/ring.h"
#include "collect/ring/rings_file.h"

/* Samples are taken in blocks: in each those of one process are neighbours, and its file is opened once for them. */
enum { BLOCK_BYTES = 8 << 20, FAMILY_ROOM = 40 };

struct process_files_process_row { /* one file */
    struct process_bytes key;
    unsigned next; /* as output_state */
    size_t written;
    bool is_open;
};

struct process_sample {
    struct process_bytes is;
    size_t at;
};

struct split {
    struct prof_writer *to;
    uint8_t *block;
    struct process_sample *samples;
    size_t n_samples, samples_room;
    struct process_files_process_row *rows; /* by kind and pid */
    size_t n_rows, rows_room;
    uint64_t n_lost;
};

static int key_compare(const struct process_bytes *x, const struct process_bytes *y)
{
    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : (x->pid > y->pid) - (x->pid < y->pid);
}

static int by_key(const void *a, const void *b)
{
    const struct process_sample *const x = a, *const y = b;
    const int order = key_compare(&x->is, &y->is);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

static void *grown(void *rows, size_t n, size_t *room, size_t bytes)
{
    if (n < *room)
        return rows;
    void *const more = realloc(rows, (*room * 2 + 256) * bytes);
    if (more)
        *room = *room * 2 + 256;
    return more;
}

static void slices_of(struct split *s, const struct process_files_process_row *row, struct slices *out)
{
    static const char *const family[PROCESS_FILES] = { "CpuUsage.data", "Memory.data" };
    char name[FAMILY_ROOM];
    snprintf(name, sizeof name, "%u-%s", row->key.pid, family[row->key.kind]);
    slices_init(out, s->to, FOLDER_HOST, name, CUT_BETWEEN);
}

/* The row of a file. NULL: no memory. */
static struct process_files_process_row *row_for(struct split *s, const struct process_bytes *key)
{
    const size_t at = SEARCH_FIRST_NOT(i, 0, s->n_rows, key_compare(&s->rows[i].key, key) < 0);
    if (at < s->n_rows && key_compare(&s->rows[at].key, key) == 0)
        return &s->rows[at];
    struct process_files_process_row *const rows = grown(s->rows, s->n_rows, &s->rows_room, sizeof *rows);
    if (!rows)
        return NULL;
    s->rows = rows;
    memmove(rows + at + 1, rows + at, (s->n_rows - at) * sizeof *rows);
    s->n_rows++;
    rows[at] = (struct process_files_process_row){ .key = *key };
    return &rows[at];
}

/* Samples of one process, behind those that its file has. */
static void row_append(struct split *s, const struct process_sample *first, size_t n)
{
    struct process_files_process_row *const row = row_for(s, &first->is);
    struct slices out;
    if (!row) {
        error_no_memory(&s->to->error, s->to->path);
        return;
    }
    slices_of(s, row, &out);
    slices_resume(&out, row->next, row->is_open, row->written); /* the first call removes files of an earlier attempt */
    for (size_t i = 0; i < n; i++)
        memcpy(slices_take(&out, first[i].is.bytes), s->block + first[i].at, first[i].is.bytes);
    row->is_open = slices_leave(&out);
    row->next = out.next;
    row->written = out.written;
}

/* Every whole sample of the block. How many bytes they are: the rest may go on behind the block. */
static size_t block_split(struct split *s, size_t n)
{
    size_t at = 0;
    s->n_samples = 0;
    for (struct process_bytes is; n - at >= sizeof is; at += is.bytes) {
        memcpy(&is, s->block + at, sizeof is);
        const bool is_one = is.kind < PROCESS_FILES && is.bytes > 0 && is.bytes <= RECORD_MOST;
        s->n_lost += !is_one; /* somebody has changed the file: where the next one begins nobody knows */
        if (!is_one || is.bytes > n - at - sizeof is)
            break;
        at += sizeof is;
        struct process_sample *const all = grown(s->samples, s->n_samples, &s->samples_room, sizeof *all);
        if (!all) {
            error_no_memory(&s->to->error, s->to->path);
            return 0;
        }
        s->samples = all;
        all[s->n_samples++] = (struct process_sample){ is, at };
    }
    if (s->n_samples > 1)
        qsort(s->samples, s->n_samples, sizeof *s->samples, by_key);
    for (size_t i = 0, k; i < s->n_samples; i = k) {
        for (k = i + 1; k < s->n_samples && key_compare(&s->samples[i].is, &s->samples[k].is) == 0;)
            k++;
        row_append(s, &s->samples[i], k - i);
    }
    return at;
}

static void rows_finish(struct split *s)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        struct slices out;
        slices_of(s, &s->rows[i], &out);
        slices_resume(&out, s->rows[i].next, s->rows[i].is_open, s->rows[i].written);
        slices_fini(&out);
    }
}

uint64_t process_files_make(const struct slices *from)
{
    struct split s = { .to = from->to, .block = malloc(BLOCK_BYTES) };
    const int fd = slices_open(from, 0);
    size_t held = 0;
    if (!s.block)
        error_no_memory(&from->to->error, from->to->path);
    for (uint64_t at = 0; fd >= 0 && s.block && s.n_lost == 0 && from->to->error.fault == FAULT_NONE;) {
        const ssize_t got = TEMP_FAILURE_RETRY(pread(fd, s.block + held, BLOCK_BYTES - held, (off_t)at));
        if (got <= 0)
            break;
        at += (uint64_t)got;
        held += (size_t)got;
        const size_t used = block_split(&s, held);
        memmove(s.block, s.block + used, held -= used);
    }
    s.n_lost += held > 0 && s.n_lost == 0; /* cut short */
    rows_finish(&s);
    if (fd >= 0)
        close(fd);
    free(s.block);
    free(s.samples);
    free(s.rows);
    return s.n_lost;
}

/* The smallest ring has room for two parts. */
enum { PART_MOST = 16 << 10, WAIT_MOST_MS = 200 };

char *sample_text_room(struct sample_text *t, size_t bytes)
{
    if (bytes > t->room - t->n) {
        const size_t room = t->room * 2 > t->n + bytes ? t->room * 2 : t->n + bytes + 4096;
        char *const more = realloc(t->at, room);
        t->is_short |= !more;
        if (!more)
            return NULL;
        t->at = more;
        t->room = room;
    }
    return t->at + t->n;
}

void sample_text_add(struct sample_text *t, const char *text, size_t n)
{
    char *const at = sample_text_room(t, n);
    if (!at)
        return;
    memcpy(at, text, n);
    t->n += n;
}

void sample_text_format(struct sample_text *t, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0)
        sample_text_add(t, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void wait_for_writer(void)
{
    for (int i = 0; i < WAIT_MOST_MS && ring_is_short(); i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* Length of the whole lines that fit into a part. */
static size_t part_bytes(const char *text, size_t n)
{
    if (n <= PART_MOST)
        return n;
    const char *const end = memrchr(text, '\n', PART_MOST);
    return end ? (size_t)(end - text) + 1 : PART_MOST;
}

void sample_text_put(struct sample_text *t, enum stream_id stream)
{
    for (size_t at = 0; at < t->n && !t->is_short;) {
        const size_t n = part_bytes(t->at + at, t->n - at);
        wait_for_writer();
        const struct ring_slot slot = ring_put(stream, at > 0 ? SAMPLE_CONTINUES : 0, n);
        if (!slot.at)
            break; /* the drop is counted; further parts would be read as parts of the sample before */
        memcpy(slot.at, t->at + at, n);
        ring_done(slot);
        at += n;
    }
    t->n = 0;
    t->is_short = false;
}

void sample_text_fini(struct sample_text *t)
{
    free(t->at);
    *t = (struct sample_text){ 0 };
}
