/* SPDX-License-Identifier: Apache-2.0 */
#include "export/pftrace.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "raw/pftrace_fields.h"

enum {
    BATCH_BYTES = 256 * 1024, /* before compression */
    TEXT_INTERNED = 96,       /* longer values of arguments rarely repeat, and are written each time */
    ARG_DEPTH = 8,            /* containers that are nested deeper in an argument are written as JSON text */
    MADE_UP = 1 << 30,        /* first id for processes and threads without a usable number of their own */
};

/* Kinds of interned texts: each has a bit for every name, set when the text was written with its number. */
enum pftrace_interned { INTERN_CATEGORY, INTERN_NAME, INTERN_ARG_NAME, INTERN_TEXT, INTERN_KINDS };

struct pftrace_writer {
    struct out *to;
    struct out batch, packet, event, interned, level[ARG_DEPTH + 1];
    struct names *words; /* names, categories and texts of arguments */
    struct {
        uint8_t *bits;
        size_t n_bytes;
    } known[INTERN_KINDS];
    unsigned char *compressed;
    char *scratch;
    size_t scratch_bytes;
    uint64_t next_track;
    int64_t shift_ns; /* makes all times at least 0 */
    const struct chrome_trace *t;
    const struct pftrace_flows *flows;
    uint32_t *flow_by_to;
    bool has_no_memory;
};

/* ---- protobuf ---------------------------------------------------------------------------------------------------- */

static void put_varint(struct out *o, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (unsigned char)(v | 0x80);
    bytes[n++] = (unsigned char)v;
    out_short(o, bytes, n);
}
static void put_number(struct out *o, unsigned field, uint64_t v)
{
    put_varint(o, (uint64_t)field << 3);
    put_varint(o, v);
}
static void put_eight(struct out *o, unsigned field, uint64_t bits)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    put_varint(o, (uint64_t)field << 3 | 1);
    out_short(o, bytes, sizeof bytes);
}
static void put_double(struct out *o, unsigned field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_eight(o, field, bits);
}
static void put_bytes(struct out *o, unsigned field, const void *p, size_t n)
{
    put_varint(o, (uint64_t)field << 3 | 2);
    put_varint(o, n);
    out_bytes(o, p, n);
}
static void put_message(struct out *o, unsigned field, const struct out *message)
{
    put_bytes(o, field, message->buf, message->n);
}

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static void batch_flush(struct pftrace_writer *w)
{
    uLongf n = compressBound(w->batch.n);
    if (w->batch.n == 0)
        return;
    unsigned char *room = realloc(w->compressed, n);
    if (!room || compress2(room, &n, (const Bytef *)w->batch.buf, w->batch.n, Z_DEFAULT_COMPRESSION) != Z_OK) {
        w->has_no_memory = true;
        w->compressed = room ? room : w->compressed;
        return;
    }
    w->compressed = room;
    w->packet.n = 0;
    put_bytes(&w->packet, PACKET_COMPRESSED, room, n);
    put_message(w->to, TRACE_PACKET, &w->packet);
    w->packet.n = w->batch.n = 0;
}

static void packet_end(struct pftrace_writer *w)
{
    put_message(&w->batch, TRACE_PACKET, &w->packet);
    w->packet.n = 0;
    if (w->batch.n >= BATCH_BYTES)
        batch_flush(w);
}

static void event_end(struct pftrace_writer *w, int64_t ns)
{
    put_number(&w->packet, PACKET_TIMESTAMP, (uint64_t)wrap_add(ns, w->shift_ns));
    put_number(&w->packet, PACKET_SEQUENCE, SEQUENCE);
    put_number(&w->packet, PACKET_FLAGS, FLAG_NEEDS_NAMES);
    put_message(&w->packet, PACKET_EVENT, &w->event);
    if (w->interned.n > 0)
        put_message(&w->packet, PACKET_INTERNED, &w->interned);
    w->event.n = w->interned.n = 0;
    packet_end(w);
}

