/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/summary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/keys.h"
#include "base/large_memory.h"
#include "base/stamp.h"
#include "cluster/rank_columns.h"
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

struct writing {
    struct out body;
    const struct rank_summary *s;
    struct keys names; /* ids in the order of their use: a name is its place here */
    struct arena *mem;
    bool failed;
};

static void put_varint(struct out *o, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    out_short(o, bytes, n);
}

static uint64_t zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static void put_signed(struct out *o, int64_t v)
{
    put_varint(o, zigzag(v));
}

static void put_name(struct writing *w, name_id name)
{
    const uint32_t at = keys_add(&w->names, name, w->mem);
    w->failed |= at == KEYS_NO_MEMORY;
    put_varint(&w->body, at);
}

static void put_text(struct out *o, const char *text)
{
    put_varint(o, text ? strlen(text) + 1 : 0);
    if (text)
        out_bytes(o, text, strlen(text));
}

/* Most numbers have at most 3 or 6 decimals: they are written as whole numbers of that unit, the others as they are. */
static const double unit[] = { 1, 1e3, 1e6 };
enum { UNITS = sizeof unit / sizeof *unit, UNIT_BITS = 2, AS_IT_IS = UNITS };

static void put_real(struct out *o, double v)
{
    for (uint64_t i = 0; i < UNITS; i++) {
        const double whole = nearbyint(v * unit[i]);
        if (fabs(whole) < 1e15 && whole / unit[i] == v && !(v == 0 && signbit(v))) {
            put_varint(o, zigzag((int64_t)whole) << UNIT_BITS | i);
            return;
        }
    }
    put_varint(o, AS_IT_IS);
    out_short(o, &v, sizeof v);
}

static void put_column(struct writing *w, const void *column, size_t n, enum column_kind kind)
{
    struct out *o = &w->body;
    int64_t before = 0;
    for (size_t i = 0; i < n; i++)
        switch (kind) {
        case COLUMN_NAME: put_name(w, ((const name_id *)column)[i]); break;
        case COLUMN_U8: out_char(o, (char)((const uint8_t *)column)[i]); break;
        case COLUMN_U32: put_varint(o, ((const uint32_t *)column)[i] + 1); break;
        case COLUMN_U64:
        case COLUMN_I64:
            put_signed(o, wrap_sub(((const int64_t *)column)[i], before));
            before = ((const int64_t *)column)[i];
            break;
        case COLUMN_SMALL: put_signed(o, ((const int64_t *)column)[i]); break;
        case COLUMN_REAL: put_real(o, ((const double *)column)[i]); break;
        case COLUMN_ENUM: put_varint(o, ((const enum gap_reason *)column)[i]); break;
        case COLUMN_KINDS: break;
        }
}

static void put_part(struct writing *w, const struct part_row *p)
{
    const char *part = (const char *)w->s + p->at;
    size_t n;
    memcpy(&n, part, sizeof n);
    put_varint(&w->body, n);
    for (size_t i = 0; i < p->n_columns; i++) {
        const void *column;
        memcpy(&column, part + p->column[i].at, sizeof column);
        put_varint(&w->body, column != NULL); /* one that nobody has filled */
        if (column)
            put_column(w, column, n, p->column[i].kind);
    }
}

static void put_runs(struct writing *w)
{
    const struct summary_runs *k = &w->s->kernels;
    for (size_t i = 0; i < k->n; i++) {
        put_varint(&w->body, k->first[i + 1] - k->first[i]);
        int64_t before = 0;
        for (size_t at = k->first[i]; at < k->first[i + 1]; at++) {
            put_varint(&w->body, (uint64_t)wrap_sub(k->ns[at], before));
            before = k->ns[at];
        }
    }
}

static void put_identity(struct out *o, const struct rank_summary *s)
{
    const struct rank_identity *id = &s->identity;
    const char *const text[] = { id->path,   id->host_uid, id->host_name, id->distributed_args, id->parallel_group_info,
                                 id->pp_info };
    put_varint(o, (uint64_t)id->has_rank | (uint64_t)id->has_device << 1 | (uint64_t)id->is_simulated << 2);
    put_signed(o, id->rank);
    put_signed(o, id->device);
    put_varint(o, (uint64_t)id->framework);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        put_text(o, text[i]);
    for (size_t i = 0; i < LOSS_KINDS; i++)
        put_varint(o, id->lost.by[i].n);
    put_varint(o, s->has);
}

