/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/trace_readers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/files/bytes.h"
#include "base/files/out.h"
#include "base/memory/arena.h"
#include "base/memory/keys.h"
#include "base/memory/large_memory.h"
#include "base/process/progress.h"
#include "raw/pftrace_fields.h"

enum {
    BATCH_MOST = 64 << 20, /* bytes of a compressed packet, decompressed */
    TEXT_FIRST = 64 << 20,
    TEXT_TIMES = 400, /* the text has at most so many bytes, and so many for each byte of the file */
    ARG_DEPTH = 16,
    OPEN_MOST = 512, /* slices inside each other: viewers drop those that are nested deeper */
};

enum interned { INTERN_CATEGORY, INTERN_NAME, INTERN_ARG_NAME, INTERN_TEXT, INTERN_KINDS };

struct pftrace_read_span {
    const char *at; /* NULL: there is none */
    size_t len;
};

/* The texts of a kind, by their numbers. */
struct interned_texts {
    struct keys number;
    LIST(struct pftrace_read_span) text;
};

struct open_slice {
    int64_t begin_ns;
    size_t text_at; /* its members in the text of the track */
};

struct pf_track {
    uint64_t parent;
    bool is_known, is_process, is_thread, is_counter;
    int64_t pid, tid;
    struct pftrace_read_span name;
    LIST(struct open_slice) open; /* the innermost last */
    char *text;                   /* members of the open slices */
    size_t n_text, text_cap;
};

struct pf_reader {
    const char *path;
    struct out *to, inner; /* inner: the members of one event */
    struct arena *mem;
    struct interned_texts interned[INTERN_KINDS];
    struct keys uuid;
    LIST(struct pf_track) tracks;
    uint64_t sequence; /* 0: there was no event yet */
    uint64_t n_events, text_most, inflated;
    struct losses *lost;
    uint64_t offset; /* of the packet in the file */
    bool is_cut, has_no_memory;
    const char *strange; /* what the file has that is not read; NULL: nothing */
    struct error *e;
};

/* ---- protobuf ---------------------------------------------------------------------------------------------------- */

struct pf_field {
    uint64_t number, value; /* of a double: its bits */
    struct bytes of;        /* of a message or text */
};

static bool varint_take(struct bytes *b, uint64_t *v)
{
    *v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const uint8_t *p = bytes_take(b, 1);
        if (!p)
            return false;
        *v |= shift < 64 ? (uint64_t)(*p & 0x7F) << shift : 0;
        if (*p < 0x80)
            return true;
    }
    return false;
}

/* False: the message has ended, or it is damaged: then b->at is not b->size. */
static bool field_next(struct bytes *b, struct pf_field *f)
{
    const size_t begin = b->at;
    const uint8_t *p;
    uint64_t tag, n;
    *f = (struct pf_field){ 0 };
    if (b->at == b->size)
        return false;
    bool done = varint_take(b, &tag);
    f->number = tag >> 3;
    switch (done ? tag & 7 : 7) {
    case 0: done = varint_take(b, &f->value); break;
    case 1:
        done = (p = bytes_take(b, 8)) != NULL;
        f->value = done ? le64(p) : 0;
        break;
    case 2:
        done = varint_take(b, &n) && (p = bytes_take(b, n)) != NULL;
        if (done)
            f->of = (struct bytes){ p, n, 0 };
        break;
    case 5:
        done = (p = bytes_take(b, 4)) != NULL;
        f->value = done ? le32(p) : 0;
        break;
    default: done = false;
    }
    if (!done)
        b->at = begin;
    return done;
}

static struct pftrace_read_span span_of(const struct pf_field *f)
{
    return (struct pftrace_read_span){ f->of.data ? (const char *)f->of.data : "", f->of.size };
}

