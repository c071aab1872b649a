/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/records.h"

#include <string.h>

#include "base/process/progress.h"
#include "raw/family.h"

/* Slices with consecutive numbers: 3, 4, 5 and 7, 8 are two segments. Slice 6 is missing, so that the second may begin
 * inside a record; so may what is behind a hole. */
struct records_segment {
    const struct slice *slice;
    size_t n;
};

static struct records_segment next_segment(const struct stream *stream, size_t first)
{
    size_t n = 1;
    for (const struct slice *s = &stream->slice[first]; first + n < stream->n_slices; s++, n++)
        if (s->ends_in_hole || s[1].from > 0 || s[1].number != s->number + 1)
            break;
    return (struct records_segment){ &stream->slice[first], n };
}

static size_t segment_bytes(struct records_segment g)
{
    size_t bytes = 0;
    for (size_t i = 0; i < g.n; i++)
        bytes += g.slice[i].size;
    return bytes;
}

/* Records on their way into columns, in batches that stay in the cache while every field passes over them. */
enum { BATCH = 1024 };

struct gather {
    struct source *source;
    const struct layout *layout;
    struct arena *mem; /* of the columns */
    struct records *out;
    bool counts; /* false: an earlier reader has counted the damage of this stream */
    size_t n;    /* in the batch */
    const uint8_t *rec[BATCH];
    uint64_t n_others;
    const char *first_other;
    uint64_t first_other_at;
};

static void decode_batch(struct gather *g)
{
    struct records *out = g->out;
    for (unsigned f = 0; f < g->layout->n; f++) {
        const struct field *field = &g->layout->field[f];
        layout_decode(field, g->rec, g->n, (uint8_t *)out->column[f] + out->n * field->width);
    }
    if (out->rest)
        memcpy(out->rest + out->n, g->rec, g->n * sizeof *out->rest);
    out->n += g->n;
    g->n = 0;
}

static void gather_one(struct gather *g, const uint8_t *rec, const char *file, uint64_t offset)
{
    if (!match_holds(&g->layout->magic, rec)) {
        losses_add(&g->source->lost, LOSS_BAD_MAGIC, g->counts, file, offset);
    } else if (!match_holds(&g->layout->kind, rec)) {
        if (g->n_others++ == 0) {
            g->first_other = file;
            g->first_other_at = offset;
        }
    } else {
        g->rec[g->n++] = rec;
        if (g->n == BATCH)
            decode_batch(g);
    }
}

/* Copies a record that begins in one slice and ends in a later one. NULL: no memory. */
static const uint8_t *join(struct gather *g, struct records_segment seg, size_t slice, size_t at)
{
    uint8_t *rec = arena_take(g->source->mem, 1, g->layout->size);
    for (size_t have = 0; rec && have < g->layout->size; slice++, at = 0) {
        const size_t left = seg.slice[slice].size - at, want = g->layout->size - have;
        const size_t take = left < want ? left : want;
        if (take > 0)
            memcpy(rec + have, seg.slice[slice].data + at, take);
        have += take;
    }
    return rec;
}

/* How many of the first records begin as they must if they are `stride` bytes apart; *n: of how many. */
static size_t fits(const struct layout *l, const struct slice *s, size_t stride, size_t *n)
{
    enum { PROBED = 8 };
    size_t good = 0;
    *n = 0;
    for (size_t at = 0; *n < PROBED && at <= s->size && s->size - at >= l->size; at += stride, ++*n)
        good += l->size_field.width ? field_get(&l->size_field, s->data + at) == stride
                                    : match_holds(&l->magic, s->data + at);
    return good;
}

/* Finds the distance of records, which may be longer than the layout if a newer collector wrote them: by the size that
 * they store, or by the magic number of the next one. To rule out damage, several must agree, and none may begin at the
 * distance of the layout. */