/* Identity and names in front of the columns, which use them. */
static void put_payload(struct writing *w, struct out *o)
{
    put_identity(o, w->s);
    put_varint(o, w->names.key.n);
    for (size_t i = 0; i < w->names.key.n; i++) {
        const name_id name = (name_id)w->names.key.at[i];
        put_varint(o, names_len(w->s->names, name));
        out_bytes(o, names_text(w->s->names, name), names_len(w->s->names, name));
    }
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
    const bool done = buffer && compress2(buffer, &packed, (const uint8_t *)raw->buf, raw->n, 6) == Z_OK;
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
    arena_free(w.mem);
    return done;
}

bool summary_save(const struct rank_summary *s, uint64_t stamp, uint64_t source, const char *path, struct error *e)
{
    struct out o;
    if (!out_open(&o, path, e))
        return false;
    if (summary_write(s, stamp, source, &o, e))
        return out_close(&o, e);
    out_discard(&o);
    return false;
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

struct reading {
    struct bytes in;
    const char *path;
    struct rank_summary *s;
    name_id *name;
    size_t n_names;
    struct arena *mem;
    struct error *e;
    bool is_damaged;
};

static bool damaged(const char *path, struct error *e)
{
    return error_set(e, FAULT_FORMAT, "%s: the summary is damaged; make it again with ascope analyse --summary", path);
}

static uint64_t get_varint(struct reading *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *p = bytes_take(&r->in, 1);
        if (!p)
            break;
        v |= (uint64_t)(*p & 0x7F) << shift;
        if (!(*p & 0x80))
            return v;
    }
    r->is_damaged = true;
    return 0;
}

static int64_t get_signed(struct reading *r)
{
    const uint64_t v = get_varint(r);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* A number of things that take at least a byte each. */
static size_t get_count(struct reading *r)
{
    const uint64_t n = get_varint(r);
    if (n > r->in.size - r->in.at)
        r->is_damaged = true;
    return r->is_damaged ? 0 : (size_t)n;
}

static name_id get_name(struct reading *r)
{
    const uint64_t at = get_varint(r);
    if (at >= r->n_names) {
        r->is_damaged = true;
        return NAME_EMPTY;
    }
    return r->name[at];
}

static const char *get_text(struct reading *r)
{
    const size_t n = get_count(r);
    const uint8_t *text = n > 0 ? bytes_take(&r->in, n - 1) : NULL;
    if (!text)
        return NULL;
    return arena_text(r->mem, (const char *)text, n - 1);
}

static double get_real(struct reading *r)
{
    const uint64_t v = get_varint(r), kind = v & ((1 << UNIT_BITS) - 1), whole = v >> UNIT_BITS;
    if (kind < UNITS)
        return (double)(int64_t)(whole >> 1 ^ (0 - (whole & 1))) / unit[kind];
    const uint8_t *p = bytes_take(&r->in, sizeof(double));
    r->is_damaged |= !p;
    return p ? le_f64(p) : 0;
}

static void get_column(struct reading *r, void *column, size_t n, enum column_kind kind)
{
    int64_t before = 0;
    for (size_t i = 0; i < n && !r->is_damaged; i++)
        switch (kind) {
        case COLUMN_NAME: ((name_id *)column)[i] = get_name(r); break;
        case COLUMN_U8: {
            const uint8_t *p = bytes_take(&r->in, 1);
            r->is_damaged |= !p;
            ((uint8_t *)column)[i] = p ? *p : 0;
            break;
        }
        case COLUMN_U32: ((uint32_t *)column)[i] = (uint32_t)get_varint(r) - 1; break;
        case COLUMN_U64:
        case COLUMN_I64: ((int64_t *)column)[i] = before = wrap_add(before, get_signed(r)); break;
        case COLUMN_SMALL: ((int64_t *)column)[i] = get_signed(r); break;
        case COLUMN_REAL: ((double *)column)[i] = get_real(r); break;
        case COLUMN_ENUM: {
            const uint64_t v = get_varint(r);
            r->is_damaged |= v > GAP_LAUNCH;
            ((enum gap_reason *)column)[i] = (enum gap_reason)(v > GAP_LAUNCH ? 0 : v);
            break;
        }
        case COLUMN_KINDS: break;
        }
}

static bool get_part(struct reading *r, const struct part_row *p)
{
    char *part = (char *)r->s + p->at;
    const size_t n = get_count(r);
    memcpy(part, &n, sizeof n);
    for (size_t i = 0; i < p->n_columns && !r->is_damaged; i++) {
        const bool is_there = get_varint(r) == 1;
        void *column = arena_take(r->mem, n, column_bytes[p->column[i].kind]);
        if (!column)
            return error_no_memory(r->e, r->path);
        memcpy(part + p->column[i].at, &column, sizeof column);
        if (is_there)
            get_column(r, column, n, p->column[i].kind);
    }
    return true;
}

static bool get_runs(struct reading *r)
{
    struct summary_runs *k = &r->s->kernels;
    const size_t most = r->in.size - r->in.at;
    size_t n = 0;
    k->first = arena_take(r->mem, k->n + 1, sizeof *k->first);
    k->ns = arena_take(r->mem, most, sizeof *k->ns);
    if (!k->first || !k->ns)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < k->n && !r->is_damaged; i++) {
        const size_t count = get_count(r);
        int64_t before = 0;
        k->first[i] = n;
        for (size_t at = 0; at < count && !r->is_damaged; at++) {
            before = wrap_add(before, (int64_t)get_varint(r));
            r->is_damaged |= n >= most || (at > 0 && before < k->ns[n - 1]);
            if (!r->is_damaged)
                k->ns[n++] = before;
        }
    }
    k->first[k->n] = n;
    k->ns = arena_trim(r->mem, k->ns, n, sizeof *k->ns);
    return true;
}

