/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/trace_readers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/gunzip.h"
#include "base/process/progress.h"
#include "load/trace/chrome_events.h"

enum {
    REPAIR_MOST = 1 << 20, /* bytes of an event that is read again by the rule for texts that were not escaped */
    REPAIR_FIRST = 4 << 20,
    PROGRESS_BYTES = 1 << 20,
    EXPECT_BYTES = 8 << 20, /* from which the number of events is estimated */
    TOP_KEYS = 2,           /* keys of the file that are searched for behind damage */
};

static const char phase_key[] = "\"ph\"";

struct chrome_load_reading {
    struct chrome_trace *t;
    struct chrome_events events;
    const char *end;
    uint64_t
        repair_left; /* bytes that repairs may still look at: no more than were read, so that the whole stays linear */
    const char *reported;   /* progress was reported up to here */
    const char *last_phase; /* the position of the last "ph"; NULL: not searched yet */
    const char *
        next_key[TOP_KEYS]; /* where the last search has found each of them; the end: nowhere; NULL: not searched yet */
    bool is_expected;       /* chrome_events_expect() was called */
    bool is_cut;            /* the text ends inside something */
};

static uint64_t offset_of(const struct chrome_load_reading *r, const char *at)
{
    return (uint64_t)(at - r->t->text);
}

static void lose(struct chrome_load_reading *r, enum loss why, const char *at)
{
    losses_add(&r->t->lost, why, 1, r->t->path, offset_of(r, at));
}

static void report_progress(struct chrome_load_reading *r, const char *at)
{
    if (at - r->reported >= PROGRESS_BYTES) {
        progress_work((uint64_t)(at - r->reported));
        r->reported = at;
        if (!r->is_expected && offset_of(r, at) >= EXPECT_BYTES) {
            chrome_events_expect(&r->events, offset_of(r, at), r->t->n_bytes);
            r->is_expected = true;
        }
    }
}

/* Reads the event at `begin` by the tolerant rule, and returns its end. NULL: it cannot be read that way either. */
static const char *event_repair(struct chrome_load_reading *r, const char *begin, struct json_span field[CHROME_FIELDS])
{
    const size_t left = (size_t)(r->end - begin), most = left < REPAIR_MOST ? left : REPAIR_MOST;
    struct json_scan event;
    if (r->repair_left == 0 || !json_enter(&event, begin, begin + most, '{'))
        return NULL;
    event.repairs = true;
    const bool is_read = chrome_event_fields(&event, field);
    const uint64_t used = (uint64_t)(event.at - begin);
    r->repair_left -= used < r->repair_left ? used : r->repair_left;
    const char *after = json_blanks(event.at, r->end);
    if (!is_read || field[CHROME_PH].len != 3 || (after < r->end && *after != ',' && *after != ']'))
        return NULL;
    /* A text without an end reaches into the next event, whose "ph" is a second one then. */
    const char *phase = memmem(begin, used, phase_key, strlen(phase_key));
    const char *second = phase ? phase + 1 : begin;
    return memmem(second, (size_t)(event.at - second), phase_key, strlen(phase_key)) ? NULL : event.at;
}

static char before(const struct chrome_load_reading *r, const char *at)
{
    while (at > r->t->text && json_blanks(at - 1, at) == at)
        at--;
    return at > r->t->text ? at[-1] : 0;
}

static void find_last_phase(struct chrome_load_reading *r, const char *p)
{
    if (r->last_phase)
        return;
    r->last_phase = p;
    while ((p = memmem(p, (size_t)(r->end - p), phase_key, strlen(phase_key))))
        r->last_phase = p++;
}

/* Whether the list of events ends with the ']' at p: behind all events, a key follows, or the end of everything. */
static bool ends_list(const struct chrome_load_reading *r, const char *p)
{
    if (p < r->last_phase)
        return false;
    p = json_blanks(p + 1, r->end);
    if (p == r->end || (*p == '}' && json_blanks(p + 1, r->end) == r->end))
        return true;
    struct json_scan rest = { .at = p, .end = r->end, .is_inside = true };
    struct json_span key;
    return *p == ',' && json_next_key(&rest, &key);
}

