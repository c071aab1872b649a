/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/chrome_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"

enum chrome_field chrome_field(struct json_span key)
{
    static const char *const name[CHROME_FIELDS] = {
        "\"ph\"",  "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\"",
        "\"dur\"", "\"args\"", "\"id\"",  "\"bp\"",  "\"s\"",   "\"id2\""
    };
    /* No two have both the same length, with quotes, and the same first letter. */
    static const uint8_t at[7][32] = {
        [3] = { ['s' & 31] = CHROME_SCOPE + 1 },
        [4] = { ['p' & 31] = CHROME_PH + 1,
                ['t' & 31] = CHROME_TS + 1,
                ['i' & 31] = CHROME_ID + 1,
                ['b' & 31] = CHROME_BP + 1 },
        [5] = { ['c' & 31] = CHROME_CAT + 1,
                ['p' & 31] = CHROME_PID + 1,
                ['t' & 31] = CHROME_TID + 1,
                ['d' & 31] = CHROME_DUR + 1,
                ['i' & 31] = CHROME_ID2 + 1 },
        [6] = { ['n' & 31] = CHROME_NAME + 1, ['a' & 31] = CHROME_ARGS + 1 },
    };
    const unsigned field = key.len < 7 ? at[key.len][key.at[1] & 31] : 0;
    if (field == 0)
        return CHROME_FIELDS;
    const char *wanted = name[field - 1];
    const bool is_it = key.len == 3   ? memcmp(key.at, wanted, 3) == 0 /* constant lengths need no call */
                       : key.len == 4 ? memcmp(key.at, wanted, 4) == 0
                       : key.len == 5 ? memcmp(key.at, wanted, 5) == 0
                                      : memcmp(key.at, wanted, 6) == 0;
    return is_it ? field - 1 : CHROME_FIELDS;
}

bool chrome_event_fields(struct json_scan *event, struct json_span field[CHROME_FIELDS])
{
    struct json_span key, value;
    memset(field, 0, CHROME_FIELDS * sizeof *field);
    while (json_next_key(event, &key) && json_pass(event, &value)) {
        const enum chrome_field f = chrome_field(key);
        if (f < CHROME_FIELDS)
            field[f] = value;
    }
    return !event->is_stuck;
}

bool chrome_events_init(struct chrome_events *r, struct chrome_trace *t)
{
    *r = (struct chrome_events){ .t = t, .work = arena_new() };
    return r->work != NULL;
}

bool chrome_events_know(struct chrome_events *r)
{
    r->known_names = arena_take(r->work, NAME_SLOTS, sizeof *r->known_names);
    r->known_tracks = arena_take(r->work, TRACK_SLOTS, sizeof *r->known_tracks);
    return r->known_names && r->known_tracks;
}

void chrome_events_free(struct chrome_events *r)
{
    free(r->scratch);
    arena_free(r->work);
}

static void lose(struct chrome_events *r, enum loss why, uint64_t at)
{
    losses_add(&r->t->lost, why, 1, r->t->path, at);
}

static inline uint64_t raw_hash(uint64_t h, struct json_span raw)
{
    uint64_t word = 0;
    size_t i = 0;
    h ^= raw.len;
    for (; raw.len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, raw.at + i, sizeof word);
        h = (h ^ word) * 0x9E3779B97F4A7C15;
        h ^= h >> 32;
    }
    word = 0;
    if (raw.len > i)
        memcpy(&word, raw.at + i, raw.len - i);
    h = (h ^ word) * 0x9E3779B97F4A7C15;
    return h ^ h >> 32;
}

static inline bool same_raw(struct json_span a, struct json_span b)
{
    uint64_t x, y;
    size_t i = 0;
    if (a.len != b.len)
        return false;
    for (; a.len - i >= sizeof x; i += sizeof x) {
        memcpy(&x, a.at + i, sizeof x);
        memcpy(&y, b.at + i, sizeof y);
        if (x != y)
            return false;
    }
    for (; i < a.len; i++) {
        if (a.at[i] != b.at[i])
            return false;
    }
    return true;
}

static name_id chrome_events_name_of(struct chrome_events *r, struct json_span raw)
{
    struct json_span text;
    if (raw.len == 0)
        return NAME_EMPTY;
    if (json_plain(raw, &text))
        return names_add(r->t->names, text.at, text.len);
    if (raw.len > r->scratch_bytes) {
        char *more = realloc(r->scratch, raw.len * 2);
        if (!more) {
            r->failed = true;
            return NAME_EMPTY;
        }
        r->scratch = more;
        r->scratch_bytes = raw.len * 2;
    }
    return names_add(r->t->names, r->scratch, json_decode(raw, r->scratch));
}

