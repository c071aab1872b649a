/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/flight/flight_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/file_tree.h"
#include "base/memory/growing.h"
#include "collect/session/host_clock.h"
#include "collect/session/place.h"
#include "raw/device_records.h"
#include "raw/host_records.h"

enum { FILES_BY_BYTES = 32, FILES_BY_TIME = 16, FILE_LEAST = 64 << 10, BATCH_ROOM_KEPT = 8 << 20 };

/* ---- the format ---- */

uint64_t flight_head_check(const struct flight_head *h)
{
    return check_bytes(check_word(h->version, h->bytes), &h->id, sizeof *h - offsetof(struct flight_head, id));
}

uint64_t flight_check(struct rings_id id, uint64_t number, uint64_t offset, const void *head, size_t bytes)
{
    const uint64_t seed = check_word(check_word(check_id(id), number), offset);
    return check_bytes(seed, (const uint8_t *)head + sizeof(uint64_t), bytes - sizeof(uint64_t));
}

bool flight_flip(struct record_head head, const uint8_t *bytes, struct flight_flip *out)
{
    const size_t n = record_bytes(head);
    if (head.stream == STREAM_TRACK && n >= task_track_layout.size &&
        layout_get(&task_track_layout, TRACK_TYPE, bytes) == TRACK_TYPE_FLIP)
        *out = (struct flight_flip){ true, (uint16_t)layout_get(&task_track_layout, TRACK_DEVICE, bytes),
                                     (uint16_t)layout_get(&task_track_layout, TRACK_STREAM, bytes),
                                     (uint16_t)(layout_get(&task_track_layout, TRACK_TASK, bytes) >> 16) };
    else if (head.stream == STREAM_TS_TRACK && n >= ts_flip_layout.size && match_holds(&ts_flip_layout.kind, bytes))
        *out = (struct flight_flip){ false, head.device, (uint16_t)layout_get(&ts_flip_layout, TS_FLIP_STREAM, bytes),
                                     (uint16_t)layout_get(&ts_flip_layout, TS_FLIP_NUMBER, bytes) };
    else
        return false;
    return true;
}

bool flight_path(const char *rings_path, char path[PATH_MAX])
{
    const char *const dot = strrchr(rings_path, '.');
    const int n = dot ? (int)(dot - rings_path) : (int)strlen(rings_path);
    return snprintf(path, PATH_MAX, "%.*s" FLIGHT_SUFFIX, n, rings_path) < PATH_MAX - NAME_MAX;
}

/* ---- bytes that are not written yet ---- */

static uint8_t *buffer_take(struct flight_store *s, struct flight_buffer *b, size_t bytes)
{
    if (!array_reserve(b->at, b->room, b->n + bytes, 64 << 10)) {
        error_no_memory(&s->error, s->path);
        return NULL;
    }
    b->n += bytes;
    return b->at + b->n - bytes;
}

/* Copies a record to another place, with the check for that place. */
static void record_copy(uint8_t *to, const uint8_t *bytes, struct record_head head, uint64_t seed, uint64_t place)
{
    const size_t room = record_room(record_bytes(head));
    memset(to + room - RECORD_ALIGN, 0, RECORD_ALIGN);
    memcpy(to + RECORD_HEAD, bytes, record_bytes(head));
    head.check = record_check(to, head_kind(head), seed, place);
    memcpy(to, &head, sizeof head);
}

static void history_name(uint64_t number, char name[40])
{
    snprintf(name, 40, FLIGHT_FILE, (unsigned long long)number);
}

