/* SPDX-License-Identifier: Apache-2.0 */
#include "export/trace_split.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/memory/columns.h"
#include "base/memory/large_memory.h"
#include "base/memory/parts.h"
#include "base/memory/sort.h"

enum {
    AROUND = 4,             /* bytes of a piece beside its events: "[", "]\n" and a line end */
    CHUNK_EVENTS = 1 << 14, /* a few MB of text, which one thread writes at a time */
    CHUNK_BYTES = 1 << 22,
};

struct trace_split_events {
    size_t n;             /* without metadata events */
    uint64_t *at;         /* offset of the text, in the order of the file */
    uint32_t *len;        /* of the text */
    uint64_t *key;        /* time, as a number that sorts as unsigned */
    uint32_t *by_time;    /* rows of the above in the order of time */
    uint64_t *open, *end; /* the first and the last moment of every flow and slice; each column is sorted by itself */
    size_t n_open;
    size_t n_meta; /* metadata events, which every piece has */
    uint64_t *meta_at;
    uint32_t *meta_len;
    uint64_t meta_bytes;
    unsigned comma; /* bytes between events: 1, or 2 with a line for each */
};

static uint64_t trace_split_key_of(int64_t ns)
{
    return (uint64_t)ns ^ (uint64_t)1 << 63;
}

static bool sort_keys(uint64_t **key, size_t n, struct arena *mem)
{
    uint32_t *order = arena_take(mem, n, sizeof *order);
    uint64_t *sorted = arena_take(mem, n, sizeof *sorted);
    if (!order || !sorted)
        return false;
    order_fill(order, n);
    if (!order_by_u64(order, n, *key))
        return false;
    order_apply(sorted, *key, order, n, sizeof *sorted);
    arena_drop(mem, order);
    arena_drop(mem, *key);
    *key = sorted;
    return true;
}

/* Flow events with the number of their flow. A flow is open from its first event to its last one. */
struct flow_ends {
    size_t n;
    uint64_t *flow, *key;
};

static bool flows_add(struct trace_split_events *v, const struct flow_ends *f, struct arena *mem)
{
    uint32_t *order = arena_take(mem, f->n, sizeof *order);
    if (!order)
        return false;
    order_fill(order, f->n);
    if (!order_by_u64(order, f->n, f->key) || !order_by_u64(order, f->n, f->flow))
        return false;
    for (size_t i = 0, next; i < f->n; i = next) {
        for (next = i + 1; next < f->n && f->flow[order[next]] == f->flow[order[i]];)
            next++;
        v->open[v->n_open] = f->key[order[i]];
        v->end[v->n_open++] = f->key[order[next - 1]];
    }
    arena_drop(mem, order);
    return true;
}

static bool events_take(struct trace_split_events *v, struct flow_ends *f, const struct trace_scan *whole,
                        struct arena *mem)
{
    struct trace_scan s = *whole;
    struct trace_event ev;
    size_t n_slices = 0;
    while (trace_scan_next(&s, &ev)) {
        v->n += ev.phase != 'M';
        v->n_meta += ev.phase == 'M';
        f->n += ev.flow != 0;
        n_slices += ev.dur_ns > 0;
    }
    arena_columns(mem, v->n, v->at, v->len, v->key, v->by_time);
    v->meta_at = arena_take(mem, v->n_meta, sizeof *v->meta_at);
    v->meta_len = arena_take(mem, v->n_meta, sizeof *v->meta_len);
    v->open = arena_take(mem, f->n + n_slices, sizeof *v->open);
    v->end = arena_take(mem, f->n + n_slices, sizeof *v->end);
    f->flow = arena_take(mem, f->n, sizeof *f->flow);
    f->key = arena_take(mem, f->n, sizeof *f->key);
    return v->n <= UINT32_MAX && f->n + n_slices <= UINT32_MAX && !arena_failed(mem);
}