name_id chrome_events_name(struct chrome_events *r, struct json_span raw)
{
    if (raw.len == 0)
        return NAME_EMPTY;
    if (!r->known_names)
        return chrome_events_name_of(r, raw);
    struct known_name *known = &r->known_names[raw_hash(0, raw) % NAME_SLOTS];
    if (known->raw.len == 0 || !same_raw(known->raw, raw))
        *known = (struct known_name){ raw, chrome_events_name_of(r, raw) };
    return known->id;
}

static struct chrome_id chrome_events_id_of(struct chrome_events *r, struct json_span raw)
{
    struct chrome_id id = { .text = chrome_events_name_of(r, raw) };
    id.is_number = raw.len > 0 && json_fixed(raw, 0, &id.number);
    return id;
}

static uint32_t process_of(struct chrome_events *r, struct json_span pid)
{
    const struct chrome_id id = chrome_events_id_of(r, pid);
    const uint32_t at = keys_add(&r->process_keys, id.text, r->work);
    if (at == KEYS_NO_MEMORY) {
        r->failed = true;
        return 0;
    }
    if (at == r->t->processes.n) {
        struct chrome_process *new = list_add(&r->t->processes, r->t->mem);
        if (new)
            new->id = id;
        else
            r->failed = true;
    }
    return at;
}

static uint32_t track_add(struct chrome_events *r, uint32_t process, struct chrome_id id)
{
    const uint32_t at = keys_add(&r->track_keys, (uint64_t)process << 32 | id.text, r->work);
    if (at == KEYS_NO_MEMORY) {
        r->failed = true;
        return 0;
    }
    if (at == r->t->tracks.n) {
        struct chrome_track *new = list_add(&r->t->tracks, r->t->mem);
        if (new)
            *new = (struct chrome_track){ .process = process, .id = id };
        else
            r->failed = true;
    }
    return at;
}

uint32_t chrome_events_track(struct chrome_events *r, struct json_span pid, struct json_span tid)
{
    const uint32_t process = process_of(r, pid);
    return track_add(r, process, chrome_events_id_of(r, tid));
}

static uint32_t chrome_events_track_of(struct chrome_events *r, const struct json_span field[CHROME_FIELDS])
{
    const struct json_span pid = field[CHROME_PID], tid = field[CHROME_TID];
    if (!r->known_tracks)
        return chrome_events_track(r, pid, tid);
    struct known_track *known = &r->known_tracks[raw_hash(raw_hash(1, pid), tid) % TRACK_SLOTS];
    const bool is_it = known->is_set && same_raw(known->pid, pid) && same_raw(known->tid, tid);
    if (!is_it) {
        const uint32_t track = chrome_events_track(r, pid, tid);
        if (r->failed)
            return 0;
        *known = (struct known_track){ pid, tid, track, true };
    }
    return known->track;
}

/* Microseconds with decimals, as a number or a text. */
static bool time_of(struct json_span v, int64_t *ns)
{
    return v.len > 0 && json_fixed(v, 3, ns);
}

static bool args_of(struct chrome_events *r, struct json_span args, uint64_t *at, uint32_t *len)
{
    const bool has_some = args.len > 2 && args.at[0] == '{';
    *at = has_some ? (uint64_t)(args.at - r->t->text) + r->text_at : 0;
    *len = has_some ? (uint32_t)args.len : 0;
    return args.len <= UINT32_MAX;
}

void chrome_events_count(struct chrome_events *r, uint32_t track)
{
    if (r->failed)
        return;
    r->t->tracks.at[track].n_events++;
    r->t->processes.at[r->t->tracks.at[track].process].n_events++;
}

/* Reads what slices, instants and edges have in common. False: the event cannot be used. */
static bool chrome_events_row_of(struct chrome_events *r, const struct json_span field[CHROME_FIELDS],
                                 struct slice_row *row)
{
    if (!time_of(field[CHROME_TS], &row->begin_ns) || !args_of(r, field[CHROME_ARGS], &row->args_at, &row->args_len))
        return false;
    row->track = chrome_events_track_of(r, field);
    row->name = chrome_events_name(r, field[CHROME_NAME]);
    row->category = chrome_events_name(r, field[CHROME_CAT]);
    chrome_events_count(r, row->track);
    return true;
}

