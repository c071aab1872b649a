/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/rank/summary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/files/bytes.h"
#include "base/files/file.h"
#include "base/memory/keys.h"
#include "base/memory/large_memory.h"
#include "base/text/stamp.h"
#include "cluster/rank/rank_columns.h"
#include "profile/calls.h"

static const char MAGIC[8] = { 'a', 's', 'c', 'o', 'p', 'e', 0x1A, 'S' };
static const char INDEX_MAGIC[8] = { 'a', 's', 'c', 'o', 'p', 'e', 0x1A, 'I' };
enum { MOST_RAW = 1 << 30, MOST_RATIO = 1100 };
/* Offsets in the header; the checksum is of everything behind it. */
enum {
    AT_VERSION = 8,
    AT_CRC = 12,
    AT_BYTES = 16,
    AT_RAW = 24,
    AT_RANK = 32,
    AT_STAMP = 40,
    AT_SOURCE = 48,
    AT_EXIT = 56
};

const char *summary_name(char out[SUMMARY_NAME], int64_t rank)
{
    if (rank < 0)
        snprintf(out, SUMMARY_NAME, "ascope_rank.summary");
    else
        snprintf(out, SUMMARY_NAME, "ascope_rank_%lld.summary", (long long)rank);
    return out;
}

/* ---- writing ---- */

struct scratch {
    int64_t *at;
    size_t n;
};

struct writing {
    struct out body;
    const struct rank_summary *s;
    struct keys names; /* ids in the order of their use: a name is its place here */
    struct arena *mem;
    struct scratch scratch;
    bool failed;
};

/* At least n numbers; NULL: no memory. What was in it is lost. */
static int64_t *scratch_take(struct scratch *x, size_t n)
{
    if (n > x->n || !x->at) {
        free(x->at);
        x->at = malloc((n + 1) * sizeof *x->at);
        x->n = x->at ? n : 0;
    }
    return x->at;
}

static int64_t name_place(struct writing *w, name_id name)
{
    const uint32_t at = keys_add(&w->names, name, w->mem);
    w->failed |= at == KEYS_NO_MEMORY;
    return at;
}

static void summary_file_put_text(struct out *o, const char *text)
{
    put_varint(o, text ? strlen(text) + 1 : 0);
    if (text)
        out_bytes(o, text, strlen(text));
}

/* Columns that are no 64-bit numbers, as such. */
static void widen(struct writing *w, const void *column, size_t n, enum column_kind kind, int64_t *to)
{
    for (size_t i = 0; i < n; i++)
        switch (kind) {
        case COLUMN_NAME: to[i] = name_place(w, ((const name_id *)column)[i]); break;
        case COLUMN_U8: to[i] = ((const uint8_t *)column)[i]; break;
        case COLUMN_U32: {
            const uint32_t v = ((const uint32_t *)column)[i];
            to[i] = v == NO_ROW ? INT64_MIN : v;
            break;
        }
        default: to[i] = ((const enum gap_reason *)column)[i]; break;
        }
}

static void put_column(struct writing *w, const void *column, size_t n, enum column_kind kind, const int64_t *beside)
{
    int64_t *scratch = scratch_take(&w->scratch, 2 * n);
    if (!scratch) {
        w->failed = true;
    } else if (kind == COLUMN_I64) {
        put_numbers(&w->body, column, n, beside);
    } else if (kind == COLUMN_REAL) {
        put_reals(&w->body, column, n, scratch);
    } else {
        widen(w, column, n, kind, scratch);
        put_numbers(&w->body, scratch, n, NULL);
    }
}

static void put_part(struct writing *w, const struct part_row *p)
{
    const char *part = (const char *)w->s + p->at;
    const int64_t *beside = NULL; /* the column of 64 bits before this one */
    size_t n;
    memcpy(&n, part, sizeof n);
    put_varint(&w->body, n);
    for (size_t i = 0; i < p->n_columns; i++) {
        const void *column;
        memcpy(&column, part + p->column[i].at, sizeof column);
        put_varint(&w->body, column != NULL); /* one that nobody has filled */
        if (!column)
            continue;
        put_column(w, column, n, p->column[i].kind, beside);
        beside = p->column[i].kind == COLUMN_I64 ? column : beside;
    }
}