static bool events_find(struct trace_split_events *v, const struct trace_scan *whole, struct arena *mem)
{
    struct flow_ends f = { 0 };
    struct trace_scan s = *whole;
    struct trace_event ev;
    if (!events_take(v, &f, whole, mem))
        return false;
    v->comma = whole->size > 1 && whole->text[1] == '\n' ? 2 : 1;
    size_t row = 0, meta = 0, end = 0;
    while (trace_scan_next(&s, &ev)) {
        if (ev.phase == 'M') {
            v->meta_at[meta] = ev.at;
            v->meta_len[meta++] = (uint32_t)ev.len;
            v->meta_bytes += ev.len + v->comma;
            continue;
        }
        v->at[row] = ev.at;
        v->len[row] = (uint32_t)ev.len;
        v->key[row++] = trace_split_key_of(ev.ns);
        if (ev.flow) {
            f.flow[end] = ev.flow;
            f.key[end++] = trace_split_key_of(ev.ns);
        }
        if (ev.dur_ns > 0) {
            v->open[v->n_open] = trace_split_key_of(ev.ns);
            int64_t end_ns;
            v->end[v->n_open++] =
                trace_split_key_of(__builtin_add_overflow(ev.ns, ev.dur_ns - 1, &end_ns) ? INT64_MAX : end_ns);
        }
    }
    order_fill(v->by_time, v->n);
    return order_by_u64(v->by_time, v->n, v->key) && flows_add(v, &f, mem) && sort_keys(&v->open, v->n_open, mem) &&
           sort_keys(&v->end, v->n_open, mem);
}

/* How many flows and slices are open at a cut before this moment. */
static size_t crossing(const struct trace_split_events *v, uint64_t key)
{
    return order_first_u64(NULL, v->n_open, v->open, key) - order_first_u64(NULL, v->n_open, v->end, key);
}

static bool is_border(const struct trace_split_events *v, size_t i)
{
    return i >= v->n || v->key[v->by_time[i]] != v->key[v->by_time[i - 1]];
}

/* Where the piece ends that begins at position `first` of by_time and may have `budget` bytes. */
static size_t piece_end(const struct trace_split_events *v, size_t first, uint64_t budget)
{
    uint64_t bytes = 0;
    size_t most = first, early = first;
    for (; most < v->n && bytes + v->len[v->by_time[most]] + v->comma <= budget; most++) {
        bytes += v->len[v->by_time[most]] + v->comma;
        if (bytes < budget - budget / 10)
            early = most;
    }
    if (most >= v->n)
        return v->n;
    size_t best = 0, least = SIZE_MAX;
    for (size_t i = most; i > first && (i > early || best == 0); i--) {
        const size_t n = is_border(v, i) ? crossing(v, v->key[v->by_time[i]]) : SIZE_MAX;
        if (n < least) {
            least = n;
            best = i;
        }
    }
    if (best == 0) /* events of one moment stay together: the piece becomes larger than it should be */
        for (best = most + 1; !is_border(v, best);)
            best++;
    return best;
}

struct piece_job {
    const struct trace_scan *whole;
    const struct trace_split_events *v;
    const uint32_t *row; /* of the piece, in the order of the file */
    size_t n, n_chunks;
};

static void put_event(const struct piece_job *j, struct out *o, uint64_t at, uint32_t len, bool is_first)
{
    if (!is_first)
        out_char(o, ',');
    if (j->v->comma == 2)
        out_char(o, '\n');
    out_bytes(o, j->whole->text + at, len);
}

