#include "collect/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/out.h"
#include "collect/outputs.h"

enum { SLICE_LEAST = 1024, FACTS_MOST = 64 << 20 };

/* What is being recovered. */
struct recovering {
    char top[PATH_MAX];        /* the directory in which the rings lie, or a link to them */
    char rings_path[PATH_MAX]; /* where they are */
    char inside[NAME_MAX + 1]; /* the PROF directory in it that was asked for; "": all of it */
    int fd;
    uint64_t file_bytes;
    struct rings_header *header; /* a copy: nobody else changes it while we look */
    const struct rings_commit *commit;
    struct outputs *outputs;
    uint64_t dropped[STREAM_KINDS], cost_ticks;
    struct recovered *out;
};

static bool join(char out[PATH_MAX], const char *dir, const char *name)
{
    return snprintf(out, PATH_MAX, "%s/%s", dir, name) < PATH_MAX - 256; /* room for the names inside */
}

static bool is_real_directory(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- the file ---- */

/* Exactly n bytes from a place in the file; false: it is not that long, or cannot be read. */
static bool read_at(int fd, void *to, size_t n, uint64_t offset)
{
    for (size_t got = 0; got < n;) {
        const ssize_t part = TEMP_FAILURE_RETRY(pread(fd, (char *)to + got, n - got, (off_t)(offset + got)));
        if (part <= 0)
            return false;
        got += (size_t)part;
    }
    return true;
}

/* The rings of a directory, or of the one that it lies in. They may lie elsewhere, and a link say where. */
static bool rings_find(struct recovering *r, const char *path, struct stat *st)
{
    char itself[PATH_MAX], *real = realpath(path, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    bool is_found = false;
    for (int up = 0; slash && !is_found && up < 2; up++) {
        if (up) {
            snprintf(r->inside, sizeof r->inside, "%s", slash + 1);
            *slash = '\0';
        }
        is_found = join(itself, *real ? real : "/", RINGS_NAME) && lstat(itself, st) == 0;
    }
    if (is_found) {
        strcpy(r->top, real);
        strcpy(r->rings_path, itself);
        if (S_ISLNK(st->st_mode)) {
            const ssize_t n = readlink(itself, r->rings_path, sizeof r->rings_path - 1);
            r->rings_path[n > 0 ? n : 0] = '\0';
            is_found = lstat(r->rings_path, st) == 0;
        }
    }
    free(real);
    return is_found;
}

/* RECOVERY_DONE: it is open, and ours. */
static enum recovery rings_take(struct recovering *r, const struct stat *st, struct error *e)
{
    if (rings.header && st->st_dev == rings.device && st->st_ino == rings.inode)
        return RECOVERY_RUNNING; /* in this process: opening and closing it would give up the lock */
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    struct stat now;
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    r->fd = (int)TEMP_FAILURE_RETRY(open(r->rings_path, O_RDWR | flags));
    int why = r->fd < 0 ? errno : 0;
    if (r->fd < 0 && (r->fd = (int)TEMP_FAILURE_RETRY(open(r->rings_path, O_RDONLY | flags))) >= 0) {
        if (fcntl(r->fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
            return RECOVERY_RUNNING;
    } else if (r->fd >= 0 && fcntl(r->fd, F_SETLK, &lock) != 0) {
        if (errno == EAGAIN || errno == EACCES)
            return RECOVERY_RUNNING;
        why = errno;
    }
    if (why == 0 && fstat(r->fd, &now) != 0)
        why = errno;
    if (why == 0 && !S_ISREG(now.st_mode))
        why = NOT_A_FILE;
    if (why) {
        error_set(e, FAULT_IO, "%s: what the program had no time to write stays there: %s", r->rings_path,
                  why == NOT_A_FILE ? read_trouble(why) : strerror(why));
        return RECOVERY_FAILED;
    }
    r->file_bytes = (uint64_t)now.st_size;
    return RECOVERY_DONE;
}

/* Parts of a ring follow each other, and all of the file's numbers stay within the file. */
static bool layout_is_possible(const struct rings_layout *l, uint64_t file_bytes)
{
    uint64_t at = sizeof(struct ring_shared);
    if (l->rings_at < sizeof(struct rings_header) || l->rings_at > file_bytes || l->open_at < at ||
        l->lane_at[0] < l->open_at || l->lane_at[0] - l->open_at > (uint64_t)OPEN_SLOT_BYTES << 16)
        return false;
    for (unsigned lane = 0; lane < RING_LANES; lane++) {
        const uint64_t bytes = l->lane_bytes[lane];
        if (l->lane_at[lane] < at || l->lane_at[lane] > INT32_MAX || bytes < 8 || bytes > INT32_MAX ||
            (bytes & (bytes - 1)) != 0)
            return false;
        at = l->lane_at[lane] + bytes;
    }
    return l->ring_bytes >= at && l->ring_bytes <= (uint64_t)INT32_MAX * 4;
}

/* False with FAULT_NONE: it was never used. */
static bool header_read(struct recovering *r, struct error *e)
{
    uint64_t magic = 0;
    if (!read_at(r->fd, &magic, sizeof magic, 0) || magic == 0)
        return false; /* killed before the first record */
    r->header = malloc(sizeof *r->header);
    if (!r->header)
        return error_set(e, FAULT_LIMIT, "%s: no memory", r->rings_path);
    const bool is_read = read_at(r->fd, r->header, sizeof *r->header, 0);
    const struct rings_header *h = r->header;
    if (magic == RINGS_MAGIC && is_read && (h->version != RINGS_VERSION || h->bytes != sizeof *h))
        return error_set(e, FAULT_FORMAT, "%s: written by another version of ascope: recover with that one",
                         r->rings_path);
    if (magic != RINGS_MAGIC || !is_read || !layout_is_possible(&h->layout, r->file_bytes))
        return error_set(e, FAULT_FORMAT, "%s: is damaged; wanted rings of ascope", r->rings_path);
    r->commit = &h->commit[atomic_load(&h->active) & 1];
    return true;
}

/* ---- files back to the commit ---- */

static bool prof_is_named(const struct rings_header *h)
{
    const char *name = h->prof_name;
    return *name && *name != '.' && memchr(name, 0, sizeof h->prof_name) && !strchr(name, '/');
}

static bool places_open(struct recovering *r, struct error *e)
{
    char framework[PATH_MAX], prof[PATH_MAX];
    const bool has_framework =
        r->header->has_framework && join(framework, r->top, "FRAMEWORK") && is_real_directory(framework);
    bool has_prof = prof_is_named(r->header);
    if (has_prof && !(join(prof, r->top, r->header->prof_name) && is_real_directory(prof)))
        strcpy(prof, r->top); /* the collection is the PROF directory */
    const size_t slice_bytes = r->header->slice_bytes < SLICE_LEAST ? SLICE_LEAST : r->header->slice_bytes;
    r->outputs = malloc(sizeof *r->outputs);
    return r->outputs
               ? outputs_open(r->outputs, has_framework ? framework : NULL, has_prof ? prof : NULL, slice_bytes, e)
               : error_set(e, FAULT_LIMIT, "%s: no memory", r->rings_path);
}

static void files_resume(struct recovering *r)
{
    const struct rings_commit *c = r->commit;
    if (c->n_outputs > OUTPUTS_MOST)
        r->out->n_damaged++;
    for (uint32_t i = 0; i < c->n_outputs && i < OUTPUTS_MOST; i++) {
        const struct output_state *s = &c->output[i];
        if (!output_exists(s->stream, s->device) || s->is_open > 1 || (s->is_open && s->next == 0) ||
            s->bytes > INT64_MAX || outputs_have(r->outputs, s->stream, s->device))
            r->out->n_damaged++;
        else if (!outputs_resume(r->outputs, s))
            r->out->n_damaged++;
    }
}

/* ---- what is in the rings ---- */

/* A record that cannot be: where the next one begins nobody knows. */
static void lane_put(struct recovering *r, const uint8_t *bytes, uint64_t n)
{
    for (uint64_t at = 0; at < n;) {
        struct record_head head;
        if (n - at < RECORD_HEAD) {
            r->out->n_damaged++;
            return;
        }
        memcpy(&head, bytes + at, sizeof head);
        if (head.bytes == 0 || head.bytes > RECORD_MOST || record_room(head.bytes) > n - at ||
            !output_exists(head.stream, head.device)) {
            r->out->n_damaged++;
            return;
        }
        if (r->commit->keeps || stream_table[head.stream].lasts) {
            if (!outputs_have(r->outputs, head.stream, head.device)) /* a file that is younger than the commit */
                outputs_resume(r->outputs,
                               &(struct output_state){ .stream = (uint8_t)head.stream, .device = head.device });
            outputs_put(r->outputs, head, bytes + at + RECORD_HEAD);
        }
        at += record_room(head.bytes);
    }
}

static bool lane_recover(struct recovering *r, uint64_t ring_at, unsigned lane, uint64_t tail, uint64_t head,
                         struct error *e)
{
    const uint64_t size = r->header->layout.lane_bytes[lane], n = head - tail, from = tail & (size - 1);
    const uint64_t lane_at = ring_at + r->header->layout.lane_at[lane];
    if (n == 0)
        return true;
    if (n > size || n > r->file_bytes || (tail | head) & 7) {
        r->out->n_damaged++;
        return true;
    }
    uint8_t *bytes = malloc(n);
    if (!bytes)
        return error_set(e, FAULT_LIMIT, "%s: no memory for %llu bytes of records", r->rings_path,
                         (unsigned long long)n);
    const uint64_t first = n < size - from ? n : size - from;
    if (read_at(r->fd, bytes, first, lane_at + from) && read_at(r->fd, bytes + first, n - first, lane_at))
        lane_put(r, bytes, n);
    else
        r->out->n_damaged++;
    free(bytes);
    return true;
}

static void ranges_count(struct recovering *r, uint64_t ring_at, const struct ring_shared *shared)
{
    const struct rings_layout *l = &r->header->layout;
    for (unsigned lane = 0; lane < RING_LANES; lane++) {
        const struct open_part part = open_part(l, lane);
        const uint32_t end = atomic_load(&shared->open_end[lane]);
        for (uint32_t i = 0; i < end && i < part.n; i++) {
            uint64_t id;
            if (!read_at(r->fd, &id, sizeof id, ring_at + l->open_at + (uint64_t)(part.first + i) * OPEN_SLOT_BYTES))
                return;
            r->out->open_ranges += id > OPEN_ENDING;
        }
    }
}

static bool rings_drain(struct recovering *r, struct error *e)
{
    const struct rings_header *h = r->header;
    const uint32_t n = atomic_load(&h->n_rings);
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        r->dropped[s] = r->commit->dropped[s];
    for (uint32_t i = 0; i < n && i < RINGS_MOST; i++) {
        struct ring_shared shared;
        const uint64_t at = h->layout.rings_at + i * h->layout.ring_bytes;
        if (!read_at(r->fd, &shared, sizeof shared, at))
            break;
        if (!atomic_load(&shared.is_ready))
            continue;
        for (unsigned lane = 0; lane < RING_LANES; lane++) {
            const uint64_t tail = i < r->commit->n_rings ? r->commit->tail[i][lane] : 0;
            if (!lane_recover(r, at, lane, tail, atomic_load(&shared.lane[lane].head), e))
                return false;
        }
        for (unsigned s = 0; s < STREAM_KINDS; s++)
            r->dropped[s] += atomic_load(&shared.dropped[s]);
        r->cost_ticks += atomic_load(&shared.cost_ticks);
        ranges_count(r, at, &shared);
    }
    return true;
}

/* ---- ascope.json ---- */

static json_t *dropped_json(const struct recovering *r)
{
    json_t *list = json_array();
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        if (r->dropped[s])
            json_array_append_new(
                list, json_pack("{s:s, s:I}", "what", stream_table[s].what, "count", (json_int_t)r->dropped[s]));
    return list;
}

static bool text_write(const char *path, const char *text, struct error *e)
{
    struct out o;
    if (!text)
        return error_set(e, FAULT_LIMIT, "%s: no memory", path);
    if (!out_open(&o, path, e))
        return false;
    out_bytes(&o, text, strlen(text));
    out_char(&o, '\n');
    return out_close(&o, e);
}

/* What the program would have said at the end; the rest stays as it said it. Without that nobody would know what it means. */
static bool facts_write(const struct recovering *r, struct error *e)
{
    const struct rings_commit *c = r->commit;
    char path[PATH_MAX];
    struct stat st;
    int why;
    if (!join(path, r->top, "ascope.json"))
        return true;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    json_t *all = fd >= 0 && st.st_size <= FACTS_MOST ? json_loadfd(fd, 0, NULL) : NULL;
    if (fd >= 0)
        close(fd);
    if (!json_is_object(all)) {
        json_decref(all);
        return true;
    }
    const double mhz = json_number_value(json_object_get(json_object_get(all, "clock"), "mhz"));
    const double hook_ns = mhz > 0 ? (double)r->cost_ticks * 1000 / mhz : 0;
    json_t *end = json_pack("{s:s, s:{s:I, s:I}, s:o, s:{s:I, s:I}, s:I, s:I, s:I, s:I, s:I}", "ended", "recovered",
                            "written", "records", (json_int_t)r->outputs->n_records, "bytes",
                            (json_int_t)r->outputs->n_bytes, "dropped", dropped_json(r), "aged", "slices",
                            (json_int_t)c->aged_slices, "bytes", (json_int_t)c->aged_bytes, "open_ranges",
                            (json_int_t)r->out->open_ranges, "hook_ns", (json_int_t)(hook_ns < 1e18 ? hook_ns : 1e18),
                            "lag_most_ns", (json_int_t)c->lag_most_ns, "fill_most_percent",
                            (json_int_t)c->fill_most_percent, "threads", (json_int_t)atomic_load(&r->header->n_rings));
    json_object_update(all, end);
    json_t *none = json_pack("{s:[], s:[]}", "devices", "steps");
    json_object_update_missing(all, none);
    char *text = json_dumps(all, JSON_INDENT(1));
    const bool done = text_write(path, text, e);
    free(text);
    json_decref(none);
    json_decref(end);
    json_decref(all);
    return done;
}

/* ---- all of it ---- */

static enum recovery recover(struct recovering *r, struct error *e)
{
    if (!header_read(r, e))
        return e->fault == FAULT_NONE ? RECOVERY_DONE : RECOVERY_FAILED;
    if (*r->inside && strncmp(r->inside, r->header->prof_name, sizeof r->header->prof_name) != 0)
        return RECOVERY_NOTHING; /* of something else that lies in the same directory */
    if (!places_open(r, e))
        return RECOVERY_FAILED;
    files_resume(r);
    r->outputs->n_records = r->commit->n_records;
    r->outputs->n_bytes = r->commit->n_bytes;
    const bool is_drained = outputs_are_well(r->outputs, e) && rings_drain(r, e);
    outputs_flush(r->outputs);
    outputs_close(r->outputs);
    r->out->n_records = r->outputs->n_records - r->commit->n_records;
    r->out->n_bytes = r->outputs->n_bytes - r->commit->n_bytes;
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        r->dropped[s] += r->outputs->dropped[s];
    return is_drained && outputs_are_well(r->outputs, e) && facts_write(r, e) ? RECOVERY_DONE : RECOVERY_FAILED;
}

enum recovery collection_recover(const char *path, struct recovered *out, struct error *e)
{
    struct recovering r = { .fd = -1, .out = out };
    struct stat st;
    *out = (struct recovered){ 0 };
    if (!rings_find(&r, path, &st))
        return RECOVERY_NOTHING;
    enum recovery how = rings_take(&r, &st, e);
    if (how == RECOVERY_DONE)
        how = recover(&r, e);
    if (how == RECOVERY_DONE) {
        char link[PATH_MAX];
        unlink(r.rings_path);
        if (join(link, r.top, RINGS_NAME))
            unlink(link); /* where it only says where they were */
    }
    if (r.fd >= 0)
        close(r.fd);
    free(r.outputs);
    free(r.header);
    return how;
}