/* Of the durations of each group: how many, the shortest, and the differences of the others. */
static void put_runs(struct writing *w)
{
    const struct summary_runs *k = &w->s->kernels;
    const size_t n = k->n > 0 ? k->first[k->n] : 0;
    int64_t *count = scratch_take(&w->scratch, 2 * k->n + n);
    if (!count) {
        w->failed = true;
        return;
    }
    int64_t *shortest = count + k->n, *rest = shortest + k->n;
    size_t n_rest = 0;
    for (size_t i = 0; i < k->n; i++) {
        const size_t begin = k->first[i], end = k->first[i + 1];
        count[i] = (int64_t)(end - begin);
        shortest[i] = end > begin ? k->ns[begin] : INT64_MIN;
        for (size_t at = begin + 1; at < end; at++)
            rest[n_rest++] = wrap_sub(k->ns[at], k->ns[at - 1]);
    }
    put_numbers(&w->body, count, k->n, NULL);
    put_numbers(&w->body, shortest, k->n, NULL);
    put_varint(&w->body, n_rest);
    put_numbers(&w->body, rest, n_rest, NULL);
}

static void put_identity(struct out *o, const struct rank_summary *s)
{
    const struct rank_identity *id = &s->identity;
    const char *const text[] = {
        id->path, id->host_uid, id->host_name, id->distributed_args, id->parallel_group_info, id->pp_info, id->steps_by
    };
    put_varint(o, (uint64_t)id->has_rank | (uint64_t)id->has_device << 1 | (uint64_t)id->is_simulated << 2);
    put_signed(o, id->rank);
    put_signed(o, id->device);
    put_varint(o, (uint64_t)id->framework);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        summary_file_put_text(o, text[i]);
    for (size_t i = 0; i < LOSS_KINDS; i++)
        put_varint(o, id->lost.by[i].n);
    put_varint(o, s->has);
}

enum { MOST_SHARED = 255 };

/* Names one behind the other, each without the beginning that it shares with the one before. */
static void put_names(struct writing *w, struct out *o)
{
    const size_t n = w->names.key.n;
    int64_t *shared = scratch_take(&w->scratch, 2 * n);
    if (!shared) {
        w->failed = true;
        return;
    }
    int64_t *rest = shared + n;
    const char *before = "";
    put_varint(o, n);
    for (size_t i = 0; i < n; i++) {
        const char *text = names_text(w->s->names, (name_id)w->names.key.at[i]);
        int64_t same = 0;
        while (same < MOST_SHARED && text[same] && text[same] == before[same])
            same++;
        shared[i] = same;
        rest[i] = (int64_t)names_len(w->s->names, (name_id)w->names.key.at[i]) - same;
        before = text;
    }
    put_numbers(o, shared, n, NULL);
    put_numbers(o, rest, n, NULL);
    for (size_t i = 0; i < n; i++)
        out_bytes(o, names_text(w->s->names, (name_id)w->names.key.at[i]) + shared[i], (size_t)rest[i]);
}

/* Identity and names in front of the columns, which use them. */
static void put_payload(struct writing *w, struct out *o)
{
    put_identity(o, w->s);
    put_names(w, o);
    out_bytes(o, w->body.buf, w->body.n);
}

static void header_put(uint8_t h[SUMMARY_HEADER], const struct rank_summary *s, uint64_t stamp, uint64_t source,
                       uint64_t packed, uint64_t raw)
{
    const uint32_t version = SUMMARY_VERSION, exit_code = (uint32_t)s->exit_code;
    const int64_t rank = s->identity.has_rank ? s->identity.rank : -1;
    const uint64_t bytes = SUMMARY_HEADER + packed;
    memset(h, 0, SUMMARY_HEADER);
    memcpy(h, MAGIC, sizeof MAGIC);
    memcpy(h + AT_VERSION, &version, sizeof version);
    memcpy(h + AT_BYTES, &bytes, sizeof bytes);
    memcpy(h + AT_RAW, &raw, sizeof raw);
    memcpy(h + AT_RANK, &rank, sizeof rank);
    memcpy(h + AT_STAMP, &stamp, sizeof stamp);
    memcpy(h + AT_SOURCE, &source, sizeof source);
    memcpy(h + AT_EXIT, &exit_code, sizeof exit_code);
}