static void put_chunk(void *context, size_t i, struct out *o)
{
    const struct piece_job *j = context;
    const struct trace_split_events *v = j->v;
    const size_t first = i * CHUNK_EVENTS, end = first + CHUNK_EVENTS < j->n ? first + CHUNK_EVENTS : j->n;
    if (i == 0) {
        out_char(o, '[');
        for (size_t k = 0; k < v->n_meta; k++)
            put_event(j, o, v->meta_at[k], v->meta_len[k], k == 0);
    }
    for (size_t k = first; k < end; k++)
        put_event(j, o, v->at[j->row[k]], v->len[j->row[k]], k == 0 && v->n_meta == 0);
    if (i + 1 < j->n_chunks)
        return;
    if (v->comma == 2)
        out_char(o, '\n');
    out_lit(o, "]\n");
}

static bool piece_write(struct trace_split *s, const struct piece_job *piece, const char *path, struct error *e)
{
    struct trace_piece *p = list_add(&s->pieces, s->mem);
    struct piece_job j = *piece;
    struct out o;
    if (!p || !path)
        return error_no_memory(e, s->before);
    *p = (struct trace_piece){ .path = path, .n_events = j.n, .n_text = AROUND + j.v->meta_bytes };
    for (size_t i = 0; i < j.n; i++)
        p->n_text += j.v->len[j.row[i]] + j.v->comma;
    if (!(s->is_named ? out_open_named : out_open)(&o, path, e)) {
        s->pieces.n--;
        return false;
    }
    j.n_chunks = j.n == 0 ? 1 : (j.n + CHUNK_EVENTS - 1) / CHUNK_EVENTS;
    parts_write(&o, &(struct parts_job){ j.n_chunks, put_chunk, &j, s->n_threads, s->gzips });
    const bool done = out_close(&o, e);
    s->pieces.n -= !done;
    return done;
}

/* Fills `row` piece by piece; the rows of a piece are in the order of the file. */
static bool rows_of_pieces(const struct trace_split_events *v, const size_t *end, uint32_t *row, struct arena *mem)
{
    uint32_t *piece = arena_take(mem, v->n, sizeof *piece);
    if (!piece)
        return false;
    for (size_t i = 0, k = 0; i < v->n; i++) {
        k += i >= end[k];
        piece[v->by_time[i]] = (uint32_t)k;
    }
    order_fill(row, v->n);
    return order_by_u32(row, v->n, piece);
}

static bool split(struct trace_split *s, const struct trace_scan *whole, struct arena *mem, struct error *e)
{
    struct trace_split_events v = { 0 };
    LIST(size_t) ends = { 0 };
    if (!events_find(&v, whole, mem))
        return error_no_memory(e, s->before);
    if (v.meta_bytes + AROUND > s->max_bytes / 2)
        return error_set(e, FAULT_ASKED,
                         "%s%s: names of processes and threads take %llu bytes in every part; give --max-size at least "
                         "twice as much",
                         s->before, s->after, (unsigned long long)v.meta_bytes);
    const uint64_t budget = s->max_bytes - v.meta_bytes - AROUND;
    for (size_t at = 0; at < v.n || ends.n == 0;) {
        size_t *end = list_add(&ends, mem);
        if (!end)
            return error_no_memory(e, s->before);
        *end = at = piece_end(&v, at, budget);
    }
    uint32_t *row = arena_take(mem, v.n, sizeof *row);
    if (!row || !rows_of_pieces(&v, ends.at, row, mem))
        return error_no_memory(e, s->before);
    for (size_t k = 0; k < ends.n; k++) {
        const size_t first = k > 0 ? ends.at[k - 1] : 0;
        const struct piece_job j = { .whole = whole, .v = &v, .row = row + first, .n = ends.at[k] - first };
        const char *path = ends.n == 1 ? arena_printf(s->mem, "%s%s", s->before, s->after)
                                       : arena_printf(s->mem, "%s_slice_%zu%s", s->before, k, s->after);
        if (!piece_write(s, &j, path, e)) {
            while (s->pieces.n > 0) /* nobody could see that some pieces are missing */
                inside_remove(s->pieces.at[--s->pieces.n].path, 0);
            return false;
        }
    }
    return true;
}