/* The next position at which reading can continue: the beginning of an event, or the end of the list. */
static const char *next_event(const struct chrome_load_reading *r, const char *p)
{
    for (; p < r->end; p++) {
        if (*p == '{' && strchr(",[}", before(r, p)) && before(r, p) != 0)
            return p;
        if (*p == ']' && ends_list(r, p))
            return p;
    }
    return p;
}

/* Counts text that cannot be read, from `begin`, where the scan was stuck at `at`, and continues behind it. */
static void skip_damage(struct chrome_load_reading *r, struct json_scan *list, const char *begin, const char *at)
{
    if (at == r->end) {
        lose(r, LOSS_CUT_SHORT, begin);
        r->is_cut = true;
    } else {
        lose(r, LOSS_BAD_TEXT, begin);
    }
    find_last_phase(r, at);
    list->at = next_event(r, at);
    list->is_stuck = false;
    list->is_inside = false; /* no comma is expected here */
}

static void read_event(struct chrome_load_reading *r, struct json_scan *list)
{
    const char *begin = list->at;
    struct json_scan event;
    struct json_span field[CHROME_FIELDS], value;
    if (*begin != '{') {
        if (!json_pass(list, &value)) {
            skip_damage(r, list, begin, list->at > begin ? list->at : begin + 1);
            return;
        }
        r->t->n_events++;
        lose(r, LOSS_BAD_VALUE, begin);
        return;
    }
    json_enter(&event, begin, r->end, '{');
    if (chrome_event_fields(&event, field)) {
        list->at = event.at;
    } else {
        const char *after = event_repair(r, begin, field);
        if (!after) {
            skip_damage(r, list, begin, event.at);
            return;
        }
        losses_add(&r->t->lost, LOSS_REPAIRED, 1, r->t->path, offset_of(r, begin));
        list->at = after;
    }
    r->repair_left += (uint64_t)(list->at - begin);
    chrome_events_add(&r->events, field, offset_of(r, begin));
}

/* The list of events that begins at `at`; returns where it ends. */
static const char *read_events(struct chrome_load_reading *r, const char *at, bool is_all)
{
    struct json_scan list;
    json_enter(&list, at, r->end, '[');
    while (!r->events.failed) {
        if (json_next_element(&list)) {
            read_event(r, &list);
            report_progress(r, list.at);
        } else if (!list.is_stuck) {
            break;
        } else if (list.at == r->end) {
            /* In a bare list, the format allows the last bracket to be missing. */
            if (!is_all && !r->is_cut)
                lose(r, LOSS_CUT_SHORT, list.at);
            r->is_cut = true;
            break;
        } else {
            skip_damage(r, &list, list.at, list.at);
        }
    }
    return list.at;
}

static void add_fact(struct chrome_load_reading *r, struct json_span key, struct json_span value)
{
    struct chrome_fact *new = list_add(&r->t->facts, r->t->mem);
    r->events.failed |= !new;
    if (new)
        *new = (struct chrome_fact){ chrome_events_name(&r->events, key), value };
    if (json_is(key, "baseTimeNanoseconds") && !json_fixed(value, 0, &r->t->base_ns))
        lose(r, LOSS_BAD_TEXT, value.at);
}

/* Behind damage between the keys of the file: the next of the two that matter. What a search has found is kept until
 * `at` is beyond it: each key is searched for once in every part of the text, however often it is damaged. */
static const char *next_key(struct chrome_load_reading *r, const char *at)
{
    static const char *const wanted[TOP_KEYS] = { "\"traceEvents\"", "\"baseTimeNanoseconds\"" };
    const char *first = r->end;
    for (size_t i = 0; i < TOP_KEYS; i++) {
        if (!r->next_key[i] || r->next_key[i] < at) {
            const char *found = memmem(at, (size_t)(r->end - at), wanted[i], strlen(wanted[i]));
            r->next_key[i] = found ? found : r->end;
        }
        first = r->next_key[i] < first ? r->next_key[i] : first;
    }
    return first;
}

