/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/files/bytes.h"
#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/files/out.h"

static const char MAGIC[8] = { 'a', 's', 'c', 'o', 'p', 'e', 0x1A, 'M' };
enum { VERSION = 1, MOST_HEAD = 1 << 24, MOST_FILE = 1 << 30 };
static const uint32_t NO_TEXT = UINT32_MAX;

/* The header up to its texts: `wanted`, then the roots. The checksum is of everything behind it. */
struct head {
    char magic[8];
    uint32_t version, crc;
    uint64_t n_ranks, bytes; /* bytes: of the header with its texts; the places follow */
    uint64_t n_roots;
};
_Static_assert(sizeof(struct head) == 40, "the header has no gaps");
enum { AT_CRC_END = 16 };

/* An entry up to its texts. The checksum is of the number of the entry and of everything behind it. */
struct entry {
    uint32_t crc, root;
    int64_t rank;
    uint64_t stamp, bytes, offset;
    uint8_t source, framework, has_raw, unused[5];
};
_Static_assert(sizeof(struct entry) == 48, "an entry has no gaps");

enum { PATHS = 6 };

static void paths_of(const struct job_rank *r, const char *path[PATHS])
{
    const char *const all[PATHS] = { r->path, r->summary, r->output, r->db, r->comm, r->trace };
    memcpy(path, all, sizeof all);
}