static void put_bytes(void *context, size_t i, struct out *o)
{
    const struct trace_scan *whole = context;
    const size_t at = i * CHUNK_BYTES, left = whole->size - at;
    out_bytes(o, whole->text + at, left < CHUNK_BYTES ? left : CHUNK_BYTES);
}

/* Writes the whole text as one compressed piece. */
static bool pack(struct trace_split *s, struct trace_scan *whole, struct error *e)
{
    struct trace_piece *p = list_add(&s->pieces, s->mem);
    const char *path = arena_printf(s->mem, "%s%s", s->before, s->after);
    struct out o;
    if (!p || !path)
        return error_no_memory(e, s->before);
    *p = (struct trace_piece){ .path = path, .n_text = whole->size };
    if (!(s->is_named ? out_open_named : out_open)(&o, path, e))
        return false;
    const size_t n_chunks = (whole->size + CHUNK_BYTES - 1) / CHUNK_BYTES;
    parts_write(&o, &(struct parts_job){ n_chunks, put_bytes, whole, s->n_threads, true });
    return out_close(&o, e);
}

/* The file that was written is the only piece. */
static bool trace_split_keep(struct trace_split *s, struct out *whole, struct error *e)
{
    struct trace_piece *p = list_add(&s->pieces, s->mem);
    const char *path = arena_printf(s->mem, "%s%s", s->before, s->after);
    if (!p || !path) {
        out_discard(whole);
        return error_no_memory(e, s->before);
    }
    *p = (struct trace_piece){ .path = path, .n_text = whole->written + whole->n };
    return out_close(whole, e);
}

bool trace_split(struct trace_split *s, struct out *whole, struct error *e)
{
    const uint64_t bytes = whole->written + whole->n;
    if (!s->gzips && (s->max_bytes == 0 || bytes <= s->max_bytes))
        return trace_split_keep(s, whole, e);
    struct arena *mem = arena_new();
    struct mapped map = { 0 };
    bool done = mem || error_no_memory(e, s->before);
    if (done && !out_map(whole, &map)) {
        const int why = whole->failed_errno ? whole->failed_errno : errno;
        done = error_set(e, FAULT_IO, "%s%s: cannot be written: %s", s->before, s->after, write_trouble(why));
    }
    struct trace_scan text = { .text = map.at, .size = map.bytes };
    const bool fits = s->max_bytes == 0 || bytes <= s->max_bytes;
    done = done && (fits ? pack(s, &text, e) : split(s, &text, mem, e));
    memory_unmap(&map);
    out_discard(whole);
    arena_free(mem);
    return done;
}

static bool is_regular(const char *path)
{
    struct stat st;
    return path && inside_stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

void trace_split_sweep(const struct trace_split *s)
{
    const bool is_cut = s->pieces.n > 1;
    const char *whole = arena_printf(s->mem, "%s%s", s->before, s->after), *piece;
    if (is_cut && is_regular(whole))
        inside_remove(whole, 0);
    if (!is_cut && !is_regular(whole))
        return; /* standard output, a device or a link: files with such names beside it are not from an export */
    for (size_t k = is_cut ? s->pieces.n : 0;; k++)
        if (!is_regular(piece = arena_printf(s->mem, "%s_slice_%zu%s", s->before, k, s->after)) ||
            inside_remove(piece, 0) != 0)
            return;
}

const char *trace_size_advice(uint64_t n_text)
{
    enum { STRING_MOST = 0x1fffffe8 }; /* characters that a string of the browsers' JavaScript engine can have */
#define BROWSERS                                                                                                       \
    "viewers that parse it as one text (chrome://tracing, TensorBoard, speedscope) give up at 512 MiB, and "           \
    "Perfetto in a browser has about 2 GB of memory"
    return n_text <= STRING_MOST    ? NULL
           : n_text <= INSIGHT_MOST ? BROWSERS
                                    : BROWSERS "; MindStudio Insight opens files of at most 20 GiB";
}