static uint32_t checksum(const uint8_t *header, const uint8_t *payload, size_t n)
{
    uLong crc = crc32_z(0, header + AT_BYTES, SUMMARY_HEADER - AT_BYTES);
    return (uint32_t)crc32_z(crc, payload, n);
}

static bool pack(const struct out *raw, const struct rank_summary *s, uint64_t stamp, uint64_t source, struct out *o,
                 struct error *e)
{
    uLongf packed = compressBound(raw->n);
    uint8_t header[SUMMARY_HEADER], *buffer = malloc(packed);
    const bool done = buffer && compress2(buffer, &packed, (const uint8_t *)raw->buf, raw->n, 9) == Z_OK;
    if (done) {
        header_put(header, s, stamp, source, packed, raw->n);
        const uint32_t crc = checksum(header, buffer, packed);
        memcpy(header + AT_CRC, &crc, sizeof crc);
        out_bytes(o, header, sizeof header);
        out_bytes(o, buffer, packed);
    }
    free(buffer);
    return done || error_no_memory(e, s->identity.path);
}

bool summary_write(const struct rank_summary *s, uint64_t stamp, uint64_t source, struct out *o, struct error *e)
{
    struct writing w = { .s = s, .mem = arena_new() };
    struct out payload = { 0 };
    const char *path = s->identity.path ? s->identity.path : "summary";
    bool done = w.mem && out_open_memory(&w.body, e) && out_open_memory(&payload, e);
    if (done) {
        for (size_t i = 0; i < SUMMARY_PARTS; i++)
            put_part(&w, &summary_part[i]);
        put_runs(&w);
        put_payload(&w, &payload);
        if (w.failed || w.body.failed_errno || payload.failed_errno)
            done = error_no_memory(e, path);
        else if (payload.n > MOST_RAW)
            done = error_set(e, FAULT_LIMIT,
                             "%s: its summary is larger than 1 GiB; analyse some steps only with --steps", path);
        else
            done = pack(&payload, s, stamp, source, o, e);
    } else if (!w.mem) {
        error_no_memory(e, path);
    }
    out_discard(&payload);
    out_discard(&w.body);
    free(w.scratch.at);
    arena_free(w.mem);
    return done;
}

bool summary_save(const struct rank_summary *s, uint64_t stamp, uint64_t source, const char *path, struct error *e)
{
    struct out o;
    leftovers_sweep_of(path);
    if (!out_open(&o, path, e))
        return false;
    if (!summary_write(s, stamp, source, &o, e)) {
        out_discard(&o);
        return false;
    }
    o.is_named = true; /* alone in its directory */
    return out_close(&o, e);
}

void summary_index(const struct summary_place *place, size_t n, struct out *o)
{
    uLong crc = 0;
    for (size_t i = 0; i < n; i++) {
        crc = crc32_z(crc, (const uint8_t *)&place[i], sizeof place[i]);
        out_bytes(o, &place[i], sizeof place[i]);
    }
    const uint64_t end[2] = { n, (uint64_t)crc };
    out_bytes(o, end, sizeof end);
    out_bytes(o, INDEX_MAGIC, sizeof INDEX_MAGIC);
}

/* ---- reading ---- */

struct summary_file_reading {
    struct bytes in;
    const char *path;
    struct rank_summary *s;
    name_id *name;
    size_t n_names;
    struct arena *mem;
    struct error *e;
    struct scratch scratch;
    bool is_damaged;
};

static bool damaged(const char *path, struct error *e)
{
    return error_set(e, FAULT_FORMAT, "%s: the summary is damaged; make it again with ascope analyse --summary", path);
}

static uint64_t get_varint(struct summary_file_reading *r)
{
    uint64_t v;
    if (take_varint(&r->in, &v))
        return v;
    r->is_damaged = true;
    return 0;
}