static size_t stride_of(const struct layout *l, struct records_segment seg)
{
    enum { GROWTH = 8, LONGEST = 4 };
    const struct slice *s = &seg.slice[0];
    size_t n, n_long;
    const size_t good = fits(l, s, l->size, &n);
    if ((l->size_field.width == 0 && l->magic.width == 0) || s->number > 0 || s->from > 0 || good == n)
        return l->size;
    for (size_t stride = l->size + GROWTH; stride <= (size_t)l->size * LONGEST; stride += GROWTH) {
        size_t shared = 0; /* places where records of both distances begin */
        for (size_t i = 0; i < n; i++)
            shared += i * l->size % stride == 0;
        if (good <= shared && fits(l, s, stride, &n_long) == n_long && n_long > 2)
            return stride;
    }
    return l->size;
}

/* All bytes of a segment, in one piece. NULL: no memory. */
static const uint8_t *segment_joined(struct gather *g, struct records_segment seg)
{
    if (seg.n == 1)
        return seg.slice[0].data;
    uint8_t *all = arena_take(g->source->mem, segment_bytes(seg), 1);
    for (size_t i = 0, at = 0; all && i < seg.n; at += seg.slice[i++].size)
        if (seg.slice[i].size > 0)
            memcpy(all + at, seg.slice[i].data, seg.slice[i].size);
    return all;
}

/* Records of several lengths, each of which stores its own. After an invalid length, the next valid one is searched
 * for. */
static bool gather_mixed(struct gather *g, struct records_segment seg)
{
    enum { HEAD = 8, LONGEST = 512 };
    const struct layout *l = g->layout;
    const size_t bytes = segment_bytes(seg);
    const char *file = seg.slice[0].name;
    const uint8_t *all = segment_joined(g, seg);
    bool is_lost = false;
    size_t at = 0, size;
    for (; all && bytes - at >= HEAD; at += size) {
        size = field_get(&l->size_field, all + at);
        const bool is_one = size >= HEAD && size <= LONGEST && size % HEAD == 0;
        losses_add(&g->source->lost, LOSS_BAD_VALUE, !is_one && !is_lost && g->counts, file, at);
        is_lost = !is_one;
        if (!is_one)
            size = HEAD;
        else if (size > bytes - at)
            break;
        else if (size >= l->size)
            gather_one(g, all + at, file, seg.slice[0].from + at);
        else
            g->n_others++;
    }
    losses_add(&g->source->lost, LOSS_CUT_SHORT, all && at < bytes && g->counts, file, at);
    return all != NULL;
}

static bool gather_segment(struct gather *g, struct records_segment seg)
{
    if (g->layout->size_field.width && g->source->chip && g->source->chip->tracks_tasks)
        return gather_mixed(g, seg);
    const size_t size = stride_of(g->layout, seg), whole = segment_bytes(seg), behind = seg.slice[0].from % size;
    size_t slice = 0, at = behind > 0 ? size - behind : 0; /* the rest of a record that began in a hole */
    if (at >= whole) {
        losses_add(&g->source->lost, LOSS_CUT_SHORT, g->counts, seg.slice[0].name, seg.slice[0].from);
        return true;
    }
    losses_add(&g->source->lost, LOSS_CUT_SHORT, at > 0 && g->counts, seg.slice[0].name, seg.slice[0].from);
    const size_t bytes = whole - at, odd = bytes % size;
    size_t n = bytes / size;
    /* Old slices may have been deleted to save space: then the first record is the one that is cut. */
    const bool is_aged = seg.slice[0].number > 0 && seg.slice[0].from == 0 && !seg.slice[seg.n - 1].ends_in_hole;
    if (odd > 0) {
        const struct slice *where = is_aged ? &seg.slice[0] : &seg.slice[seg.n - 1];
        losses_add(&g->source->lost, LOSS_CUT_SHORT, g->counts, where->name,
                   is_aged ? 0 : where->from + where->size - (odd < where->size ? odd : where->size));
        at = is_aged ? odd : at;
    }
    losses_add(&g->source->lost, LOSS_NEWER, size > g->layout->size && g->counts ? n : 0, seg.slice[0].name, 0);
    for (; n > 0; n--) {
        while (at >= seg.slice[slice].size) {
            at -= seg.slice[slice].size;
            slice++;
        }
        const struct slice *s = &seg.slice[slice];
        const uint8_t *rec = s->data + at;
        if (g->layout->size > s->size - at && !(rec = join(g, seg, slice, at)))
            return false;
        gather_one(g, rec, s->name, s->from + at);
        at += size;
    }
    return true;
}