void chrome_events_slice(struct chrome_events *r, const struct slice_row *row)
{
    while (r->slices.n <= row->track)
        if (!list_add(&r->slices, r->work)) {
            r->failed = true;
            return;
        }
    struct track_slices *t = &r->slices.at[row->track];
    struct slice_piece *last = t->pieces.n > 0 ? &t->pieces.at[t->pieces.n - 1] : NULL;
    if (!last || last->n == last->cap) {
        const size_t cap = !last ? PIECE_LEAST : last->cap < PIECE_MOST ? last->cap * 2 : PIECE_MOST;
        last = list_add(&t->pieces, r->work);
        if (last)
            *last = (struct slice_piece){ .row = arena_take(r->work, cap, sizeof *last->row), .cap = cap };
        if (!last || !last->row) {
            r->failed = true;
            return;
        }
    }
    t->is_mixed |=
        t->n > 0 && (row->begin_ns < t->begin_ns || (row->begin_ns == t->begin_ns && row->dur_ns > t->dur_ns));
    t->begin_ns = row->begin_ns;
    t->dur_ns = row->dur_ns;
    t->n++;
    last->row[last->n++] = *row;
}

static bool add_slice(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    struct slice_row row = { 0 };
    if ((field[CHROME_DUR].len > 0 && !time_of(field[CHROME_DUR], &row.dur_ns)) ||
        !chrome_events_row_of(r, field, &row))
        return false;
    (void)at;
    row.dur_ns = row.dur_ns < 0 ? 0 : row.dur_ns; /* old writers subtract times of different clocks */
    chrome_events_slice(r, &row);
    return true;
}

static bool add_edge(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    struct slice_row row = { 0 };
    if (!chrome_events_row_of(r, field, &row))
        return false;
    struct edge_row *new = list_add(&r->edges, r->work);
    if (new)
        *new = (struct edge_row){ row, at, row.track, field[CHROME_PH].at[1] == 'E' };
    r->failed |= !new;
    return true;
}

static char letter_of(struct json_span v)
{
    return v.len == 3 && v.at[0] == '"' ? v.at[1] : 0;
}

void chrome_events_instant(struct chrome_events *r, const struct slice_row *row, char scope)
{
    struct chrome_instant *new = list_add(&r->t->instants, r->t->mem);
    if (new)
        *new = (struct chrome_instant){ .ns = row->begin_ns,
                                        .args_at = row->args_at,
                                        .args_len = row->args_len,
                                        .name = row->name,
                                        .category = row->category,
                                        .track = row->track,
                                        .scope = scope };
    r->failed |= !new;
}

static bool add_instant(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    struct slice_row row = { 0 };
    if (!chrome_events_row_of(r, field, &row))
        return false;
    (void)at;
    chrome_events_instant(r, &row, letter_of(field[CHROME_SCOPE]));
    return true;
}

/* The track of the asynchronous events of a category. */
static uint32_t async_track(struct chrome_events *r, uint32_t process, name_id category)
{
    static const char before[] = "async ";
    char title[200];
    const uint32_t known = keys_find(&r->async_keys, (uint64_t)process << 32 | category);
    size_t n = names_len(r->t->names, category);
    if (known != KEYS_NONE)
        return r->async_tracks.at[known];
    n = n < sizeof title - sizeof before ? n : sizeof title - sizeof before;
    memcpy(title, before, sizeof before - 1);
    memcpy(title + sizeof before - 1, names_text(r->t->names, category), n);
    const struct chrome_id id = { .text = names_add(r->t->names, title, sizeof before - 1 + n) };
    uint32_t *track = list_add(&r->async_tracks, r->work);
    const uint32_t at = track ? track_add(r, process, id) : 0;
    if (track && !r->failed)
        *track = at;
    r->failed |= !track || keys_add(&r->async_keys, (uint64_t)process << 32 | category, r->work) == KEYS_NO_MEMORY;
    return at;
}

/* Events of one activity have category and id in common; ends of the old kind also the name, as the first begin has
 * it. */