static void lose(struct pf_reader *r, enum loss why)
{
    losses_add(r->lost, why, 1, r->path, r->offset);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void interned_add(struct pf_reader *r, enum interned kind, struct bytes entry)
{
    struct interned_texts *t = &r->interned[kind];
    struct pf_field f;
    uint64_t id = 0;
    struct pftrace_read_span text = { "", 0 };
    while (field_next(&entry, &f)) {
        id = f.number == INTERNED_ID ? f.value : id;
        text = f.number == INTERNED_VALUE ? span_of(&f) : text;
    }
    const uint32_t at = keys_add(&t->number, id, r->mem);
    struct pftrace_read_span *new = at == t->text.n  ? list_add(&t->text, r->mem)
                                    : at < t->text.n ? &t->text.at[at]
                                                     : NULL;
    const char *kept = new ? arena_text(r->mem, text.at, text.len) : NULL;
    r->has_no_memory |= !kept;
    if (kept)
        *new = (struct pftrace_read_span){ kept, text.len };
}

static void interned_read(struct pf_reader *r, struct bytes all)
{
    static const unsigned field[INTERN_KINDS] = { INTERNED_CATEGORY, INTERNED_NAME, INTERNED_ARG_NAME, INTERNED_TEXT };
    struct pf_field f;
    while (field_next(&all, &f))
        for (size_t kind = 0; kind < INTERN_KINDS; kind++)
            if (f.number == field[kind])
                interned_add(r, (enum interned)kind, f.of);
}

static struct pftrace_read_span interned(const struct pf_reader *r, enum interned kind, uint64_t id)
{
    const uint32_t at = keys_find(&r->interned[kind].number, id);
    return at == KEYS_NONE ? (struct pftrace_read_span){ "?", 1 } : r->interned[kind].text.at[at];
}

static void pftrace_read_put_text(struct out *o, struct pftrace_read_span text)
{
    out_json(o, text.at, text.len);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void put_real(struct out *o, uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    if (isfinite(v))
        out_real(o, v);
    else if (isnan(v))
        out_lit(o, "NaN");
    else
        out_short(o, v < 0 ? "-Infinity" : "Infinity", v < 0 ? 9 : 8);
}

static void put_arg(struct pf_reader *r, struct bytes arg, bool has_name, unsigned depth);

/* Writes the entries of an array or dictionary, which are fields of its argument. */
static void put_entries(struct pf_reader *r, struct bytes arg, bool is_object, unsigned depth)
{
    struct pf_field f;
    bool is_first = true;
    out_char(&r->inner, is_object ? '{' : '[');
    while (field_next(&arg, &f)) {
        if (f.number != (is_object ? ARG_MEMBER : ARG_ELEMENT))
            continue;
        if (!is_first)
            out_char(&r->inner, ',');
        is_first = false;
        put_arg(r, f.of, is_object, depth + 1);
    }
    out_char(&r->inner, is_object ? '}' : ']');
}

static void put_arg(struct pf_reader *r, struct bytes arg, bool has_name, unsigned depth)
{
    struct bytes all = arg;
    struct pf_field f, value = { 0 };
    struct pftrace_read_span name = { "?", 1 };
    while (field_next(&arg, &f))
        if (f.number == ARG_NAME)
            name = interned(r, INTERN_ARG_NAME, f.value);
        else if (f.number == ARG_NAME_TEXT)
            name = span_of(&f);
        else
            value = f;
    if (has_name) {
        pftrace_read_put_text(&r->inner, name);
        out_char(&r->inner, ':');
    }
    switch (value.number) {
    case ARG_BOOL: out_bytes(&r->inner, value.value ? "true" : "false", value.value ? 4 : 5); break;
    case ARG_UINT:
    case ARG_POINTER: out_u64(&r->inner, value.value); break;
    case ARG_INT: out_i64(&r->inner, (int64_t)value.value); break;
    case ARG_REAL: put_real(&r->inner, value.value); break;
    case ARG_TEXT:
    case ARG_JSON: pftrace_read_put_text(&r->inner, span_of(&value)); break;
    case ARG_TEXT_ID: pftrace_read_put_text(&r->inner, interned(r, INTERN_TEXT, value.value)); break;
    case ARG_MEMBER:
    case ARG_ELEMENT:
        if (depth < ARG_DEPTH) {
            put_entries(r, all, value.number == ARG_MEMBER, depth);
            break;
        }
        lose(r, LOSS_BAD_VALUE);
        /* fall through */
    default: out_lit(&r->inner, "null");
    }
}

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

static struct pf_track *pftrace_read_track_of(struct pf_reader *r, uint64_t uuid)
{
    const uint32_t at = keys_add(&r->uuid, uuid, r->mem);
    struct pf_track *t = at == r->tracks.n ? list_add(&r->tracks, r->mem) : at < r->tracks.n ? &r->tracks.at[at] : NULL;
    r->has_no_memory |= !t;
    return t;
}

/* The process or thread that a track belongs to; NULL: none. */
static const struct pf_track *owner_of(const struct pf_reader *r, const struct pf_track *t)
{
    for (unsigned depth = 0; t && depth < ARG_DEPTH && !t->is_process && !t->is_thread; depth++) {
        const uint32_t at = keys_find(&r->uuid, t->parent);
        t = at == KEYS_NONE || &r->tracks.at[at] == t ? NULL : &r->tracks.at[at];
    }
    return t && (t->is_process || t->is_thread) ? t : NULL;
}

static void event_begin(struct pf_reader *r, char phase, const struct pf_track *owner)
{
    out_lit(r->to, ",\n{\"ph\":\"");
    out_char(r->to, phase);
    out_lit(r->to, "\",\"pid\":");
    out_i64(r->to, owner ? owner->pid : 0);
    out_lit(r->to, ",\"tid\":");
    out_i64(r->to, owner ? owner->tid : 0);
}

static void put_metadata(struct pf_reader *r, const struct pf_track *t, const char *what, const char *key,
                         struct pftrace_read_span text)
{
    event_begin(r, 'M', t);
    out_lit(r->to, ",\"name\":\"");
    out_bytes(r->to, what, strlen(what));
    out_lit(r->to, "\",\"args\":{\"");
    out_bytes(r->to, key, strlen(key));
    out_lit(r->to, "\":");
    pftrace_read_put_text(r->to, text);
    out_lit(r->to, "}}");
}

static void put_rank(struct pf_reader *r, const struct pf_track *t, const char *what, int64_t rank)
{
    event_begin(r, 'M', t);
    out_lit(r->to, ",\"name\":\"");
    out_bytes(r->to, what, strlen(what));
    out_lit(r->to, "\",\"args\":{\"sort_index\":");
    out_i64(r->to, rank);
    out_lit(r->to, "}}");
}

static void track_read(struct pf_reader *r, struct bytes all)
{
    struct pf_field f, inner;
    struct pf_track new = { .is_known = true };
    struct pftrace_read_span labels = { 0 };
    uint64_t uuid = 0, rank = 0;
    bool has_rank = false;
    while (field_next(&all, &f))
        switch (f.number) {
        case TRACK_UUID: uuid = f.value; break;
        case TRACK_PARENT: new.parent = f.value; break;
        case TRACK_NAME: new.name = span_of(&f); break;
        case TRACK_COUNTER: new.is_counter = true; break;
        case TRACK_RANK:
            has_rank = true;
            rank = f.value;
            break;
        case TRACK_PROCESS:
            new.is_process = true;
            while (field_next(&f.of, &inner)) {
                new.pid = inner.number == PROCESS_PID ? (int32_t)inner.value : new.pid;
                new.name = inner.number == PROCESS_NAME ? span_of(&inner) : new.name;
                labels = inner.number == PROCESS_LABEL ? span_of(&inner) : labels;
            }
            break;
        case TRACK_THREAD:
            new.is_thread = true;
            while (field_next(&f.of, &inner)) {
                new.pid = inner.number == THREAD_PID ? (int32_t)inner.value : new.pid;
                new.tid = inner.number == THREAD_TID ? (int64_t)inner.value : new.tid;
                new.name = inner.number == THREAD_NAME ? span_of(&inner) : new.name;
            }
            break;
        default: break;
        }
    struct pf_track *t = pftrace_read_track_of(r, uuid);
    if (!t || t->is_known)
        return; /* it is sent again, as after a reset */
    if (new.is_process &&new.name.at)
        put_metadata(r, &new, "process_name", "name", new.name);
    if (new.is_thread &&new.name.at)
        put_metadata(r, &new, "thread_name", "name", new.name);
    if (labels.at)
        put_metadata(r, &new, "process_labels", "labels", labels);
    if (has_rank && (new.is_process || new.is_thread))
        put_rank(r, &new, new.is_process ? "process_sort_index" : "thread_sort_index", (int32_t)rank);
    const char *kept = new.name.at ? arena_text(r->mem, new.name.at, new.name.len) : NULL;
    r->has_no_memory |= new.name.at && !kept;
    new.name = (struct pftrace_read_span){ kept, kept ? new.name.len : 0 };
    new.open.at = t->open.at; /* events may come before their track */
    new.open.n = t->open.n;
    new.open.cap = t->open.cap;
    new.text = t->text;
    new.n_text = t->n_text;
    new.text_cap = t->text_cap;
    *t = new;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct pf_event {
    uint64_t type, track, counter_bits;
    int64_t ns;
    bool has_counter;
    struct pftrace_read_span name, category;
};

static void put_flow(struct pf_reader *r, const struct pf_track *owner, char phase, uint64_t id, int64_t ns)
{
    event_begin(r, phase, owner);
    out_lit(r->to, ",\"name\":\"flow\",\"cat\":\"flow\",\"bp\":\"e\",\"ts\":");
    out_us(r->to, ns);
    out_lit(r->to, ",\"id\":");
    out_u64(r->to, id);
    out_char(r->to, '}');
}

/* Writes name, category and arguments of an event to r->inner, and its flows. */
static void members_read(struct pf_reader *r, const struct pf_event *ev, struct bytes all, const struct pf_track *owner)
{
    struct pf_field f;
    bool is_first = true;
    r->inner.n = 0;
    out_lit(&r->inner, ",\"name\":");
    pftrace_read_put_text(&r->inner, ev->name.at ? ev->name : (struct pftrace_read_span){ "?", 1 });
    if (ev->category.at) {
        out_lit(&r->inner, ",\"cat\":");
        pftrace_read_put_text(&r->inner, ev->category);
    }
    while (field_next(&all, &f)) {
        if (f.number == EVENT_FLOW || f.number == EVENT_FLOW_END)
            put_flow(r, owner, f.number == EVENT_FLOW ? 's' : 'f', f.value, ev->ns);
        if (f.number != EVENT_ARG)
            continue;
        out_bytes(&r->inner, is_first ? ",\"args\":{" : ",", is_first ? 9 : 1);
        is_first = false;
        put_arg(r, f.of, true, 0);
    }
    if (!is_first)
        out_char(&r->inner, '}');
}

/* Keeps the members of a slice until it ends. */
static void slice_begin(struct pf_reader *r, struct pf_track *t, int64_t ns)
{
    const size_t n = r->inner.n;
    if (t->open.n >= OPEN_MOST) {
        r->strange = "slices that are nested deeper than viewers draw them";
        return;
    }
    if (n > t->text_cap - t->n_text) {
        const size_t cap = 2 * t->text_cap + n + 256;
        char *room = realloc(t->text, cap);
        r->has_no_memory |= !room;
        if (!room)
            return;
        t->text = room;
        t->text_cap = cap;
    }
    struct open_slice *new = list_add(&t->open, r->mem);
    r->has_no_memory |= !new;
    if (new)
        *new = (struct open_slice){ ns, t->n_text };
    memcpy(t->text + t->n_text, r->inner.buf, n);
    t->n_text += n;
}

static void slice_end(struct pf_reader *r, struct pf_track *t, const struct pf_track *owner, int64_t ns)
{
    if (t->open.n == 0) {
        lose(r, LOSS_UNPAIRED);
        return;
    }
    const struct open_slice s = t->open.at[--t->open.n];
    event_begin(r, 'X', owner);
    out_bytes(r->to, t->text + s.text_at, t->n_text - s.text_at);
    out_lit(r->to, ",\"ts\":");
    out_us(r->to, s.begin_ns);
    out_lit(r->to, ",\"dur\":");
    out_us(r->to, ns > s.begin_ns ? ns - s.begin_ns : 0);
    out_char(r->to, '}');
    t->n_text = s.text_at;
}

static void counter_put(struct pf_reader *r, const struct pf_event *ev, const struct pf_track *t,
                        const struct pf_track *owner)
{
    event_begin(r, 'C', owner);
    out_lit(r->to, ",\"name\":");
    pftrace_read_put_text(r->to, t->name.at ? t->name : (struct pftrace_read_span){ "?", 1 });
    out_lit(r->to, ",\"ts\":");
    out_us(r->to, ev->ns);
    out_lit(r->to, ",\"args\":{\"value\":");
    put_real(r->to, ev->counter_bits);
    out_lit(r->to, "}}");
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static void event_read(struct pf_reader *r, struct bytes all, uint64_t timestamp)
{
    struct bytes fields = all;
    struct pf_field f;
    struct pf_event ev = { .ns = (int64_t)timestamp };
    while (field_next(&fields, &f)) {
        ev.type = f.number == EVENT_TYPE ? f.value : ev.type;
        ev.track = f.number == EVENT_TRACK ? f.value : ev.track;
        ev.name = f.number == EVENT_NAME        ? interned(r, INTERN_NAME, f.value)
                  : f.number == EVENT_NAME_TEXT ? span_of(&f)
                                                : ev.name;
        ev.category = f.number == EVENT_CATEGORY        ? interned(r, INTERN_CATEGORY, f.value)
                      : f.number == EVENT_CATEGORY_TEXT ? span_of(&f)
                                                        : ev.category;
        if (f.number == EVENT_COUNTER || f.number == EVENT_WHOLE) {
            ev.has_counter = true;
            ev.counter_bits = f.number == EVENT_COUNTER ? f.value : bits_of((double)(int64_t)f.value);
        }
    }
    struct pf_track *t = pftrace_read_track_of(r, ev.track);
    if (!t)
        return;
    if (fields.at != fields.size || timestamp > INT64_MAX || (ev.type == TYPE_COUNTER && !ev.has_counter)) {
        lose(r, LOSS_BAD_VALUE);
        return;
    }
    const struct pf_track *owner = owner_of(r, t);
    r->n_events++;
    if (ev.type == TYPE_END) {
        slice_end(r, t, owner, ev.ns);
    } else if (ev.type == TYPE_COUNTER) {
        counter_put(r, &ev, t, owner);
    } else if (ev.type == TYPE_BEGIN) {
        members_read(r, &ev, all, owner);
        slice_begin(r, t, ev.ns);
    } else if (ev.type == TYPE_INSTANT) {
        members_read(r, &ev, all, owner);
        event_begin(r, 'i', owner);
        out_bytes(r->to, r->inner.buf, r->inner.n);
        out_lit(r->to, ",\"s\":\"t\",\"ts\":");
        out_us(r->to, ev.ns);
        out_char(r->to, '}');
    } else {
        lose(r, LOSS_BAD_VALUE);
    }
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static bool goes_on(struct pf_reader *r)
{
    r->is_cut |= r->to->written + r->to->n > r->text_most || r->inflated > r->text_most;
    return !r->is_cut && !r->strange && !r->has_no_memory && !r->to->failed_errno && !r->inner.failed_errno;
}

static void packets_read(struct pf_reader *r, struct bytes all, bool is_inside);

static void batch_read(struct pf_reader *r, struct bytes in, bool is_inside)
{
    uLongf n = in.size < BATCH_MOST / 4 ? 4 * in.size + 4096 : BATCH_MOST;
    unsigned char *out = NULL;
    int end = Z_BUF_ERROR;
    if (is_inside) {
        lose(r, LOSS_BAD_VALUE);
        return;
    }
    while (end == Z_BUF_ERROR && n <= BATCH_MOST) {
        unsigned char *room = realloc(out, n);
        uLongf used = n;
        if (!room) {
            end = Z_MEM_ERROR;
            break;
        }
        out = room;
        end = uncompress(out, &used, in.data, in.size);
        if (end == Z_OK) {
            r->inflated += used;
            packets_read(r, (struct bytes){ out, used, 0 }, true);
        }
        n = n < BATCH_MOST && 4 * n > BATCH_MOST ? BATCH_MOST : 4 * n;
    }
    if (end == Z_MEM_ERROR)
        r->has_no_memory = true;
    else if (end != Z_OK)
        lose(r, LOSS_BAD_VALUE);
    free(out);
}

static void packet_read(struct pf_reader *r, struct bytes packet, bool is_inside)
{
    struct pf_field f, event = { 0 }, track = { 0 };
    uint64_t timestamp = UINT64_MAX, sequence = 0;
    while (field_next(&packet, &f))
        switch (f.number) {
        case PACKET_TIMESTAMP: timestamp = f.value; break;
        case PACKET_SEQUENCE: sequence = f.value; break;
        case PACKET_EVENT: event = f; break;
        case PACKET_TRACK: track = f; break;
        case PACKET_INTERNED: interned_read(r, f.of); break;
        case PACKET_COMPRESSED: batch_read(r, f.of, is_inside); break;
        case PACKET_CLOCK:
        case PACKET_DEFAULTS: r->strange = "times relative to each other"; break;
        default: break;
        }
    if (packet.at != packet.size)
        lose(r, LOSS_BAD_VALUE);
    if (track.number && !r->strange)
        track_read(r, track.of);
    if (!event.number || r->strange)
        return;
    if (r->sequence && sequence != r->sequence)
        r->strange = "several sequences of packets";
    r->sequence = sequence;
    event_read(r, event.of, timestamp);
}

/* The packets of a file, or of a compressed packet. */
static void packets_read(struct pf_reader *r, struct bytes all, bool is_inside)
{
    struct pf_field f;
    size_t reported = 0;
    while (goes_on(r)) {
        r->offset = is_inside ? r->offset : all.at;
        if (!field_next(&all, &f))
            break;
        if (f.number == TRACE_PACKET)
            packet_read(r, f.of, is_inside);
        if (!is_inside) {
            progress_work(all.at - reported);
            reported = all.at;
        }
    }
    if (goes_on(r) && all.at != all.size)
        lose(r, LOSS_CUT_SHORT);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool convert(struct pf_reader *r, struct bytes all)
{
    out_lit(r->to, "{\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"begin\",\"pid\":0}");
    packets_read(r, all, false);
    for (size_t i = 0; i < r->tracks.n; i++) {
        if (r->tracks.at[i].open.n > 0)
            losses_add(r->lost, LOSS_UNPAIRED, r->tracks.at[i].open.n, r->path, all.size);
        free(r->tracks.at[i].text);
    }
    out_lit(r->to, "]}\n");
    if (r->is_cut)
        losses_add(r->lost, LOSS_CUT_SHORT, 1, r->path, r->offset);
    if (r->has_no_memory || r->inner.failed_errno == ENOMEM)
        return error_no_memory(r->e, r->path);
    if (r->strange)
        return error_set(r->e, FAULT_FORMAT,
                         "%s: has %s; of Perfetto's format, timelines of ascope export-trace are read", r->path,
                         r->strange);
    return r->n_events > 0 || r->to->failed_errno ||
           error_set(r->e, FAULT_FORMAT,
                     "%s: no events of tracks; of Perfetto's format, timelines of ascope export-trace are read",
                     r->path);
}

bool pftrace_read(struct pftrace_text *t, int fd, const char *path, uint64_t most_bytes, struct error *e)
{
    struct stat st;
    struct mapped file = { 0 };
    struct out to;
    struct pf_reader r = { .path = path, .to = &to, .mem = arena_new(), .lost = &t->lost, .e = e };
    *t = (struct pftrace_text){ .fd = memory_file_near(NULL) };
    bool done = r.mem && out_open_memory(&r.inner, e)
                    ? t->fd >= 0 || error_set(e, FAULT_IO, "%s: no space for its timeline", path)
                    : error_no_memory(e, path);
    if (done && (fstat(fd, &st) != 0 || (st.st_size > 0 && !memory_map(&file, fd, (size_t)st.st_size))))
        done = error_set(e, FAULT_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    const uint64_t most = TEXT_FIRST + TEXT_TIMES * (uint64_t)file.bytes;
    r.text_most = most_bytes < most ? most_bytes : most;
    if (done && (done = out_open_descriptor(&to, t->fd, path, e))) {
        done = convert(&r, (struct bytes){ file.at, file.bytes, 0 });
        t->bytes = to.written + to.n;
        if (done)
            done = out_close(&to, e);
        else
            out_discard(&to);
    }
    if (r.inner.buf)
        out_discard(&r.inner);
    memory_unmap(&file);
    arena_free(r.mem);
    if (!done && t->fd >= 0)
        close(t->fd);
    return done;
}

bool pftrace_is_name(const char *path)
{
    static const char *const ending[] = { ".pftrace", ".perfetto-trace" };
    const size_t len = strlen(path);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (len > strlen(ending[i]) && strcmp(path + len - strlen(ending[i]), ending[i]) == 0)
            return true;
    return false;
}
