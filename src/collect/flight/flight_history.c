/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/growing.h"
#include "collect/flight/flight_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/kept.h"
#include "collect/write/prof_writer.h"

static size_t read_at(const struct kept *file, void *to, size_t n, uint64_t offset)
{
    const int fd = kept_fd(file);
    size_t got = 0;
    while (got < n) {
        const ssize_t part = TEMP_FAILURE_RETRY(pread(fd, (char *)to + got, n - got, (off_t)(offset + got)));
        if (part <= 0)
            break;
        got += (size_t)part;
    }
    return got;
}

/* False: it does not exist, or belongs to another user. */
static bool file_of(const struct history_of *of, const char *name, struct kept *file, uint64_t *bytes)
{
    struct stat st;
    *file = (struct kept)KEPT_NONE;
    if (!kept_open(file, of->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0))
        return false;
    if (fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == of->owner) {
        *bytes = (uint64_t)st.st_size;
        return true;
    }
    kept_close(file);
    return false;
}

/* The length of a file's valid part, as the next file or the commit says. *is_cut: the file is shorter now. */
static uint64_t file_end(const struct history *h, unsigned i, bool *is_cut)
{
    struct stat st;
    const uint64_t size = fstat(kept_fd(&h->file[i]), &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    const uint64_t end = i > 0 ? h->head[i - 1].bytes_before : h->of.state.bytes;
    *is_cut = size < end;
    return *is_cut ? size : end;
}

static bool head_is_good(const struct history *h, const struct flight_head *head, uint64_t number)
{
    return head->magic == FLIGHT_MAGIC && head->version == RINGS_VERSION && head->bytes == sizeof *head &&
           head->check == flight_head_check(head) && head->number == number &&
           memcmp(&head->id, &h->of.id, sizeof head->id) == 0;
}

static bool batch_at(const struct history *h, unsigned i, uint64_t at, uint64_t end, struct flight_batch *batch)
{
    return end >= at && end - at >= sizeof *batch && read_at(&h->file[i], batch, sizeof *batch, at) == sizeof *batch &&
           batch->check == flight_check(h->of.id, h->head[i].number, at, batch, sizeof *batch) &&
           batch->bytes <= end - at - sizeof *batch;
}

/* When the last record was put, from the newest file that has a batch. */
static uint64_t last_ns_of(const struct history *h)
{
    for (unsigned i = 0; i < h->n_files; i++) {
        struct flight_batch batch;
        bool is_cut;
        const uint64_t end = file_end(h, i, &is_cut);
        uint64_t last_ns = 0;
        for (uint64_t at = sizeof(struct flight_head); batch_at(h, i, at, end, &batch);
             at += sizeof batch + batch.bytes)
            last_ns = batch.until_ns;
        if (last_ns > 0)
            return last_ns;
    }
    return h->n_files > 0 ? h->head[0].since_ns : 0;
}

/* False: there is no such file, or it is damaged. */
static bool file_open_as(const struct history *h, uint64_t number, struct kept *file, struct flight_head *head)
{
    char name[40];
    uint64_t bytes;
    snprintf(name, sizeof name, FLIGHT_FILE, (unsigned long long)number);
    if (!file_of(&h->of, name, file, &bytes))
        return false;
    if (read_at(file, head, sizeof *head, 0) == sizeof *head && head_is_good(h, head, number))
        return true;
    kept_close(file);
    return false;
}

/* The recorder deletes the oldest files first. If this file or an older one exists in any form, it was not deleted, but
 * damaged. */
static bool is_any_from(const struct history *h, uint64_t number)
{
    bool is_any = false;
    for (; number > 0 && h->of.state.segment - number < FLIGHT_FILES_MOST && !is_any; number--) {
        char name[40];
        struct stat st;
        snprintf(name, sizeof name, FLIGHT_FILE, (unsigned long long)number);
        is_any = fstatat(h->of.dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    }
    return is_any;
}

/* Opens files from the newest on. Files before the window are only looked at, to see how far back the history
 * reaches. */
static void files_open(struct history *h, uint64_t last_ns)
{
    const uint64_t newest = h->of.state.segment;
    bool is_before = false;
    for (uint64_t number = newest; number > 0 && newest - number < FLIGHT_FILES_MOST; number--) {
        struct flight_head head;
        struct kept file;
        if (!file_open_as(h, number, &file, &head)) {
            h->n_damaged += is_any_from(h, number);
            break;
        }
        h->oldest_ns = head.since_ns;
        h->files_before = number - 1;
        if (is_before) {
            kept_close(&file);
            continue;
        }
        h->head[h->n_files] = head;
        h->file[h->n_files++] = file;
        if (number == newest && h->end_ns == 0)
            h->end_ns = last_ns_of(h);
        is_before = h->end_ns > last_ns && head.since_ns <= h->end_ns - last_ns;
    }
}

bool history_open(struct history *h, const struct history_of *of, uint64_t last_ns, uint64_t end_ns, struct error *e)
{
    uint64_t kept_bytes = 0;
    *h = (struct history){ .of = *of, .kept_file = KEPT_NONE, .end_ns = end_ns };
    files_open(h, last_ns);
    if (h->n_files == 0 && of->state.segment > 0) {
        history_close(h);
        return error_set(e, FAULT_FORMAT,
                         "%s: no history that can be read; it belongs to another recording, or is damaged", of->path);
    }
    file_of(of, FLIGHT_KEPT, &h->kept_file, &kept_bytes);
    h->n_damaged += kept_bytes < of->state.kept_bytes;
    if (kept_bytes < of->state.kept_bytes)
        h->of.state.kept_bytes = kept_bytes;
    if (h->n_files == 0)
        return true;
    h->begin_ns = h->end_ns > last_ns ? h->end_ns - last_ns : 0;
    if (h->begin_ns < h->oldest_ns)
        h->begin_ns = h->oldest_ns;
    return true;
}

struct flight_counts history_before(const struct history *h)
{
    return h->n_files > 0 ? h->head[h->n_files - 1].before : (struct flight_counts){ 0 };
}

void history_close(struct history *h)
{
    while (h->n_files > 0)
        kept_close(&h->file[--h->n_files]);
    kept_close(&h->kept_file);
}

/* ---- reading ---- */

struct flip_before {
    struct flight_flip is;
    size_t order;
    struct record_head head;
    uint8_t bytes[FLIGHT_FLIP_ROOM - RECORD_HEAD];
};

struct flight_history_reading {
    struct history *h;
    void (*put)(void *, struct record_head, const uint8_t *bytes);
    void *context;
    struct flip_before *flip;
    size_t n_flips, flips_room;
    bool is_inside;               /* in the window */
    bool has_begun[STREAM_KINDS]; /* a sample whose first part is not in the window is left out */
    bool is_short;                /* of memory */
};

static bool is_rest_of_sample(struct flight_history_reading *r, struct record_head head)
{
    if (stream_table[head.stream].cut != CUT_SAMPLES)
        return false;
    if (head.device == SAMPLE_CONTINUES && !r->has_begun[head.stream])
        return true;
    r->has_begun[head.stream] = true;
    return false;
}

static void flip_add(struct flight_history_reading *r, struct flight_flip is, struct record_head head,
                     const uint8_t *bytes)
{
    if (record_bytes(head) > sizeof r->flip->bytes)
        return;
    if (!array_reserve(r->flip, r->flips_room, r->n_flips + 1, 64)) {
        r->is_short = true;
        return;
    }
    struct flip_before *const f = &r->flip[r->n_flips];
    f->is = is;
    f->order = r->n_flips++;
    f->head = head;
    memcpy(f->bytes, bytes, record_bytes(head));
}

static bool is_same_stream(const struct flight_flip *a, const struct flight_flip *b)
{
    return a->device == b->device && a->stream == b->stream;
}

/* Numbers of flips have 16 bits and wrap. */
static bool is_later(uint16_t a, uint16_t b)
{
    return (int16_t)(uint16_t)(a - b) > 0;
}

static int by_stream(const void *a, const void *b)
{
    const struct flip_before *const x = a, *const y = b;
    if (x->is.device != y->is.device)
        return x->is.device < y->is.device ? -1 : 1;
    if (x->is.stream != y->is.stream)
        return x->is.stream < y->is.stream ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The first number that both the host and the device have: one of them may remember more. */
static uint16_t first_number(const struct flip_before *flip, size_t n)
{
    bool has[2] = { false, false };
    uint16_t first[2] = { 0, 0 };
    for (size_t i = 0; i < n; i++) {
        const struct flight_flip *const f = &flip[i].is;
        if (has[f->is_host] && !is_later(first[f->is_host], f->number))
            continue;
        has[f->is_host] = true;
        first[f->is_host] = f->number;
    }
    return !has[0] || (has[1] && is_later(first[1], first[0])) ? first[1] : first[0];
}

/* The window begins: passes on the flips before it, of the host and of the device from the same number on. */
static void window_enter(struct flight_history_reading *r)
{
    r->is_inside = true;
    if (r->n_flips > 0)
        qsort(r->flip, r->n_flips, sizeof *r->flip, by_stream);
    for (size_t i = 0, end; i < r->n_flips; i = end) {
        for (end = i + 1; end < r->n_flips && is_same_stream(&r->flip[i].is, &r->flip[end].is);)
            end++;
        const uint16_t first = first_number(r->flip + i, end - i);
        for (size_t k = i; k < end; k++) {
            if (is_later(first, r->flip[k].is.number))
                continue;
            r->h->flips_before++;
            r->put(r->context, r->flip[k].head, r->flip[k].bytes);
        }
    }
}

static void record_take(struct flight_history_reading *r, uint32_t ring, struct record_head head, const uint8_t *bytes)
{
    struct flight_flip flip;
    const bool is_before = !r->is_inside || ring == FLIGHT_FLIPS;
    if (head.stream >= STREAM_KINDS) {
        r->h->n_damaged++;
    } else if (is_before) {
        if (!r->is_inside && flight_flip(head, bytes, &flip))
            flip_add(r, flip, head, bytes);
    } else if (!stream_table[head.stream].lasts && !is_rest_of_sample(r, head)) {
        r->h->n_records++;
        r->put(r->context, head, bytes);
    }
}

/* Takes the records of a run, up to the first one whose check is wrong. */
static void run_take(struct flight_history_reading *r, uint32_t ring, uint64_t seed, uint64_t place,
                     const uint8_t *bytes, uint64_t n)
{
    for (uint64_t at = 0; at < n;) {
        struct record_head head;
        if (n - at < RECORD_ALIGN) {
            r->h->n_damaged++;
            return;
        }
        memcpy(&head, bytes + at, sizeof head);
        const uint64_t room = record_room(record_bytes(head));
        if (room > n - at || head.check != record_check(bytes + at, head_kind(head), seed, place + at)) {
            r->h->n_damaged++;
            return;
        }
        record_take(r, ring, head, bytes + at + RECORD_HEAD);
        at += room;
    }
}

static void batch_take(struct flight_history_reading *r, unsigned file, uint64_t offset, const uint8_t *bytes,
                       uint64_t n)
{
    const struct rings_id id = r->h->of.id;
    for (uint64_t at = 0; at < n;) {
        struct flight_run run;
        if (n - at < sizeof run) {
            r->h->n_damaged++;
            return;
        }
        memcpy(&run, bytes + at, sizeof run);
        if (run.check != flight_check(id, r->h->head[file].number, offset + at, &run, sizeof run) ||
            run.bytes > n - at - sizeof run || run.ring > FLIGHT_FLIPS || run.lane >= RING_LANES) {
            r->h->n_damaged++;
            return;
        }
        run_take(r, run.ring, lane_seed(id, run.ring, run.lane), run.place, bytes + at + sizeof run, run.bytes);
        at += sizeof run + run.bytes;
    }
}

static void file_take(struct flight_history_reading *r, unsigned file)
{
    struct history *const h = r->h;
    bool is_cut;
    const uint64_t end = file_end(h, file, &is_cut);
    uint64_t at = sizeof(struct flight_head);
    uint8_t *bytes = NULL;
    for (struct flight_batch batch; at < end && !r->is_short; at += sizeof batch + batch.bytes) {
        if (!batch_at(h, file, at, end, &batch)) {
            h->n_damaged++;
            break;
        }
        uint8_t *const more = batch.bytes > 0 ? realloc(bytes, batch.bytes) : bytes;
        if (batch.bytes > 0 && !more) {
            r->is_short = true;
            break;
        }
        bytes = more;
        if (read_at(&h->file[file], bytes, batch.bytes, at + sizeof batch) != batch.bytes) {
            h->n_damaged++;
            break;
        }
        if (!r->is_inside && batch.until_ns > h->begin_ns)
            window_enter(r);
        batch_take(r, file, at + sizeof batch, bytes, batch.bytes);
    }
    h->n_damaged += is_cut;
    free(bytes);
}

/* Names and frames come first, because later records refer to them. */
static void kept_records_take(struct flight_history_reading *r)
{
    struct history *const h = r->h;
    const uint64_t n = h->kept_file.fd >= 0 ? h->of.state.kept_bytes : 0,
                   seed = lane_seed(h->of.id, FLIGHT_FLIPS, FLIGHT_KEPT_LANE);
    uint8_t *const bytes = n > 0 ? malloc(n) : NULL;
    r->is_short |= n > 0 && !bytes;
    const uint64_t got = bytes ? read_at(&h->kept_file, bytes, n, 0) : 0;
    for (uint64_t at = 0; at < got;) {
        struct record_head head;
        uint64_t room = RECORD_ALIGN;
        if (got - at >= RECORD_ALIGN) {
            memcpy(&head, bytes + at, sizeof head);
            room = record_room(record_bytes(head));
        }
        if (room > got - at || head.stream >= STREAM_KINDS || !stream_table[head.stream].lasts ||
            head.check != record_check(bytes + at, head_kind(head), seed, at)) {
            h->n_damaged++;
            break;
        }
        r->put(r->context, head, bytes + at + RECORD_HEAD);
        at += room;
    }
    free(bytes);
}

bool history_read(struct history *h, void (*put)(void *, struct record_head, const uint8_t *bytes), void *context,
                  struct error *e)
{
    struct flight_history_reading r = { .h = h, .put = put, .context = context };
    h->n_records = h->flips_before = 0;
    kept_records_take(&r);
    for (unsigned i = h->n_files; i-- > 0 && !r.is_short;)
        file_take(&r, i);
    free(r.flip);
    return !r.is_short || error_no_memory(e, h->of.path);
}