static bool gather_stream(struct gather *g, struct stream *stream)
{
    const size_t n_before = g->out->n;
    const uint64_t others_before = g->n_others;
    g->counts = !stream->is_checked;
    for (size_t i = 0; i < stream->n_slices;) {
        const struct records_segment seg = next_segment(stream, i);
        if (g->counts && i > 0)
            losses_add(&g->source->lost, LOSS_MISSING_SLICE,
                       slices_missing(stream->slice[i - 1].number, seg.slice[0].number), seg.slice[0].name, 0);
        if (segment_bytes(seg) > 0 && !gather_segment(g, seg))
            return false;
        i += seg.n;
    }
    decode_batch(g);
    const size_t n_read = g->out->n - n_before;
    if (g->counts)
        stream->n_unread = (size_t)(g->n_others - others_before);
    else
        stream->n_unread -= n_read < stream->n_unread ? n_read : stream->n_unread;
    stream->is_checked = true;
    return true;
}

/* Allocates columns for the largest possible number of rows: rows that are not filled cost address space, but no
 * memory. */
static bool take_columns(struct gather *g, size_t most)
{
    struct records *out = g->out;
    for (unsigned f = 0; f < g->layout->n; f++)
        out->column[f] = arena_take(g->mem, most, g->layout->field[f].width);
    if (g->layout->keeps_rest)
        out->rest = arena_take(g->mem, most, sizeof *out->rest);
    return !arena_failed(g->mem);
}

/* If several kinds of records share a stream, the columns were allocated for many more rows than there are. */
static void trim_columns(struct gather *g)
{
    struct records *out = g->out;
    for (unsigned f = 0; f < g->layout->n; f++)
        out->column[f] = arena_trim(g->mem, out->column[f], out->n, g->layout->field[f].width);
    if (out->rest)
        out->rest = arena_trim(g->mem, out->rest, out->n, sizeof *out->rest);
}

bool records_load(struct source *s, struct arena *mem, const char *family, const struct layout *l, bool others_expected,
                  struct records *out, struct error *e)
{
    *out = (struct records){ 0 };
    size_t n_streams, bytes = 0;
    const struct stream *first = source_streams(s, family, &n_streams);
    struct stream *stream = first ? &s->stream[first - s->stream] : NULL;
    for (size_t i = 0; i < n_streams; i++) {
        stream[i].is_opened = true;
        for (size_t k = 0; k < stream[i].n_slices; k++)
            bytes += stream[i].slice[k].size;
    }
    struct gather g = { .source = s, .layout = l, .mem = mem, .out = out };
    bool done = take_columns(&g, bytes / l->size);
    for (size_t i = 0; i < n_streams && done; i++) {
        done = gather_stream(&g, &stream[i]);
        for (size_t k = 0; k < stream[i].n_slices; k++)
            progress_work(stream[i].slice[k].size);
        if (stream[i].is_unaging)
            out->n_unaging = out->n;
    }
    if (done)
        trim_columns(&g);
    if (!others_expected) {
        losses_add(&s->lost, LOSS_OTHER_KIND, g.n_others, g.first_other, g.first_other_at);
        for (size_t i = 0; i < n_streams; i++)
            stream[i].n_unread = 0;
    }
    return done || error_no_memory(e, s->path);
}