static bool add_async(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    struct slice_row row = { 0 };
    const char phase = field[CHROME_PH].at[1];
    const struct json_span id = field[CHROME_ID].len ? field[CHROME_ID] : field[CHROME_ID2];
    if (id.len == 0 || !chrome_events_row_of(r, field, &row) || r->failed)
        return false;
    const uint32_t track = async_track(r, r->t->tracks.at[row.track].process, row.category);
    if (r->failed)
        return true;
    row.track = track;
    if (phase == 'n' || phase == 'T' || phase == 'p') {
        chrome_events_instant(r, &row, 0);
        return true;
    }
    const bool is_old = phase == 'S' || phase == 'F';
    const uint32_t of_name = keys_add(&r->async_groups, (uint64_t)track << 32 | (is_old ? row.name : 0), r->work);
    const uint32_t group = keys_add(&r->async_ids, (uint64_t)of_name << 32 | chrome_events_name_of(r, id), r->work);
    struct edge_row *new = of_name != KEYS_NO_MEMORY &&group != KEYS_NO_MEMORY ? list_add(&r->edges, r->work) : NULL;
    if (new)
        *new = (struct edge_row){ row, at, UINT64_C(1) << 32 | group, phase == 'e' || phase == 'F' };
    r->failed |= !new;
    return true;
}

static bool add_counter(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    struct slice_row row = { 0 };
    struct json_scan args;
    struct json_span key, value;
    const struct json_span text = field[CHROME_ARGS];
    if (!text.at || !json_enter(&args, text.at, text.at + text.len, '{') || !chrome_events_row_of(r, field, &row))
        return false;
    (void)at;
    while (json_next_key(&args, &key) && json_pass(&args, &value)) {
        double number;
        if (!json_double(value, &number))
            continue;
        struct chrome_counter *new = list_add(&r->t->counters, r->t->mem);
        if (new)
            *new = (struct chrome_counter){ .ns = row.begin_ns,
                                            .value = number,
                                            .name = row.name,
                                            .series = chrome_events_name(r, key),
                                            .track = row.track };
        r->failed |= !new;
    }
    r->t->n_counter_events++;
    return true;
}

void chrome_events_flow(struct chrome_events *r, const struct chrome_flow *flow)
{
    struct chrome_flow *new = list_add(&r->t->flows, r->t->mem);
    if (new)
        *new = *flow;
    r->failed |= !new;
}

static bool add_flow(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    struct slice_row row = { 0 };
    struct chrome_flow flow = { .phase = field[CHROME_PH].at[1],
                                .binds_enclosing = letter_of(field[CHROME_BP]) == 'e' };
    if (field[CHROME_ID].len == 0 || !chrome_events_row_of(r, field, &row))
        return false;
    (void)at;
    flow.is_text = !json_u64(field[CHROME_ID], &flow.id);
    if (flow.is_text)
        flow.id = chrome_events_name_of(r, field[CHROME_ID]);
    flow.ns = row.begin_ns;
    flow.name = row.name;
    flow.category = row.category;
    flow.track = row.track;
    chrome_events_flow(r, &flow);
    return true;
}

/* Names and places of processes and threads; other metadata is only counted. */
static bool add_metadata(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    static const char *const kinds[] = { "process_name", "process_labels", "process_sort_index", "thread_name",
                                         "thread_sort_index" };
    static const char *const keys[] = { "name", "labels", "sort_index", "name", "sort_index" };
    enum { PROCESS_NAME, PROCESS_LABELS, PROCESS_PLACE, THREAD_NAME, THREAD_PLACE, KINDS };
    unsigned kind = 0;
    (void)at;
    r->t->n_metadata++;
    while (kind < KINDS && !json_is(field[CHROME_NAME], kinds[kind]))
        kind++;
    if (kind == KINDS)
        return true;
    const struct json_span value = json_find(field[CHROME_ARGS], keys[kind]);
    int64_t place = 0;
    const bool is_place = kind == PROCESS_PLACE || kind == THREAD_PLACE;
    if (value.len == 0 || (is_place && !json_fixed(value, 0, &place)))
        return true;
    const name_id name = is_place ? NAME_EMPTY : chrome_events_name_of(r, value);
    if (kind <= PROCESS_PLACE) {
        const uint32_t i = process_of(r, field[CHROME_PID]);
        struct chrome_process *process = r->failed ? NULL : &r->t->processes.at[i];
        if (process && kind == PROCESS_NAME)
            process->name = name;
        else if (process && kind == PROCESS_LABELS)
            process->labels = name;
        else if (process)
            process->has_sort_index = true, process->sort_index = place;
        return true;
    }
    const uint32_t i = chrome_events_track_of(r, field);
    struct chrome_track *track = r->failed ? NULL : &r->t->tracks.at[i];
    if (track && kind == THREAD_NAME)
        track->name = name;
    else if (track)
        track->has_sort_index = true, track->sort_index = place;
    return true;
}