static int64_t get_signed(struct summary_file_reading *r)
{
    const uint64_t v = get_varint(r);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static void get_numbers(struct summary_file_reading *r, int64_t *v, size_t n, const int64_t *beside)
{
    r->is_damaged = r->is_damaged || !take_numbers(&r->in, v, n, beside);
}

/* A number of things that take at least a byte each. */
static size_t get_count(struct summary_file_reading *r)
{
    const uint64_t n = get_varint(r);
    if (n > r->in.size - r->in.at)
        r->is_damaged = true;
    return r->is_damaged ? 0 : (size_t)n;
}

static const char *get_text(struct summary_file_reading *r)
{
    const size_t n = get_count(r);
    const uint8_t *text = n > 0 ? bytes_take(&r->in, n - 1) : NULL;
    if (!text)
        return NULL;
    return arena_text(r->mem, (const char *)text, n - 1);
}

/* Numbers of 64 bits as what the column has; what it cannot have is damage. */
static bool narrow(const struct summary_file_reading *r, const int64_t *from, size_t n, enum column_kind kind,
                   void *column)
{
    const int64_t end = kind == COLUMN_NAME  ? (int64_t)r->n_names
                        : kind == COLUMN_U8  ? UINT8_MAX + 1
                        : kind == COLUMN_U32 ? (int64_t)UINT32_MAX
                                             : GAP_LAUNCH + 1;
    for (size_t i = 0; i < n; i++) {
        const bool is_none = kind == COLUMN_U32 && from[i] == INT64_MIN;
        if (!is_none && (from[i] < 0 || from[i] >= end))
            return false;
        switch (kind) {
        case COLUMN_NAME: ((name_id *)column)[i] = r->name[from[i]]; break;
        case COLUMN_U8: ((uint8_t *)column)[i] = (uint8_t)from[i]; break;
        case COLUMN_U32: ((uint32_t *)column)[i] = is_none ? NO_ROW : (uint32_t)from[i]; break;
        default: ((enum gap_reason *)column)[i] = (enum gap_reason)from[i]; break;
        }
    }
    return true;
}

static void get_column(struct summary_file_reading *r, void *column, size_t n, enum column_kind kind,
                       const int64_t *beside)
{
    int64_t *scratch = r->scratch.at;
    if (kind == COLUMN_I64)
        get_numbers(r, column, n, beside);
    else if (kind == COLUMN_REAL)
        r->is_damaged |= !take_reals(&r->in, column, n, scratch);
    else
        r->is_damaged |= !take_numbers(&r->in, scratch, n, NULL) || !narrow(r, scratch, n, kind, column);
}

static bool get_part(struct summary_file_reading *r, const struct part_row *p)
{
    char *part = (char *)r->s + p->at;
    const int64_t *beside = NULL;
    const size_t n = get_count(r);
    memcpy(part, &n, sizeof n);
    if (!scratch_take(&r->scratch, 2 * n))
        return error_no_memory(r->e, r->path);
    bool has_column = n == 0; /* rows without any would cost a file nothing */
    for (size_t i = 0; i < p->n_columns && !r->is_damaged; i++) {
        const bool is_there = get_varint(r) == 1;
        has_column |= is_there;
        void *column = arena_take(r->mem, n, column_bytes[p->column[i].kind]);
        if (!column)
            return error_no_memory(r->e, r->path);
        memcpy(part + p->column[i].at, &column, sizeof column);
        if (!is_there)
            continue;
        get_column(r, column, n, p->column[i].kind, beside);
        beside = p->column[i].kind == COLUMN_I64 ? column : beside;
    }
    r->is_damaged |= !has_column;
    return true;
}

/* Durations of all groups from their parts; false: the parts do not fit together. */
static bool join_runs(struct summary_runs *k, const int64_t *count, const int64_t *shortest, const int64_t *rest,
                      size_t n_rest, size_t n_all)
{
    size_t n = 0, used = 0;
    for (size_t i = 0; i < k->n; i++) {
        k->first[i] = n;
        if (count[i] < 0 || (uint64_t)count[i] > n_all - n)
            return false;
        for (int64_t at = 0; at < count[i]; at++, n++) {
            if (at > 0 && used == n_rest)
                return false;
            k->ns[n] = at == 0 ? shortest[i] : wrap_add(k->ns[n - 1], rest[used++]);
            if (at > 0 && k->ns[n] < k->ns[n - 1])
                return false;
        }
    }
    k->first[k->n] = n;
    return used == n_rest && n == n_all;
}

static bool get_runs(struct summary_file_reading *r)
{
    struct summary_runs *k = &r->s->kernels;
    int64_t *count = arena_take(r->mem, 2 * k->n, sizeof *count), *shortest = count ? count + k->n : NULL;
    if (!count)
        return error_no_memory(r->e, r->path);
    get_numbers(r, count, k->n, NULL);
    get_numbers(r, shortest, k->n, NULL);
    const size_t n_rest = get_count(r);
    int64_t *rest = scratch_take(&r->scratch, n_rest);
    size_t n_all = n_rest;
    for (size_t i = 0; i < k->n && !r->is_damaged; i++)
        n_all += count[i] != 0;
    k->first = arena_take(r->mem, k->n + 1, sizeof *k->first);
    k->ns = arena_take(r->mem, n_all, sizeof *k->ns);
    if (!k->first || !k->ns || !rest)
        return error_no_memory(r->e, r->path);
    get_numbers(r, rest, n_rest, NULL);
    r->is_damaged = r->is_damaged || !join_runs(k, count, shortest, rest, n_rest, n_all);
    arena_drop(r->mem, count);
    return true;
}

static void get_identity(struct summary_file_reading *r)
{
    struct rank_identity *id = &r->s->identity;
    const char **const text[] = {
        &id->path,    &id->host_uid, &id->host_name, &id->distributed_args, &id->parallel_group_info,
        &id->pp_info, &id->steps_by
    };
    const uint64_t flags = get_varint(r);
    id->has_rank = flags & 1;
    id->has_device = flags >> 1 & 1;
    id->is_simulated = flags >> 2 & 1;
    id->rank = get_signed(r);
    id->device = get_signed(r);
    const uint64_t framework = get_varint(r);
    r->is_damaged |= framework >= FRAMEWORKS;
    id->framework = (enum framework_id)(framework < FRAMEWORKS ? framework : 0);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        *text[i] = get_text(r);
    for (size_t i = 0; i < LOSS_KINDS; i++)
        id->lost.by[i].n = get_varint(r);
    r->s->has = (unsigned)get_varint(r);
}

/* A name that begins as the one before. */
static void get_name(struct summary_file_reading *r, size_t i, int64_t shared, int64_t rest)
{
    char begin[MOST_SHARED + 1];
    const char *before = i > 0 ? names_text(r->s->names, r->name[i - 1]) : "";
    const size_t most = i > 0 ? names_len(r->s->names, r->name[i - 1]) : 0;
    const uint8_t *text = rest >= 0 ? bytes_take(&r->in, (size_t)rest) : NULL;
    if (!text || shared < 0 || shared > MOST_SHARED || (size_t)shared > most) {
        r->is_damaged = true;
        return;
    }
    const size_t same = (size_t)shared, more = (size_t)rest;
    char *whole = same + more < sizeof begin ? begin : arena_take(r->mem, same + more, 1);
    if (!whole)
        return;
    memcpy(whole, before, same);
    memcpy(whole + same, text, more);
    r->name[i] = names_add(r->s->names, whole, same + more);
    if (whole != begin)
        arena_drop(r->mem, whole);
}

static bool get_names(struct summary_file_reading *r)
{
    r->n_names = get_count(r);
    r->name = arena_take(r->mem, r->n_names, sizeof *r->name);
    int64_t *shared = scratch_take(&r->scratch, 2 * r->n_names), *rest = shared ? shared + r->n_names : NULL;
    if (!r->name || !shared)
        return error_no_memory(r->e, r->path);
    get_numbers(r, shared, r->n_names, NULL);
    get_numbers(r, rest, r->n_names, NULL);
    for (size_t i = 0; i < r->n_names && !r->is_damaged; i++)
        get_name(r, i, shared[i], rest[i]);
    return true;
}

static bool ascends(const int64_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i] < v[i - 1])
            return false;
    return true;
}