static uint32_t entry_crc(uint64_t number, const uint8_t *entry, size_t n)
{
    const uLong crc = crc32_z(0, (const uint8_t *)&number, sizeof number);
    return (uint32_t)crc32_z(crc, entry + sizeof(uint32_t), n - sizeof(uint32_t));
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void text_put(struct out *o, const char *text)
{
    const uint32_t n = text ? (uint32_t)strlen(text) : NO_TEXT;
    out_bytes(o, &n, sizeof n);
    if (text)
        out_bytes(o, text, n);
}

/* The part of a path behind a root; NULL: it is not below it. */
static const char *below(const char *root, const char *path)
{
    const size_t n = strlen(root);
    if (strncmp(path, root, n) != 0 || (path[n] != '/' && path[n] != 0 && n > 1))
        return NULL;
    return path + n + strspn(path + n, "/");
}

static bool entry_put(struct out *o, const struct job_rank *r, uint64_t number, const struct manifest_of *of)
{
    const size_t from = o->n;
    const char *path[PATHS];
    struct entry entry = { .rank = r->rank,
                           .stamp = r->stamp,
                           .bytes = r->bytes,
                           .offset = r->offset,
                           .source = (uint8_t)r->source,
                           .framework = (uint8_t)r->framework,
                           .has_raw = r->has_raw };
    paths_of(r, path);
    while (entry.root < of->n_roots && !below(of->root[entry.root], path[0]))
        entry.root++;
    if (entry.root == of->n_roots)
        return false;
    out_bytes(o, &entry, sizeof entry);
    for (size_t i = 0; i < PATHS; i++) {
        const char *rest = path[i] ? below(of->root[entry.root], path[i]) : NULL;
        if (path[i] && !rest)
            return false;
        text_put(o, rest);
    }
    if (o->failed_errno == 0) {
        entry.crc = entry_crc(number, (const uint8_t *)o->buf + from, o->n - from);
        memcpy(o->buf + from, &entry.crc, sizeof entry.crc);
    }
    return true;
}

static void head_put(struct out *o, const struct manifest_of *of, size_t n_ranks)
{
    struct head head = { .version = VERSION, .n_ranks = n_ranks, .n_roots = of->n_roots };
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    out_bytes(o, &head, sizeof head);
    text_put(o, of->wanted);
    for (size_t i = 0; i < of->n_roots; i++)
        text_put(o, of->root[i]);
    if (o->failed_errno != 0)
        return;
    head.bytes = o->n;
    memcpy(o->buf, &head, sizeof head);
    head.crc = (uint32_t)crc32_z(0, (const uint8_t *)o->buf + AT_CRC_END, o->n - AT_CRC_END);
    memcpy(o->buf, &head, sizeof head);
}

bool manifest_write(const struct job *j, const struct manifest_of *of, const char *path, struct error *e)
{
    struct out o = { 0 }, head = { 0 }, entries = { 0 };
    struct arena *mem = arena_new();
    uint64_t *place = mem ? arena_take(mem, j->ranks.n + 1, sizeof *place) : NULL;
    bool done = (place && out_open_memory(&head, e) && out_open_memory(&entries, e)) || error_no_memory(e, path);
    if (done)
        head_put(&head, of, j->ranks.n);
    for (size_t i = 0; i < j->ranks.n && done; i++) {
        place[i] = entries.n;
        done = entry_put(&entries, &j->ranks.at[i], i, of) ||
               error_set(e, FAULT_FORMAT, "%s: is below none of the directories of the job", j->ranks.at[i].path);
    }
    if (done && (head.failed_errno || entries.failed_errno))
        done = error_no_memory(e, path);
    if (done)
        leftovers_sweep_of(path);
    if (done && (done = out_open_named(&o, path, e))) {
        place[j->ranks.n] = entries.n;
        for (size_t i = 0; i <= j->ranks.n; i++)
            place[i] += head.n + (j->ranks.n + 1) * sizeof *place;
        out_bytes(&o, head.buf, head.n);
        out_bytes(&o, place, (j->ranks.n + 1) * sizeof *place);
        out_bytes(&o, entries.buf, entries.n);
        done = out_close(&o, e);
    }
    out_discard(&head);
    out_discard(&entries);
    arena_free(mem);
    return done;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

struct manifest_reading {
    struct job *job;
    const struct manifest_of *of;
    const char *path;
    int fd;
    uint64_t size;
    struct arena *work;
    struct error *e;
};

static bool damaged(const struct manifest_reading *r)
{
    return error_set(r->e, FAULT_FORMAT, "%s: the list of ranks is damaged; make it again with --manifest", r->path);
}

/* n bytes of the file, in r->work. NULL: they are not there, or there is no memory: see r->e. */
static const uint8_t *bytes_read(struct manifest_reading *r, uint64_t offset, uint64_t n)
{
    if (offset > r->size || n > r->size - offset) {
        damaged(r);
        return NULL;
    }
    uint8_t *to = arena_take(r->work, n + 1, 1);
    if (!to) {
        error_no_memory(r->e, r->path);
        return NULL;
    }
    for (size_t at = 0; at < n;) {
        const ssize_t got = pread(r->fd, to + at, n - at, (off_t)(offset + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            error_set(r->e, FAULT_IO, "%s: cannot be read: %s", r->path, read_trouble(errno));
        else if (got == 0)
            damaged(r);
        if (got <= 0)
            return NULL;
        at += (size_t)got;
    }
    return to;
}

/* A text in mem; NULL: none. False: damaged, or no memory. */
static bool text_take(struct bytes *in, const char **out, struct arena *mem)
{
    const uint8_t *length = bytes_take(in, sizeof(uint32_t));
    const uint32_t n = length ? le32(length) : 0;
    *out = NULL;
    if (length && n == NO_TEXT)
        return true;
    const uint8_t *text = length ? bytes_take(in, n) : NULL;
    if (!text || memchr(text, 0, n))
        return false;
    *out = arena_text(mem, (const char *)text, n);
    return *out != NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool other_job(const struct manifest_reading *r)
{
    return error_set(
        r->e, FAULT_ASKED,
        "%s: the list of ranks is of other directories, or of another --ranks; make it again with --manifest", r->path);
}

static bool head_read(struct manifest_reading *r, struct head *head)
{
    const uint8_t *data = bytes_read(r, 0, sizeof *head);
    if (!data)
        return false;
    memcpy(head, data, sizeof *head);
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0)
        return error_set(r->e, FAULT_ASKED, "%s: not a list of ranks; make one with --manifest", r->path);
    if (head->version != VERSION)
        return error_set(r->e, FAULT_FORMAT,
                         "%s: a list of ranks of version %u, this ascope reads version %d; make it again", r->path,
                         head->version, VERSION);
    if (head->bytes < sizeof *head || head->bytes > MOST_HEAD || head->n_ranks > r->size / sizeof(struct entry))
        return damaged(r);
    if (!(data = bytes_read(r, 0, head->bytes)))
        return false;
    if (head->crc != crc32_z(0, data + AT_CRC_END, head->bytes - AT_CRC_END))
        return damaged(r);
    struct bytes in = { data, head->bytes, sizeof *head };
    const char *text;
    if (!text_take(&in, &text, r->work))
        return arena_failed(r->work) ? error_no_memory(r->e, r->path) : damaged(r);
    if (head->n_roots != r->of->n_roots || !same_text(text, r->of->wanted))
        return other_job(r);
    for (size_t i = 0; i < head->n_roots; i++) {
        if (!text_take(&in, &text, r->work) || !text)
            return arena_failed(r->work) ? error_no_memory(r->e, r->path) : damaged(r);
        if (!same_text(text, r->of->root[i]))
            return other_job(r);
    }
    return true;
}

/* Whether a path stays below the directory that it is relative to. */
static bool stays_inside(const char *path)
{
    if (strlen(path) >= PATH_MAX)
        return false;
    for (const char *at = path; *at;) {
        const size_t n = strcspn(at, "/");
        if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.') ||
            (at[n] == '/' && !at[n + 1]))
            return false;
        at += n + (at[n] == '/');
    }
    return true;
}

/* What a source is read from is there. */
static bool has_source(const struct job_rank *r)
{
    switch (r->source) {
    case SOURCE_SUMMARY: return r->summary;
    case SOURCE_DB: return r->db || r->comm;
    case SOURCE_TEXT: return r->output;
    case SOURCE_TRACE: return r->trace;
    default: return r->source == SOURCE_COLLECTION;
    }
}

/* False: damaged, or no memory. */
static bool entry_read(struct manifest_reading *r, struct bytes in, uint64_t number, struct job_rank *out)
{
    struct entry entry;
    const char *path[PATHS];
    const uint8_t *data = bytes_take(&in, sizeof entry);
    if (!data)
        return false;
    memcpy(&entry, data, sizeof entry);
    if (entry.crc != entry_crc(number, in.data, in.size) || entry.root >= r->of->n_roots || entry.rank < 0 ||
        entry.rank > INT32_MAX || entry.source > SOURCE_TRACE || entry.framework >= FRAMEWORKS || entry.has_raw > 1)
        return false;
    for (size_t i = 0; i < PATHS; i++) {
        if (!text_take(&in, &path[i], r->work) || (path[i] && !stays_inside(path[i])))
            return false;
        const char *root = r->of->root[entry.root];
        if (path[i])
            path[i] = *path[i] ? arena_printf(r->job->mem, "%s/%s", root, path[i]) : root;
    }
    *out = (struct job_rank){ .rank = entry.rank,
                              .path = path[0],
                              .summary = path[1],
                              .output = path[2],
                              .db = path[3],
                              .comm = path[4],
                              .trace = path[5],
                              .source = (enum rank_source)entry.source,
                              .has_raw = entry.has_raw,
                              .framework = (enum framework_id)entry.framework,
                              .bytes = entry.bytes,
                              .stamp = entry.stamp,
                              .offset = entry.offset };
    return path[0] && in.at == in.size && has_source(out);
}

/* The entries from `first` to `end`. */
static bool entries_read(struct manifest_reading *r, const struct head *head, size_t first, size_t end)
{
    const uint8_t *place = bytes_read(r, head->bytes + first * sizeof(uint64_t), (end - first + 1) * sizeof(uint64_t));
    const uint64_t from = place ? le64(place) : 0, to = place ? le64(place + (end - first) * sizeof(uint64_t)) : 0;
    const uint8_t *data = !place ? NULL : from <= to ? bytes_read(r, from, to - from) : NULL;
    if (!data)
        return r->e->fault != FAULT_NONE ? false : damaged(r);
    int64_t before = -1;
    for (size_t i = first; i < end; i++, place += sizeof(uint64_t)) {
        const uint64_t at = le64(place), next = le64(place + sizeof(uint64_t));
        struct job_rank *rank = list_add(&r->job->ranks, r->job->mem);
        if (!rank)
            return error_no_memory(r->e, r->path);
        const bool is_read = at >= from && next >= at && next <= to &&
                             entry_read(r, (struct bytes){ data + (at - from), next - at, 0 }, i, rank);
        if (arena_failed(r->work) || arena_failed(r->job->mem))
            return error_no_memory(r->e, r->path);
        if (!is_read || rank->rank <= before)
            return damaged(r);
        before = rank->rank;
    }
    return true;
}

bool manifest_read(struct job *j, const struct manifest_of *of, const char *path, size_t part, size_t n_parts,
                   size_t *n_all, struct error *e)
{
    struct stat st;
    int why;
    struct head head;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    if (fd < 0)
        return error_set(e, why == ENOENT ? FAULT_ASKED : FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
    struct manifest_reading r = {
        .job = j, .of = of, .path = path, .fd = fd, .size = (uint64_t)st.st_size, .work = arena_new(), .e = e
    };
    bool done = r.work ? r.size <= MOST_FILE || damaged(&r) : error_no_memory(e, path);
    done = done && head_read(&r, &head);
    if (done)
        done = entries_read(&r, &head, shard_first(head.n_ranks, part, n_parts),
                            shard_first(head.n_ranks, part + 1, n_parts));
    for (size_t i = 0; i < of->n_roots && done; i++)
        inside_enter(of->root[i]); /* a file cannot be entered: it is opened as it is */
    *n_all = done ? head.n_ranks : 0;
    arena_free(r.work);
    close(fd);
    return done;
}