/* Objects, snapshots, contexts: kinds of Chrome's format that profilers do not write. */
static bool add_other(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    (void)field;
    lose(r, LOSS_OTHER_KIND, at);
    return true;
}

void chrome_events_expect(struct chrome_events *r, uint64_t read, uint64_t all)
{
    const double times = 1.02 * (double)all / (double)read;
    struct chrome_trace *t = r->t;
    r->failed |= !list_expect(&r->edges, r->work, (size_t)((double)r->edges.n * times)) ||
                 !list_expect(&t->flows, t->mem, (size_t)((double)t->flows.n * times)) ||
                 !list_expect(&t->instants, t->mem, (size_t)((double)t->instants.n * times)) ||
                 !list_expect(&t->counters, t->mem, (size_t)((double)t->counters.n * times));
}

void chrome_events_add(struct chrome_events *r, const struct json_span field[CHROME_FIELDS], uint64_t at)
{
    static bool (*const add[256])(struct chrome_events *, const struct json_span *, uint64_t) = {
        ['X'] = add_slice,    ['B'] = add_edge,    ['E'] = add_edge,  ['i'] = add_instant, ['I'] = add_instant,
        ['R'] = add_instant,  ['C'] = add_counter, ['s'] = add_flow,  ['t'] = add_flow,    ['f'] = add_flow,
        ['M'] = add_metadata, ['b'] = add_async,   ['n'] = add_async, ['e'] = add_async,   ['S'] = add_async,
        ['T'] = add_async,    ['p'] = add_async,   ['F'] = add_async, ['P'] = add_other,   ['N'] = add_other,
        ['O'] = add_other,    ['D'] = add_other,   ['V'] = add_other, ['v'] = add_other,   ['('] = add_other,
        [')'] = add_other,    ['c'] = add_other,   ['a'] = add_other, ['='] = add_other,
    };
    const unsigned char phase = (unsigned char)letter_of(field[CHROME_PH]);
    r->t->n_events++;
    if (!add[phase] || !add[phase](r, field, at))
        lose(r, LOSS_BAD_VALUE, at);
}

static uint64_t sortable(int64_t ns)
{
    return (uint64_t)ns ^ UINT64_C(1) << 63;
}

/* Joins begins and ends of each group in order of time, then of the file. */
static bool join_edges(struct chrome_events *r)
{
    const size_t n = r->edges.n;
    if (n == 0)
        return true;
    uint32_t *order = arena_take(r->work, n, sizeof *order), *open = arena_take(r->work, n, sizeof *open);
    uint64_t *key = arena_take(r->work, n, sizeof *key);
    if (n >= UINT32_MAX || !order || !open || !key)
        return false;
    order_fill(order, n);
    for (size_t i = 0; i < n; i++)
        key[i] = sortable(r->edges.at[i].row.begin_ns);
    bool is_ordered = order_by_u64(order, n, key);
    for (size_t i = 0; i < n; i++)
        key[i] = r->edges.at[i].group;
    is_ordered = is_ordered && order_by_u64(order, n, key);
    if (!is_ordered)
        return false;
    size_t depth = 0;
    for (size_t i = 0; i <= n; i++) {
        const struct edge_row *e = i < n ? &r->edges.at[order[i]] : NULL;
        while (depth > 0 && (!e || r->edges.at[open[depth - 1]].group != e->group))
            lose(r, LOSS_UNPAIRED, r->edges.at[open[--depth]].at);
        if (!e)
            break;
        if (!e->is_end) {
            open[depth++] = order[i];
            continue;
        }
        if (depth == 0) {
            lose(r, LOSS_UNPAIRED, e->at);
            continue;
        }
        struct slice_row new = r->edges.at[open[--depth]].row;
        new.dur_ns = e->row.begin_ns - new.begin_ns;
        if (new.args_len == 0) {
            new.args_at = e->row.args_at;
            new.args_len = e->row.args_len;
        }
        chrome_events_slice(r, &new);
        r->t->n_pairs++;
    }
    arena_drop(r->work, r->edges.at);
    return true;
}

static void slice_put(const struct chrome_events *r, size_t to, const struct slice_row *row)
{
    const struct chrome_slices *s = &r->t->slices;
    s->begin_ns[to] = stamp_add(row->begin_ns, r->t->base_ns);
    s->dur_ns[to] = row->dur_ns;
    s->args_at[to] = row->args_at;
    s->args_len[to] = row->args_len;
    s->name[to] = row->name;
    s->category[to] = row->category;
    s->track[to] = row->track;
}