/* The keys of a file that is an object. False: it has no events. */
static bool read_object(struct chrome_load_reading *r, const char *at)
{
    struct json_scan file;
    struct json_span key, value;
    bool has_events = false;
    json_enter(&file, at, r->end, '{');
    while (!r->events.failed && !r->is_cut) {
        const char *begin = file.at;
        if (json_next_key(&file, &key)) {
            if (json_is(key, "traceEvents") && file.at < r->end && *file.at == '[') {
                has_events = true;
                file.at = read_events(r, file.at, false);
            } else if (json_pass(&file, &value)) {
                add_fact(r, key, value);
            }
        } else if (!file.is_stuck) {
            break;
        }
        if (file.is_stuck) {
            lose(r, file.at == r->end ? LOSS_CUT_SHORT : LOSS_BAD_TEXT, file.at == r->end ? begin : file.at);
            file = (struct json_scan){ .at = next_key(r, file.at), .end = r->end };
            if (file.at == r->end)
                break;
        }
    }
    return has_events;
}

/* The first character of a text behind blanks and a byte order mark, which some editors write. */
static const char *text_begin(const struct chrome_trace *t)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const size_t n_mark = t->n_bytes >= 3 && memcmp(t->text, mark, 3) == 0 ? 3 : 0;
    return json_blanks(t->text + n_mark, t->text + t->n_bytes);
}

static bool no_events(const struct chrome_trace *t, struct error *e)
{
    return error_set(
        e, FAULT_FORMAT,
        "%s: no trace events; wanted the JSON of Chrome's trace format, an object with traceEvents or an array",
        t->path);
}

static bool read_text(struct chrome_load_reading *r, struct error *e)
{
    struct chrome_trace *t = r->t;
    const char *at = text_begin(t);
    if (at < r->end && *at == '[')
        read_events(r, at, true);
    else if (at == r->end || *at != '{' || !read_object(r, at))
        return no_events(t, e);
    progress_work((uint64_t)(r->end - r->reported));
    return chrome_events_finish(&r->events) || error_no_memory(e, t->path);
}

/* Reads t->text. On failure everything is freed. */
static bool parse(struct chrome_trace *t, struct error *e)
{
    struct chrome_load_reading r = {
        .t = t, .end = t->text + t->n_bytes, .reported = t->text, .repair_left = REPAIR_FIRST
    };
    t->mem = arena_new();
    t->names = names_new();
    const bool has_memory = chrome_events_init(&r.events, t) && chrome_events_know(&r.events) && t->mem && t->names;
    const bool done = has_memory ? read_text(&r, e) : error_no_memory(e, t->path);
    chrome_events_free(&r.events);
    if (!done)
        chrome_trace_free(t);
    return done;
}

bool chrome_parse(struct chrome_trace *t, const char *text, size_t n_bytes, const char *path, struct error *e)
{
    *t = (struct chrome_trace){ .path = path, .text = text, .n_bytes = n_bytes };
    return parse(t, e);
}

/* The descriptor of the text into which a file in Perfetto's format is converted; the file is closed. -1: *e says
 * why. */
static int open_converted(struct chrome_trace *t, int fd, uint64_t most_bytes, struct error *e)
{
    struct pftrace_text converted;
    const bool done = pftrace_read(&converted, fd, t->path, most_bytes, e);
    close(fd);
    if (!done)
        return -1;
    t->n_bytes = converted.bytes;
    losses_merge(&t->lost, &converted.lost);
    return converted.fd;
}

/* The same of an export of Nsight Systems. */
static int open_export(struct chrome_trace *t, struct error *e)
{
    struct db_reader r;
    struct db_trace written;
    struct stat st;
    if (!db_reader_open(&r, t->path, e))
        return -1;
    int fd = nsys_check(&r, e) ? db_trace_unnamed(&written, &r, true, e) : -1;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        t->n_bytes = (size_t)st.st_size;
        losses_add(&t->lost, LOSS_BAD_VALUE, written.n_timeless, t->path, 0);
        losses_add(&t->lost, LOSS_CUT_SHORT, written.is_cut || r.problem[0], t->path, 0);
    }
    db_reader_close(&r);
    return fd;
}