static bool steps_exist(const uint32_t *step, size_t n, size_t n_steps)
{
    for (size_t i = 0; i < n; i++)
        if (step[i] != NO_ROW && step[i] >= n_steps)
            return false;
    return true;
}

/* What the modes rely on. */
static bool is_consistent(const struct rank_summary *s)
{
    const size_t n = s->steps.n;
    return s->sums.n == n + 1 && ascends(s->steps.begin_ns, n) &&
           ascends(s->collectives.ops.begin_ns, s->collectives.ops.n) &&
           ascends(s->marks.marks.begin_ns, s->marks.marks.n) && ascends(s->exposed.begin_ns, s->exposed.n) &&
           ascends(s->mhz, s->n_mhz) && steps_exist(s->collectives.step, s->collectives.ops.n, n) &&
           steps_exist(s->kernels.step, s->kernels.n, n) && steps_exist(s->calls.step, s->calls.n, n) &&
           steps_exist(s->gaps.step, s->gaps.n, n);
}

/* The header at the beginning of n bytes. False: they are something else, of another version, or cut short: e has the
 * reason. */
static bool summary_look(const uint8_t *data, size_t n, const char *path, struct summary_header *out, struct error *e)
{
    if (n < SUMMARY_HEADER || memcmp(data, MAGIC, sizeof MAGIC) != 0)
        return error_set(e, FAULT_FORMAT, "%s: not a summary of a rank", path);
    *out = (struct summary_header){ .version = le32(data + AT_VERSION),
                                    .bytes = le64(data + AT_BYTES),
                                    .rank = (int64_t)le64(data + AT_RANK),
                                    .stamp = le64(data + AT_STAMP),
                                    .source = le64(data + AT_SOURCE),
                                    .exit_code = le32(data + AT_EXIT) };
    if (out->version != SUMMARY_VERSION)
        return error_set(e, FAULT_FORMAT,
                         "%s: a summary of version %u, this ascope reads version %u; make it again with ascope analyse "
                         "--summary",
                         path, out->version, SUMMARY_VERSION);
    if (out->bytes < SUMMARY_HEADER || out->bytes > n)
        return error_set(e, FAULT_FORMAT, "%s: the summary is cut short; make it again with ascope analyse --summary",
                         path);
    const uint64_t raw = le64(data + AT_RAW);
    if (raw > MOST_RAW || raw / MOST_RATIO > out->bytes)
        return error_set(e, FAULT_FORMAT,
                         "%s: the summary claims to contain %llu bytes, which is too large; make it again", path,
                         (unsigned long long)raw);
    return true;
}