static void event_begin(struct pftrace_writer *w, unsigned type, uint64_t track)
{
    put_number(&w->event, EVENT_TYPE, type);
    put_number(&w->event, EVENT_TRACK, track);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The number of a text. Text and number are written together the first time. */
static uint64_t intern(struct pftrace_writer *w, enum pftrace_interned kind, const char *text, size_t len)
{
    static const unsigned field[INTERN_KINDS] = { INTERNED_CATEGORY, INTERNED_NAME, INTERNED_ARG_NAME, INTERNED_TEXT };
    const name_id id = names_add(w->words, text, len);
    if (id / 8 >= w->known[kind].n_bytes) {
        const size_t more = 2 * (id / 8) + 4096;
        uint8_t *bits = realloc(w->known[kind].bits, more);
        if (!bits) {
            w->has_no_memory = true;
            return id + UINT64_C(1);
        }
        memset(bits + w->known[kind].n_bytes, 0, more - w->known[kind].n_bytes);
        w->known[kind].bits = bits;
        w->known[kind].n_bytes = more;
    }
    const uint64_t number = id + UINT64_C(1); /* Perfetto reserves 0 */
    if (!(w->known[kind].bits[id / 8] >> id % 8 & 1)) {
        struct out *o = &w->level[ARG_DEPTH];
        w->known[kind].bits[id / 8] |= (uint8_t)(1 << id % 8);
        o->n = 0;
        put_number(o, INTERNED_ID, number);
        put_bytes(o, INTERNED_VALUE, names_text(w->words, id), names_len(w->words, id));
        put_message(&w->interned, field[kind], o);
    }
    return number;
}
static uint64_t intern_name(struct pftrace_writer *w, enum pftrace_interned kind, name_id name)
{
    return intern(w, kind, names_text(w->t->names, name), names_len(w->t->names, name));
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static char *decoded(struct pftrace_writer *w, struct json_span v, size_t *len)
{
    if (v.len >= w->scratch_bytes) {
        char *room = realloc(w->scratch, v.len + 4096);
        if (!room) {
            w->has_no_memory = true;
            *len = 0;
            return w->scratch;
        }
        w->scratch = room;
        w->scratch_bytes = v.len + 4096;
    }
    *len = json_decode(v, w->scratch);
    return w->scratch;
}

static void pftrace_put_text(struct pftrace_writer *w, struct out *o, const char *text, size_t len)
{
    if (len > 0 && len <= TEXT_INTERNED)
        put_number(o, ARG_TEXT_ID, intern(w, INTERN_TEXT, text, len));
    else
        put_bytes(o, ARG_TEXT, text, len);
}

static bool put_scalar(struct out *o, struct json_span v)
{
    uint64_t whole;
    int64_t number;
    double real;
    const bool is_whole = !memchr(v.at, '.', v.len) && !memchr(v.at, 'e', v.len) && !memchr(v.at, 'E', v.len);
    if (json_is(v, "true") || json_is(v, "false"))
        put_number(o, ARG_BOOL, json_is(v, "true"));
    else if (is_whole && json_fixed(v, 0, &number))
        put_number(o, ARG_INT, (uint64_t)number);
    else if (is_whole && json_u64(v, &whole))
        put_number(o, ARG_UINT, whole);
    else if (json_double(v, &real))
        put_double(o, ARG_REAL, real);
    else
        return false;
    return true;
}

static void pftrace_put_value(struct pftrace_writer *w, struct out *o, struct json_span v, unsigned depth);

/* Writes the members of an object or the elements of an array. False: it is empty, nested too deeply, or not valid. */
static bool put_container(struct pftrace_writer *w, struct out *o, struct json_span v, unsigned depth)
{
    const bool is_object = v.at[0] == '{';
    struct json_scan s;
    struct json_span key, value;
    bool is_any = false;
    if (depth >= ARG_DEPTH - 1 || !json_enter(&s, v.at, v.at + v.len, v.at[0]))
        return false;
    while ((is_object ? json_next_key(&s, &key) : json_next_element(&s)) && json_pass(&s, &value)) {
        struct out *inner = &w->level[depth + 1];
        inner->n = 0;
        if (is_object) {
            size_t len;
            const char *name = decoded(w, key, &len);
            put_number(inner, ARG_NAME, intern(w, INTERN_ARG_NAME, name, len));
        }
        pftrace_put_value(w, inner, value, depth + 1);
        put_message(o, is_object ? ARG_MEMBER : ARG_ELEMENT, inner);
        is_any = true;
    }
    return is_any;
}

static void pftrace_put_value(struct pftrace_writer *w, struct out *o, struct json_span v, unsigned depth)
{
    if (json_is_text(v)) {
        size_t len;
        const char *text = decoded(w, v, &len);
        pftrace_put_text(w, o, text, len);
    } else if (v.at[0] == '{' || v.at[0] == '[' ? !put_container(w, o, v, depth) : !put_scalar(o, v)) {
        pftrace_put_text(w, o, v.at, v.len); /* null, an empty container, or something that is not valid JSON */
    }
}

static void put_args(struct pftrace_writer *w, struct json_span args)
{
    struct json_scan s;
    struct json_span key, value;
    if (!args.at || !json_enter(&s, args.at, args.at + args.len, '{'))
        return;
    s.repairs = false;
    while (json_next_key(&s, &key) && json_pass(&s, &value)) {
        struct out *o = &w->level[0];
        size_t len;
        const char *name = decoded(w, key, &len);
        o->n = 0;
        put_number(o, ARG_NAME, intern(w, INTERN_ARG_NAME, name, len));
        pftrace_put_value(w, o, value, 0);
        put_message(&w->event, EVENT_ARG, o);
    }
}

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

/* Track uuids: 0 is the root, processes and threads follow, then lanes and counters in the order in which they
 * appear. */
static uint64_t process_track(size_t process)
{
    return 1 + process;
}
static uint64_t thread_track(const struct pftrace_writer *w, size_t track)
{
    return 1 + w->t->processes.n + track;
}

/* Pids and tids have 31 bits, and 0 is the idle process: other ids are replaced by a number that is made up. */
static uint64_t usable_id(const struct chrome_id *id, size_t row)
{
    return id->is_number && id->number > 0 && id->number < MADE_UP ? (uint64_t)id->number : MADE_UP + row;
}

static const char *row_name(const struct chrome_trace *t, name_id name, const struct chrome_id *id, size_t *len)
{
    const name_id shown = name != NAME_EMPTY ? name : id->text;
    *len = names_len(t->names, shown);
    return names_text(t->names, shown);
}

static void put_track(struct pftrace_writer *w, struct out *track)
{
    put_number(&w->packet, PACKET_SEQUENCE, SEQUENCE);
    put_message(&w->packet, PACKET_TRACK, track);
    track->n = 0;
    packet_end(w);
}

static void put_processes(struct pftrace_writer *w)
{
    struct out *track = &w->event, *process = &w->level[0];
    put_number(track, TRACK_UUID, 0); /* the root: its children are ordered by their ranks */
    put_number(track, TRACK_PROCESS_ORDER, 1);
    put_number(track, TRACK_THREAD_ORDER, 1);
    put_track(w, track);
    for (size_t i = 0; i < w->t->processes.n; i++) {
        const struct chrome_process *p = &w->t->processes.at[i];
        size_t len;
        const char *name = row_name(w->t, p->name, &p->id, &len);
        process->n = 0;
        put_number(process, PROCESS_PID, usable_id(&p->id, i));
        put_bytes(process, PROCESS_NAME, name, len);
        if (p->labels != NAME_EMPTY)
            put_bytes(process, PROCESS_LABEL, names_text(w->t->names, p->labels), names_len(w->t->names, p->labels));
        put_number(track, TRACK_UUID, process_track(i));
        put_message(track, TRACK_PROCESS, process);
        if (p->has_sort_index)
            put_number(track, TRACK_RANK, (uint64_t)(int64_t)(int32_t)p->sort_index);
        put_track(w, track);
    }
}

static void put_threads(struct pftrace_writer *w)
{
    struct out *track = &w->event, *thread = &w->level[0];
    for (size_t i = 0; i < w->t->tracks.n; i++) {
        const struct chrome_track *row = &w->t->tracks.at[i];
        size_t len;
        const char *name = row_name(w->t, row->name, &row->id, &len);
        thread->n = 0;
        put_number(thread, THREAD_PID, usable_id(&w->t->processes.at[row->process].id, row->process));
        put_number(thread, THREAD_TID, usable_id(&row->id, i));
        put_bytes(thread, THREAD_NAME, name, len);
        put_number(track, TRACK_UUID, thread_track(w, i));
        put_message(track, TRACK_THREAD, thread);
        if (row->has_sort_index)
            put_number(track, TRACK_RANK, (uint64_t)(int64_t)(int32_t)row->sort_index);
        put_track(w, track);
    }
}

static uint64_t lane_track(struct pftrace_writer *w, size_t row)
{
    struct out *track = &w->level[0];
    const uint64_t uuid = w->next_track++;
    size_t len;
    const char *name = row_name(w->t, w->t->tracks.at[row].name, &w->t->tracks.at[row].id, &len);
    track->n = 0;
    put_number(track, TRACK_UUID, uuid);
    put_number(track, TRACK_PARENT, thread_track(w, row));
    put_bytes(track, TRACK_NAME, name, len);
    put_track(w, track);
    return uuid;
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* A track of the file, on which slices nest. */
struct pftrace_lane {
    uint64_t uuid;
    LIST(int64_t) open; /* ends of the open slices, the innermost last */
};
typedef LIST(struct pftrace_lane) lanes;

static void put_ends(struct pftrace_writer *w, struct pftrace_lane *lane, int64_t until_ns)
{
    for (; lane->open.n > 0 && lane->open.at[lane->open.n - 1] <= until_ns; lane->open.n--) {
        event_begin(w, TYPE_END, lane->uuid);
        event_end(w, lane->open.at[lane->open.n - 1]);
    }
}

/* The first lane on which a slice nests, a new one if there is none. NULL: no memory. */
static struct pftrace_lane *lane_for(struct pftrace_writer *w, lanes *l, size_t row, int64_t begin_ns, int64_t end_ns,
                                     struct arena *mem)
{
    for (size_t i = 0; i < l->n; i++) {
        put_ends(w, &l->at[i], begin_ns);
        if (l->at[i].open.n == 0 || l->at[i].open.at[l->at[i].open.n - 1] >= end_ns)
            return &l->at[i];
    }
    struct pftrace_lane *new = list_add(l, mem);
    if (new)
        new->uuid = l->n == 1 ? thread_track(w, row) : lane_track(w, row);
    return new;
}

static void put_flows(struct pftrace_writer *w, uint32_t slice)
{
    const struct pftrace_flows *f = w->flows;
    for (size_t i = order_first_u32(NULL, f->n, f->from, slice); i < f->n && f->from[i] == slice; i++)
        put_eight(&w->event, EVENT_FLOW, i + 1);
    for (size_t i = order_first_u32(w->flow_by_to, f->n, f->to, slice); i < f->n && f->to[w->flow_by_to[i]] == slice;
         i++)
        put_eight(&w->event, EVENT_FLOW_END, w->flow_by_to[i] + UINT64_C(1));
}

static void put_named(struct pftrace_writer *w, unsigned type, uint64_t track, name_id name, name_id category)
{
    event_begin(w, type, track);
    put_number(&w->event, EVENT_NAME, intern_name(w, INTERN_NAME, name));
    if (category != NAME_EMPTY)
        put_number(&w->event, EVENT_CATEGORY, intern_name(w, INTERN_CATEGORY, category));
}

static void put_slices(struct pftrace_writer *w, size_t row)
{
    const struct chrome_track *track = &w->t->tracks.at[row];
    const struct chrome_slices *s = &w->t->slices;
    struct arena *mem = arena_new();
    lanes l = { 0 };
    for (size_t i = track->first; mem && i < track->first + track->n_slices; i++) {
        const int64_t begin_ns = s->begin_ns[i], end_ns = stamp_add(begin_ns, s->dur_ns[i] > 0 ? s->dur_ns[i] : 0);
        struct pftrace_lane *lane = lane_for(w, &l, row, begin_ns, end_ns, mem);
        int64_t *end = lane ? list_add(&lane->open, mem) : NULL;
        if (!end)
            break;
        *end = end_ns;
        put_named(w, TYPE_BEGIN, lane->uuid, s->name[i], s->category[i]);
        put_flows(w, (uint32_t)i);
        put_args(w, chrome_slice_args(w->t, i));
        event_end(w, begin_ns);
        if (end_ns == begin_ns) /* its end must follow at once: for equal times viewers keep the order of the file */
            put_ends(w, lane, begin_ns);
    }
    for (size_t i = 0; i < l.n; i++)
        put_ends(w, &l.at[i], INT64_MAX);
    w->has_no_memory = w->has_no_memory || !mem || arena_failed(mem);
    arena_free(mem);
}

static void put_instants(struct pftrace_writer *w)
{
    for (size_t i = 0; i < w->t->instants.n; i++) {
        const struct chrome_instant *at = &w->t->instants.at[i];
        put_named(w, TYPE_INSTANT, thread_track(w, at->track), at->name, at->category);
        put_args(w, (struct json_span){ at->args_len ? w->t->text + at->args_at : NULL, at->args_len });
        event_end(w, at->ns);
    }
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

/* Rows of the counters, sorted by process, name and series; equal ones stay in the order of the file. */
static uint32_t *counters_order(const struct chrome_trace *t)
{
    const size_t n = t->counters.n;
    uint32_t *order = malloc(n * sizeof *order);
    uint64_t *key = malloc(n * sizeof *key);
    bool sorts = order && key;
    if (sorts)
        order_fill(order, n);
    for (size_t i = 0; sorts && i < n; i++)
        key[i] = t->counters.at[i].series;
    sorts = sorts && order_by_u64(order, n, key);
    for (size_t i = 0; sorts && i < n; i++)
        key[i] = (uint64_t)t->tracks.at[t->counters.at[i].track].process << 32 | t->counters.at[i].name;
    sorts = sorts && order_by_u64(order, n, key);
    free(key);
    if (!sorts) {
        free(order);
        return NULL;
    }
    return order;
}

static void put_counter_track(struct pftrace_writer *w, const struct chrome_counter *c, uint64_t uuid)
{
    struct out *track = &w->level[0], *name = &w->level[1];
    track->n = name->n = 0;
    out_bytes(name, names_text(w->t->names, c->name), names_len(w->t->names, c->name));
    if (c->series != NAME_EMPTY) {
        out_char(name, ' ');
        out_bytes(name, names_text(w->t->names, c->series), names_len(w->t->names, c->series));
    }
    put_number(track, TRACK_UUID, uuid);
    put_number(track, TRACK_PARENT, process_track(w->t->tracks.at[c->track].process));
    put_message(track, TRACK_NAME, name);
    put_bytes(track, TRACK_COUNTER, "", 0);
    put_track(w, track);
}

static void put_counters(struct pftrace_writer *w)
{
    const struct chrome_trace *t = w->t;
    const size_t n = t->counters.n;
    uint32_t *order = n > 0 ? counters_order(t) : NULL;
    uint64_t uuid = 0;
    w->has_no_memory = w->has_no_memory || (n > 0 && !order);
    for (size_t i = 0; order && i < n; i++) {
        const struct chrome_counter *c = &t->counters.at[order[i]],
                                    *before = i > 0 ? &t->counters.at[order[i - 1]] : NULL;
        if (!before || before->name != c->name || before->series != c->series ||
            t->tracks.at[before->track].process != t->tracks.at[c->track].process) {
            uuid = w->next_track++;
            put_counter_track(w, c, uuid);
        }
        event_begin(w, TYPE_COUNTER, uuid);
        put_double(&w->event, EVENT_COUNTER, c->value);
        event_end(w, c->ns);
    }
    free(order);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int64_t earliest(const struct chrome_trace *t)
{
    int64_t ns = 0;
    for (size_t i = 0; i < t->slices.n; i++)
        ns = t->slices.begin_ns[i] < ns ? t->slices.begin_ns[i] : ns;
    for (size_t i = 0; i < t->instants.n; i++)
        ns = t->instants.at[i].ns < ns ? t->instants.at[i].ns : ns;
    for (size_t i = 0; i < t->counters.n; i++)
        ns = t->counters.at[i].ns < ns ? t->counters.at[i].ns : ns;
    return ns;
}

static bool writer_open(struct pftrace_writer *w, struct error *e)
{
    struct out *const parts[] = { &w->batch, &w->packet, &w->event, &w->interned };
    const struct pftrace_flows *f = w->flows;
    bool opens = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        opens = opens && out_open_memory(parts[i], e);
    for (size_t i = 0; i <= ARG_DEPTH; i++)
        opens = opens && out_open_memory(&w->level[i], e);
    w->words = names_new();
    w->flow_by_to = malloc((f->n + 1) * sizeof *w->flow_by_to);
    if (!opens || !w->words || !w->flow_by_to)
        return false;
    order_fill(w->flow_by_to, f->n);
    return order_by_u32(w->flow_by_to, f->n, f->to);
}

static void writer_close(struct pftrace_writer *w)
{
    struct out *const parts[] = { &w->batch, &w->packet, &w->event, &w->interned };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        out_discard(parts[i]);
    for (size_t i = 0; i <= ARG_DEPTH; i++)
        out_discard(&w->level[i]);
    for (size_t i = 0; i < INTERN_KINDS; i++)
        free(w->known[i].bits);
    names_free(w->words);
    free(w->flow_by_to);
    free(w->compressed);
    free(w->scratch);
}

static bool parts_failed(const struct pftrace_writer *w)
{
    bool failed = w->has_no_memory || w->batch.failed_errno || w->packet.failed_errno || w->event.failed_errno ||
                  w->interned.failed_errno || names_failed(w->words);
    for (size_t i = 0; i <= ARG_DEPTH; i++)
        failed = failed || w->level[i].failed_errno;
    return failed;
}

bool pftrace_write(struct out *o, const struct chrome_trace *t, const struct pftrace_flows *flows, struct error *e)
{
    struct pftrace_writer w = { .to = o, .t = t, .flows = flows, .shift_ns = -earliest(t) };
    w.next_track = 1 + t->processes.n + t->tracks.n;
    bool is_done = writer_open(&w, e);
    if (is_done) {
        put_number(&w.packet, PACKET_SEQUENCE, SEQUENCE);
        put_number(&w.packet, PACKET_FLAGS, FLAG_CLEARED);
        packet_end(&w);
        put_processes(&w);
        put_threads(&w);
        for (size_t i = 0; i < t->tracks.n; i++)
            put_slices(&w, i);
        put_instants(&w);
        put_counters(&w);
        batch_flush(&w);
        is_done = !parts_failed(&w);
    }
    writer_close(&w);
    return is_done || error_no_memory(e, t->path);
}