/* The descriptor of the text, which is that of the file or of what it was decompressed or converted into. -1: *e says
 * why. */
static int open_text(struct chrome_trace *t, uint64_t most_bytes, struct error *e)
{
    struct stat st;
    int why;
    if (nsys_is_name(t->path))
        return open_export(t, e);
    int fd = file_open(AT_FDCWD, t->path, &st, &why);
    if (fd < 0) {
        error_set(e, FAULT_IO, "%s: %s", t->path, read_trouble(why));
        return -1;
    }
    if (pftrace_is_name(t->path))
        return open_converted(t, fd, most_bytes, e);
    t->n_bytes = (size_t)st.st_size < most_bytes ? (size_t)st.st_size : most_bytes;
    if (!gunzip_is(fd))
        return fd;
    struct gunzipped decoded;
    const bool done = gunzip(fd, t->path, most_bytes, &decoded, e);
    close(fd);
    if (!done)
        return -1;
    t->n_bytes = decoded.bytes;
    if (decoded.is_damaged)
        losses_add(&t->lost, LOSS_CUT_SHORT, 1, t->path, decoded.damaged_at);
    return decoded.fd;
}

/* Opens and maps the text, or the first so many bytes of it. */
static bool map_text(struct chrome_trace *t, const char *path, uint64_t most_bytes, struct error *e)
{
    *t = (struct chrome_trace){ .path = path, .text = "" };
    const int fd = open_text(t, most_bytes, e);
    if (fd < 0)
        return false;
    const bool is_mapped = t->n_bytes == 0 || memory_map(&t->map, fd, t->n_bytes);
    if (!is_mapped)
        error_set(e, FAULT_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    close(fd);
    if (!is_mapped)
        return false;
    t->text = t->map.at ? t->map.at : "";
    return true;
}

bool chrome_load_first(struct chrome_trace *t, const char *path, uint64_t most_bytes, struct error *e)
{
    return map_text(t, path, most_bytes, e) && parse(t, e);
}

bool chrome_parse_unnamed(struct chrome_trace *t, struct mapped *text, int fd, const char *path, struct error *e)
{
    struct stat st;
    const bool is_mapped = fstat(fd, &st) == 0 && (st.st_size == 0 || memory_map(text, fd, (size_t)st.st_size));
    return is_mapped ? chrome_parse(t, text->at, text->bytes, path, e)
                     : error_set(e, FAULT_IO, "%s: its timeline cannot be mapped: %s; free some memory and try again",
                                 path, strerror(errno));
}

bool chrome_look(const char *path, struct error *e)
{
    enum { LOOK_BYTES = 1 << 20 };
    struct chrome_trace t;
    if (nsys_is_name(path))
        return nsys_look(path, e);
    if (!map_text(&t, path, LOOK_BYTES, e))
        return false;
    const char *at = text_begin(&t), *end = t.text + t.n_bytes;
    const bool is_part = t.n_bytes == LOOK_BYTES, begins = at < end && (*at == '[' || *at == '{');
    bool is_trace = begins || no_events(&t, e);
    if (begins && (!is_part || *at == '[')) { /* the events of a long object may be further behind */
        if (!parse(&t, e))
            return false;
        const size_t n = t.slices.n + t.instants.n + t.counters.n + t.flows.n;
        is_trace = n > 0 || losses_damage(&t.lost) == 0 || no_events(&t, e);
    }
    chrome_trace_free(&t);
    return is_trace;
}

bool chrome_load(struct chrome_trace *t, const char *path, struct error *e)
{
    return chrome_load_first(t, path, UINT64_MAX, e);
}

bool chrome_is_name(const char *path)
{
    static const char *const endings[] = { ".json", ".json.gz" };
    const size_t len = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);
        if (len > n && strcmp(path + len - n, endings[i]) == 0)
            return true;
    }
    return pftrace_is_name(path) || nsys_is_name(path);
}