static int store_dir(struct flight_store *s)
{
    const int fd = kept_fd(&s->dir);
    if (fd < 0)
        kept_open(&s->dir, AT_FDCWD, s->path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
    return fd >= 0 ? fd : s->dir.fd;
}

/* The descriptor of a file; opened again if the program has closed it. */
static int file_fd(struct flight_store *s, struct kept *file, const char *name)
{
    const int fd = kept_fd(file);
    if (fd < 0)
        kept_open(file, store_dir(s), name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    return fd >= 0 ? fd : file->fd;
}

static bool file_create(struct flight_store *s, struct kept *file, const char *name)
{
    *file = (struct kept)KEPT_NONE;
    return kept_open(file, store_dir(s), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0640);
}

static bool bytes_write(struct flight_store *s, struct kept *file, const char *name, const struct flight_buffer *b,
                        uint64_t offset)
{
    const int fd = b->n > 0 ? file_fd(s, file, name) : -1;
    for (size_t done = 0; done < b->n;) {
        const ssize_t n = TEMP_FAILURE_RETRY(pwrite(fd, b->at + done, b->n - done, (off_t)(offset + done)));
        if (n <= 0) {
            s->why = n < 0 ? errno : EIO;
            return error_set(&s->error, FAULT_IO, "%s: cannot be written: %s", s->path, write_trouble(s->why));
        }
        done += (size_t)n;
    }
    return true;
}

/* ---- what is kept ---- */

static bool said_grow(struct flight_store *s)
{
    const size_t room = s->said_room ? s->said_room * 2 : 1024;
    uint64_t *const more = calloc(room, sizeof *more);
    if (!more)
        return error_no_memory(&s->error, s->path);
    for (size_t i = 0; i < s->said_room; i++)
        for (size_t at = s->said[i]; s->said[i] != 0; at++)
            if (more[at & (room - 1)] == 0) {
                more[at & (room - 1)] = s->said[i];
                break;
            }
    free(s->said);
    s->said = more;
    s->said_room = room;
    return true;
}

/* The slot of a hash, or the free slot where it belongs. */
static uint64_t *said_slot(const struct flight_store *s, uint64_t hash)
{
    size_t at = hash;
    while (s->said[at & (s->said_room - 1)] != 0 && s->said[at & (s->said_room - 1)] != hash)
        at++;
    return &s->said[at & (s->said_room - 1)];
}

/* What is kept may take a quarter of the memory: a program that makes new names all the time must not use all of it. */
static void flight_store_keep(struct flight_store *s, struct record_head head, const uint8_t *bytes)
{
    const size_t room = record_room(record_bytes(head));
    const uint64_t hash = check_word(check_bytes(head_kind(head), bytes, room - RECORD_HEAD), head.stream) | 1;
    const uint64_t place = s->now.kept_bytes + s->kept.n;
    if (s->n_said * 2 >= s->said_room && !said_grow(s))
        return;
    uint64_t *const slot = said_slot(s, hash);
    if (*slot == hash)
        return;
    if (place + room > s->limit_bytes / 4) {
        s->dropped[head.stream]++;
        return;
    }
    uint8_t *const at = buffer_take(s, &s->kept, room);
    if (!at)
        return;
    record_copy(at, bytes, head, lane_seed(s->id, FLIGHT_FLIPS, FLIGHT_KEPT_LANE), place);
    *slot = hash;
    s->n_said++;
}

static struct flight_last *last_of(struct flight_store *s, struct flight_flip of)
{
    for (size_t i = 0; i < s->n_last; i++) {
        struct flight_last *const l = &s->last[i];
        if (l->of.is_host == of.is_host && l->of.device == of.device && l->of.stream == of.stream)
            return l;
    }
    if (!array_reserve(s->last, s->last_room, s->n_last + 1, 16)) {
        error_no_memory(&s->error, s->path);
        return NULL;
    }
    s->last[s->n_last] = (struct flight_last){ .of = of };
    return &s->last[s->n_last++];
}

void flight_store_note(struct flight_store *s, struct record_head head, const uint8_t *bytes)
{
    struct flight_flip flip;
    s->batch_records[head.stream]++;
    s->batch_bytes += record_bytes(head);
    if (stream_table[head.stream].lasts)
        flight_store_keep(s, head, bytes);
    else if (flight_flip(head, bytes, &flip) && record_room(record_bytes(head)) <= FLIGHT_FLIP_ROOM) {
        struct flight_last *const l = last_of(s, flip);
        if (l)
            record_copy(l->record[l->n++ % FLIGHT_FLIPS_KEPT], bytes, head, 0, 0);
    }
}

/* ---- batches ---- */

static void run_put(struct flight_store *s, struct flight_run run, const uint8_t *records)
{
    if (s->batch.n == 0 && !buffer_take(s, &s->batch, sizeof(struct flight_batch)))
        return;
    uint8_t *const at = buffer_take(s, &s->batch, sizeof run + run.bytes);
    if (!at)
        return;
    memcpy(at, &run, sizeof run);
    memcpy(at + sizeof run, records, run.bytes);
}

static void flips_put(struct flight_store *s)
{
    struct flight_buffer all = { 0 };
    const uint64_t seed = lane_seed(s->id, FLIGHT_FLIPS, 0);
    for (size_t i = 0; i < s->n_last; i++) {
        const struct flight_last *const l = &s->last[i];
        for (uint32_t k = l->n < FLIGHT_FLIPS_KEPT ? 0 : l->n - FLIGHT_FLIPS_KEPT; k < l->n; k++) {
            const uint8_t *const record = l->record[k % FLIGHT_FLIPS_KEPT];
            struct record_head head;
            memcpy(&head, record, sizeof head);
            const uint64_t place = all.n;
            uint8_t *const at = buffer_take(s, &all, record_room(record_bytes(head)));
            if (at)
                record_copy(at, record + RECORD_HEAD, head, seed, place);
        }
    }
    if (all.n > 0)
        run_put(s, (struct flight_run){ .ring = FLIGHT_FLIPS, .bytes = all.n }, all.at);
    free(all.at);
}

/* Writes the heads of the batch and its runs, whose checks depend on their offsets in the file. */
static void batch_seal(struct flight_store *s, uint64_t until_ns)
{
    const uint64_t number = s->now.segment, offset = s->now.bytes;
    struct flight_batch batch = { .since_ns = s->since_ns, .until_ns = until_ns, .bytes = s->batch.n - sizeof batch };
    batch.check = flight_check(s->id, number, offset, &batch, sizeof batch);
    memcpy(s->batch.at, &batch, sizeof batch);
    for (size_t at = sizeof batch; at < s->batch.n;) {
        struct flight_run run;
        memcpy(&run, s->batch.at + at, sizeof run);
        run.check = flight_check(s->id, number, offset + at, &run, sizeof run);
        memcpy(s->batch.at + at, &run, sizeof run);
        at += sizeof run + run.bytes;
    }
}

static void batch_write(struct flight_store *s, uint64_t until_ns)
{
    struct flight_file *const file = &s->file[s->n_files - 1];
    batch_seal(s, until_ns);
    char name[40];
    history_name(s->now.segment, name);
    if (!bytes_write(s, &s->last_file, name, &s->batch, s->now.bytes))
        return;
    s->now.bytes += s->batch.n;
    s->files_bytes += s->batch.n;
    s->batch.n = 0;
    file->bytes = s->now.bytes;
    file->until_ns = until_ns;
}

/* ---- files ---- */

static void file_drop_oldest(struct flight_store *s)
{
    char name[40];
    history_name(s->file[0].number, name);
    unlinkat(store_dir(s), name, 0); /* a save that reads it has it open */
    s->files_bytes -= s->file[0].bytes;
    memmove(s->file, s->file + 1, --s->n_files * sizeof *s->file);
}

static bool file_new(struct flight_store *s, const struct flight_counts *so_far)
{
    struct flight_head h = { .magic = FLIGHT_MAGIC,
                             .version = RINGS_VERSION,
                             .bytes = sizeof h,
                             .id = s->id,
                             .number = s->now.segment + 1,
                             .since_ns = s->since_ns,
                             .bytes_before = s->now.bytes,
                             .before = *so_far };
    for (unsigned i = 0; i < STREAM_KINDS; i++)
        h.before.dropped[i] += s->dropped[i];
    h.check = flight_head_check(&h);
    char name[40];
    history_name(h.number, name);
    if (s->n_files == FLIGHT_FILES_MOST)
        file_drop_oldest(s);
    kept_close(&s->last_file);
    if (!file_create(s, &s->last_file, name))
        return error_set(&s->error, FAULT_IO, "%s/%s: cannot be created: %s", s->path, name, write_trouble(errno));
    if (!bytes_write(s, &s->last_file, name, &(struct flight_buffer){ (uint8_t *)&h, sizeof h, 0 }, 0))
        return false;
    s->now.segment = h.number;
    s->now.bytes = sizeof h;
    s->files_bytes += sizeof h;
    s->file[s->n_files++] = (struct flight_file){ h.number, sizeof h, s->since_ns, s->since_ns };
    flips_put(s);
    if (s->batch.n > 0)
        batch_write(s, s->since_ns);
    return s->error.fault == FAULT_NONE;
}

static bool file_is_full(const struct flight_store *s)
{
    const uint64_t most = s->limit_bytes / FILES_BY_BYTES;
    const struct flight_file *const last = &s->file[s->n_files - 1];
    return last->bytes >= (most > FILE_LEAST ? most : FILE_LEAST) ||
           last->until_ns - last->since_ns >= s->keep_ns / FILES_BY_TIME;
}

bool flight_store_open(struct flight_store *s, const char *rings_path, struct rings_id id, struct error *e)
{
    *s = (struct flight_store){ .limit_bytes = s->limit_bytes,
                                .keep_ns = s->keep_ns,
                                .dir = KEPT_NONE,
                                .last_file = KEPT_NONE,
                                .kept_file = KEPT_NONE,
                                .id = id };
    if (!flight_path(rings_path, s->path))
        return error_set(e, FAULT_ASKED, "%s: the path is too long", rings_path);
    if (!place_dir(s->path, e))
        return e->fault != FAULT_NONE ? false : error_set(e, FAULT_IO, "%s: it already exists", s->path);
    if (!kept_open(&s->dir, AT_FDCWD, s->path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0) ||
        !file_create(s, &s->kept_file, FLIGHT_KEPT))
        return error_set(e, FAULT_IO, "%s: cannot be used: %s", s->path, place_trouble(errno));
    s->since_ns = host_clock_raw_ns();
    return file_new(s, &(struct flight_counts){ 0 }) || error_set(e, s->error.fault, "%s", s->error.text);
}

void flight_store_run(struct flight_store *s, uint32_t ring, unsigned lane, uint64_t place, const uint8_t *records,
                      size_t bytes)
{
    run_put(s, (struct flight_run){ .ring = ring, .lane = lane, .place = place, .bytes = bytes }, records);
}

bool flight_store_flush(struct flight_store *s)
{
    const uint64_t until_ns = host_clock_raw_ns();
    if (s->error.fault == FAULT_NONE && s->batch.n > 0 &&
        bytes_write(s, &s->kept_file, FLIGHT_KEPT, &s->kept, s->now.kept_bytes))
        batch_write(s, until_ns);
    const bool is_well = s->error.fault == FAULT_NONE;
    for (unsigned i = 0; i < STREAM_KINDS; i++) {
        *(is_well ? &s->n_records : &s->dropped[i]) += s->batch_records[i];
        s->batch_records[i] = 0;
    }
    s->n_bytes += is_well ? s->batch_bytes : 0;
    s->now.kept_bytes += is_well ? s->kept.n : 0;
    s->batch_bytes = s->batch.n = s->kept.n = 0;
    if (s->batch.room > BATCH_ROOM_KEPT) {
        free(s->batch.at);
        s->batch = (struct flight_buffer){ 0 };
    }
    s->since_ns = until_ns;
    return is_well && file_is_full(s);
}

void flight_store_next(struct flight_store *s, const struct flight_counts *so_far)
{
    file_new(s, so_far);
}

void flight_store_age(struct flight_store *s)
{
    while (s->n_files > 1 &&
           (s->files_bytes + s->now.kept_bytes > s->limit_bytes || s->since_ns - s->file[0].until_ns > s->keep_ns))
        file_drop_oldest(s);
}

void flight_store_forget(struct flight_store *s)
{
    kept_close(&s->dir);
    kept_close(&s->last_file);
    kept_close(&s->kept_file);
}

void flight_store_close(struct flight_store *s, bool removes)
{
    if (!*s->path)
        return;
    flight_store_forget(s);
    free(s->batch.at);
    free(s->kept.at);
    free(s->said);
    free(s->last);
    if (removes)
        tree_remove_path(s->path);
    *s = (struct flight_store){ .limit_bytes = s->limit_bytes,
                                .keep_ns = s->keep_ns,
                                .dir = KEPT_NONE,
                                .last_file = KEPT_NONE,
                                .kept_file = KEPT_NONE };
}