static void get_identity(struct reading *r)
{
    struct rank_identity *id = &r->s->identity;
    const char **const text[] = {
        &id->path, &id->host_uid, &id->host_name, &id->distributed_args, &id->parallel_group_info, &id->pp_info
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

static bool get_names(struct reading *r)
{
    r->n_names = get_count(r);
    r->name = arena_take(r->mem, r->n_names, sizeof *r->name);
    if (!r->name)
        return error_no_memory(r->e, r->path);
    for (size_t i = 0; i < r->n_names && !r->is_damaged; i++) {
        const size_t n = get_count(r);
        const uint8_t *text = bytes_take(&r->in, n);
        r->is_damaged |= !text;
        if (text)
            r->name[i] = names_add(r->s->names, (const char *)text, n);
    }
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

bool summary_look(const uint8_t *data, size_t n, const char *path, struct summary_header *out, struct error *e)
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
                         "%s: the summary says that it holds %llu bytes, which is too large; make it again", path,
                         (unsigned long long)raw);
    return true;
}

static bool read_payload(struct reading *r)
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

bool summary_read(const uint8_t *data, size_t n, const char *path, struct names *names, struct arena *mem,
                  struct rank_summary *out, struct error *e)
{
    struct summary_header h;
    if (!summary_look(data, n, path, &h, e))
        return false;
    const size_t packed = (size_t)h.bytes - SUMMARY_HEADER;
    if (le32(data + AT_CRC) != checksum(data, data + SUMMARY_HEADER, packed))
        return damaged(path, e);
    uLongf raw = le64(data + AT_RAW);
    uint8_t *payload = malloc(raw + 1);
    *out = (struct rank_summary){ .exit_code = (int)h.exit_code, .names = names, .mem = mem };
    struct reading r = { .path = path, .s = out, .mem = mem, .e = e };
    bool done = payload != NULL || error_no_memory(e, path);
    if (done && (uncompress(payload, &raw, data + SUMMARY_HEADER, packed) != Z_OK || raw != le64(data + AT_RAW)))
        done = damaged(path, e);
    r.in = (struct bytes){ payload, raw, 0 };
    done = done && read_payload(&r);
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

/* The index at the end of a file: how many places it has. 0: there is none, or it is damaged. */
static size_t index_find(const uint8_t *data, size_t n, const uint8_t **place)
{
    enum { TAIL = 24 };
    if (n < TAIL || memcmp(data + n - sizeof INDEX_MAGIC, INDEX_MAGIC, sizeof INDEX_MAGIC) != 0)
        return 0;
    const uint64_t count = le64(data + n - TAIL), crc = le64(data + n - TAIL + 8);
    if (count > (n - TAIL) / sizeof(struct summary_place))
        return 0;
    const size_t bytes = (size_t)count * sizeof(struct summary_place);
    *place = data + n - TAIL - bytes;
    return crc32_z(0, *place, bytes) == crc ? (size_t)count : 0;
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
    const size_t n_places = index_find(data, m.bytes, &place);
    bool done = n_places == 0 || walk_index(place, n_places, take, context);
    for (size_t at = 0; n_places == 0 && at < m.bytes && done;) {
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