static bool read_payload(struct summary_file_reading *r)
{
    get_identity(r);
    if (!get_names(r))
        return false;
    for (size_t i = 0; i < SUMMARY_PARTS && !r->is_damaged; i++)
        if (!get_part(r, &summary_part[i]))
            return false;
    if (!r->is_damaged && !get_runs(r))
        return false;
    if (arena_failed(r->mem) || names_failed(r->s->names))
        return error_no_memory(r->e, r->path);
    return (!r->is_damaged && r->in.at == r->in.size && is_consistent(r->s)) || damaged(r->path, r->e);
}

/* What n bytes unpack to, which has to be `raw` bytes. The buffer grows with what is really there, whatever the header
 * says. NULL: it is not, or there is no memory: *is_damaged says which. */
static uint8_t *unpack(const uint8_t *packed, size_t n, size_t raw, bool *is_damaged)
{
    enum { USUAL_RATIO = 16, LEAST = 1 << 16 };
    size_t room = n < (SIZE_MAX - LEAST) / USUAL_RATIO ? n * USUAL_RATIO + LEAST : raw;
    z_stream z = { .next_in = (z_const Bytef *)packed, .avail_in = (uInt)n };
    uint8_t *to = NULL;
    int state = inflateInit(&z);
    *is_damaged = false;
    if (state != Z_OK)
        return NULL;
    do {
        room = room < raw ? room : raw;
        uint8_t *more = realloc(to, room + 1); /* one byte too many is damage */
        if (!more) {
            state = Z_MEM_ERROR;
            break;
        }
        to = more;
        z.next_out = to + z.total_out;
        z.avail_out = (uInt)(room + 1 - z.total_out);
        state = inflate(&z, Z_NO_FLUSH);
        room *= 2;
    } while (state == Z_OK && z.avail_out == 0 && z.total_out <= raw);
    *is_damaged = state != Z_MEM_ERROR && (state != Z_STREAM_END || z.total_out != raw);
    inflateEnd(&z);
    if (state == Z_MEM_ERROR || *is_damaged) {
        free(to);
        to = NULL;
    }
    return to;
}