/* Copies the slices of a track into one piece, for sorting. */
static bool track_join(struct chrome_events *r, struct track_slices *t)
{
    struct slice_piece all = { .row = arena_take(r->work, t->n, sizeof *all.row), .n = t->n, .cap = t->n };
    struct slice_row *to = all.row;
    if (!to)
        return false;
    for (size_t i = 0; i < t->pieces.n; i++) {
        memcpy(to, t->pieces.at[i].row, t->pieces.at[i].n * sizeof *to);
        to += t->pieces.at[i].n;
        arena_drop(r->work, t->pieces.at[i].row);
    }
    t->pieces.at[0] = all;
    t->pieces.n = 1;
    return true;
}

/* Sorts by begin, then longer slices first, then by the order of the file. Most writers write each track in this
 * order. */
static bool track_sort(struct chrome_events *r, struct track_slices *t, size_t first)
{
    uint32_t *order = arena_take(r->work, t->n, sizeof *order);
    uint64_t *key = arena_take(r->work, t->n, sizeof *key);
    if (!order || !key || !track_join(r, t))
        return false;
    const struct slice_row *row = t->pieces.at[0].row;
    order_fill(order, t->n);
    for (size_t i = 0; i < t->n; i++)
        key[i] = ~(uint64_t)row[i].dur_ns;
    bool is_ordered = order_by_u64(order, t->n, key);
    for (size_t i = 0; i < t->n; i++)
        key[i] = sortable(row[i].begin_ns);
    is_ordered = is_ordered && order_by_u64(order, t->n, key);
    for (size_t i = 0; i < t->n && is_ordered; i++)
        slice_put(r, first + i, &row[order[i]]);
    arena_drop(r->work, row);
    arena_drop(r->work, key);
    arena_drop(r->work, order);
    return is_ordered;
}

/* Copies the slices of a track into columns, and releases each piece. */
static bool track_fill(struct chrome_events *r, struct track_slices *t, size_t first)
{
    if (t->is_mixed)
        return track_sort(r, t, first);
    for (size_t i = 0; i < t->pieces.n; i++) {
        const struct slice_piece *p = &t->pieces.at[i];
        for (size_t k = 0; k < p->n; k++)
            slice_put(r, first + k, &p->row[k]);
        first += p->n;
        arena_drop(r->work, p->row);
    }
    return true;
}

static bool slices_fill(struct chrome_events *r)
{
    size_t n = 0;
    struct chrome_slices *s = &r->t->slices;
    struct arena *mem = r->t->mem;
    for (size_t i = 0; i < r->slices.n; i++)
        n += r->slices.at[i].n;
    *s = (struct chrome_slices){ .n = n,
                                 .begin_ns = arena_take(mem, n, sizeof *s->begin_ns),
                                 .dur_ns = arena_take(mem, n, sizeof *s->dur_ns),
                                 .args_at = arena_take(mem, n, sizeof *s->args_at),
                                 .args_len = arena_take(mem, n, sizeof *s->args_len),
                                 .name = arena_take(mem, n, sizeof *s->name),
                                 .category = arena_take(mem, n, sizeof *s->category),
                                 .track = arena_take(mem, n, sizeof *s->track) };
    if (n >= UINT32_MAX || arena_failed(mem))
        return false;
    for (size_t i = 0, first = 0; i < r->slices.n; first += r->slices.at[i++].n) {
        struct chrome_track *track = &r->t->tracks.at[i];
        track->n_slices = r->slices.at[i].n;
        track->first = track->n_slices > 0 ? first : 0;
        if (!track_fill(r, &r->slices.at[i], first))
            return false;
    }
    return true;
}

bool chrome_events_finish(struct chrome_events *r)
{
    struct chrome_trace *t = r->t;
    if (r->failed || names_failed(t->names) || !join_edges(r) || r->failed || !slices_fill(r))
        return false;
    for (size_t i = 0; i < t->instants.n; i++)
        t->instants.at[i].ns = stamp_add(t->instants.at[i].ns, t->base_ns);
    for (size_t i = 0; i < t->counters.n; i++)
        t->counters.at[i].ns = stamp_add(t->counters.at[i].ns, t->base_ns);
    for (size_t i = 0; i < t->flows.n; i++)
        t->flows.at[i].ns = stamp_add(t->flows.at[i].ns, t->base_ns);
    return true;
}