bool summary_read(const uint8_t *data, size_t n, const char *path, struct names *names, struct arena *mem,
                  struct rank_summary *out, struct error *e)
{
    struct summary_header h;
    if (!summary_look(data, n, path, &h, e))
        return false;
    const size_t packed = (size_t)h.bytes - SUMMARY_HEADER;
    if (le32(data + AT_CRC) != checksum(data, data + SUMMARY_HEADER, packed))
        return damaged(path, e);
    const size_t raw = (size_t)le64(data + AT_RAW);
    bool is_damaged;
    uint8_t *payload = unpack(data + SUMMARY_HEADER, packed, raw, &is_damaged);
    *out = (struct rank_summary){ .exit_code = (int)h.exit_code, .names = names, .mem = mem };
    struct summary_file_reading r = { .path = path, .s = out, .mem = mem, .e = e };
    bool done = payload != NULL || (is_damaged ? damaged(path, e) : error_no_memory(e, path));
    r.in = (struct bytes){ payload, raw, 0 };
    done = done && read_payload(&r);
    free(r.scratch.at);
    free(payload);
    return done;
}

/* ---- files ---- */

static bool file_map(const char *path, struct mapped *m, struct error *e)
{
    struct stat st;
    int why;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    if (fd < 0)
        return error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
    const bool done = st.st_size > 0 && memory_map(m, fd, (size_t)st.st_size);
    if (!done && st.st_size == 0)
        error_set(e, FAULT_FORMAT, "%s: not a summary of a rank: it is empty", path);
    else if (!done)
        error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(errno));
    close(fd);
    return done;
}

/* The index at the end of a file, with *n_places places; a shard without ranks has none. False: there is no index, or
 * it is damaged. */
static bool index_find(const uint8_t *data, size_t n, const uint8_t **place, size_t *n_places)
{
    enum { TAIL = 24 };
    if (n < TAIL || memcmp(data + n - sizeof INDEX_MAGIC, INDEX_MAGIC, sizeof INDEX_MAGIC) != 0)
        return false;
    const uint64_t count = le64(data + n - TAIL), crc = le64(data + n - TAIL + 8);
    if (count > (n - TAIL) / sizeof(struct summary_place))
        return false;
    const size_t bytes = (size_t)count * sizeof(struct summary_place);
    *place = data + n - TAIL - bytes;
    *n_places = (size_t)count;
    return crc32_z(0, *place, bytes) == crc;
}

static bool walk_index(const uint8_t *place, size_t n, summary_taker *take, void *context)
{
    bool done = true;
    for (size_t i = 0; i < n && done; i++, place += sizeof(struct summary_place)) {
        struct summary_place p;
        memcpy(&p, place, sizeof p);
        const struct summary_header h = {
            .version = SUMMARY_VERSION, .bytes = p.bytes, .rank = p.rank, .stamp = p.stamp
        };
        done = take(context, &h, p.offset);
    }
    return done;
}

bool summary_walk(const char *path, summary_taker *take, void *context, struct error *e)
{
    struct mapped m = { 0 };
    const uint8_t *place;
    if (!file_map(path, &m, e))
        return false;
    const uint8_t *data = m.at;
    size_t n_places;
    const bool has_index = index_find(data, m.bytes, &place, &n_places);
    bool done = !has_index || walk_index(place, n_places, take, context);
    for (size_t at = 0; !has_index && at < m.bytes && done;) {
        struct summary_header h;
        done = summary_look(data + at, m.bytes - at, path, &h, e) && take(context, &h, at);
        at += done ? (size_t)h.bytes : 0;
    }
    memory_unmap(&m);
    return done;
}

bool summary_load(const char *path, uint64_t offset, uint64_t bytes, struct names *names, struct arena *mem,
                  struct rank_summary *out, struct error *e)
{
    struct mapped m = { 0 };
    if (!file_map(path, &m, e))
        return false;
    const bool done =
        offset <= m.bytes && (bytes == 0 || bytes <= m.bytes - offset)
            ? summary_read((const uint8_t *)m.at + offset, m.bytes - (size_t)offset, path, names, mem, out, e)
            : damaged(path, e);
    memory_unmap(&m);
    return done;
}

bool summary_copy(const char *path, uint64_t offset, struct out *o, struct error *e)
{
    struct mapped m = { 0 };
    struct summary_header h;
    if (!file_map(path, &m, e))
        return false;
    const uint8_t *data = m.at;
    const bool done =
        offset <= m.bytes ? summary_look(data + offset, m.bytes - (size_t)offset, path, &h, e) : damaged(path, e);
    if (done)
        out_bytes(o, data + offset, (size_t)h.bytes);
    memory_unmap(&m);
    return done;
}
